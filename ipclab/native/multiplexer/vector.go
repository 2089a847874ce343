package multiplexer

import (
	"io"
	"syscall"
	"unsafe"
)

// vector reads or writes several byte slices with one system call, on a file or socket of Linux.
type vector struct {
	raw   syscall.RawConn
	trap  uintptr // readv or writev
	call  func(fd uintptr) bool
	parts [3]syscall.Iovec
	count int
	moved int
	errno syscall.Errno
}

// newVector gives nil when x is no open file or socket.
func newVector(x any, trap uintptr) *vector {
	conn, ok := x.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil
	}
	v := &vector{raw: raw, trap: trap}
	v.call = v.once // made here, so that a transfer allocates nothing
	return v
}

// once tries the call; false when the descriptor has to be waited for.
func (v *vector) once(fd uintptr) bool {
	for {
		n, _, errno := syscall.Syscall(v.trap, fd, uintptr(unsafe.Pointer(&v.parts)), uintptr(v.count))
		if errno == syscall.EINTR {
			continue
		}
		v.moved, v.errno = int(n), errno
		return errno != syscall.EAGAIN
	}
}

// add appends a slice to the parts of the next call.
func (v *vector) add(b []byte) {
	if len(b) > 0 {
		v.parts[v.count].Base = unsafe.SliceData(b)
		v.parts[v.count].SetLen(len(b))
		v.count++
	}
}

// clear forgets the parts.
func (v *vector) clear() {
	v.parts = [3]syscall.Iovec{}
	v.count = 0
}

// transfer makes one call by way of the connection's Read or Write and returns the bytes moved.
func (v *vector) transfer(by func(func(uintptr) bool) error) (int, error) {
	if err := by(v.call); err != nil {
		return 0, err
	}
	if v.errno != 0 {
		return 0, v.errno
	}
	return v.moved, nil
}

// read fills first and then what it can of second; io.EOF at the end.
func (v *vector) read(first, second []byte) (int, error) {
	v.add(first)
	v.add(second)
	defer v.clear()
	n, err := v.transfer(v.raw.Read)
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

// gather writes all of its arguments.
func (v *vector) gather(head, body, tail []byte) error {
	v.add(head)
	v.add(body)
	v.add(tail)
	defer v.clear()
	for v.count > 0 {
		n, err := v.transfer(v.raw.Write)
		if err != nil {
			return err
		}
		v.advance(n)
	}
	return nil
}

// advance drops the first n bytes of the parts.
func (v *vector) advance(n int) {
	for n > 0 {
		part := &v.parts[0]
		if size := int(part.Len); n < size {
			part.Base = (*byte)(unsafe.Add(unsafe.Pointer(part.Base), n))
			part.SetLen(size - n)
			return
		} else {
			n -= size
		}
		copy(v.parts[:], v.parts[1:])
		v.count--
		v.parts[v.count] = syscall.Iovec{}
	}
}
