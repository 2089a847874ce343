package multiplexer

import "syscall"

const (
	readv       = syscall.SYS_READV
	writev      = syscall.SYS_WRITEV
	setPipeSize = 1031    // F_SETPIPE_SZ of fcntl(2)
	capacity    = 1 << 20 // bytes a pipe or socket is asked to hold
)

// enlarge asks for a larger pipe or socket buffer. What the system refuses is left as it is: only speed depends on it.
func enlarge(raw syscall.RawConn) {
	_ = raw.Control(func(fd uintptr) {
		if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, setPipeSize, capacity); errno != 0 {
			_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_SNDBUF, capacity)
		}
	})
}
