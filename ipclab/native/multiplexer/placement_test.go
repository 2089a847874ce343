package multiplexer

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// peerCPUs names the environment variable that says on which CPUs the receiving process runs, as "2,3". Where it is empty
// that process stays where its parent is.
const peerCPUs = "IPCLAB_PEER_CPUS"

// init moves the receiving process and starts its program anew: all its threads then begin on these CPUs, and Go counts
// no others.
func init() {
	list := os.Getenv(peerCPUs)
	if list == "" || os.Getenv(peerVariable) == "" {
		return
	}
	if err := restartOn(list); err != nil {
		fmt.Fprintln(os.Stderr, "receiver:", err)
		os.Exit(1)
	}
}

// restartOn runs this program again on the CPUs of a list; it returns only when it cannot.
func restartOn(list string) error {
	var mask [128]uint64
	for word := range strings.SplitSeq(list, ",") {
		cpu, err := strconv.Atoi(word)
		if err != nil || cpu < 0 || cpu >= 64*len(mask) {
			return fmt.Errorf("%s: %q is no CPU", peerCPUs, word)
		}
		mask[cpu/64] |= 1 << (cpu % 64)
	}
	runtime.LockOSThread()
	_, _, errno := syscall.RawSyscall(
		syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask)))
	if errno != 0 {
		return fmt.Errorf("%s: cannot run on %s: %w", peerCPUs, list, errno)
	}
	if err := os.Unsetenv(peerCPUs); err != nil {
		return err
	}
	return syscall.Exec("/proc/self/exe", os.Args, os.Environ())
}
