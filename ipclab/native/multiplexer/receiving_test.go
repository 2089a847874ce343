package multiplexer

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"os"
	"runtime"
	"syscall"
)

// servePeer is the receiving process: it takes orders until there are no more, and returns the exit code.
func servePeer() int {
	c, err := parseCell(os.Getenv(peerVariable))
	if err == nil {
		err = serve(c)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "receiver:", err)
		return 1
	}
	return 0
}

// serve receives as ordered on standard input and answers on standard output.
func serve(c cell) error {
	reader, err := inherited(c.medium)
	if err != nil {
		return err
	}
	node := c.make(reader, io.Discard)
	for {
		var o order
		if err := binary.Read(os.Stdin, binary.LittleEndian, &o); err != nil {
			return nil // the parent is done
		}
		if err := fill(c, node, o); err != nil {
			return err
		}
	}
}

// inherited opens the connection that the parent passed on.
func inherited(medium string) (io.Reader, error) {
	_ = syscall.SetNonblock(3, true) // so that it waits in Go's poller, as in the parent
	file := os.NewFile(3, medium)
	if medium == "pipe" {
		return file, nil
	}
	return net.FileConn(file)
}

// fill carries out one order: it says when it is ready, when it has the last message, and what that took.
func fill(c cell, node Node, o order) error {
	var before, after runtime.MemStats
	var a account
	ready := func() error {
		runtime.ReadMemStats(&before)
		_, err := os.Stdout.Write([]byte{'r'})
		return err
	}
	left := o.Before + o.Messages
	came := newArrivals(c, o.First, int(left))
	if o.Before == 0 {
		if err := ready(); err != nil {
			return err
		}
	}
	for message, err := range node.ReadMessages(context.Background()) {
		if err != nil {
			return err
		}
		if o.Sums != 0 {
			a.Sum += uint64(crc32.ChecksumIEEE(message.Data))
		} else if err := came.take(int(o.Before+o.Messages-left), message.Data); err != nil {
			return err
		}
		if left--; left == 0 {
			break
		}
		if left == o.Messages {
			if err := ready(); err != nil {
				return err
			}
		}
	}
	if left > 0 {
		return io.ErrUnexpectedEOF
	}
	if _, err := os.Stdout.Write([]byte{'d'}); err != nil {
		return err
	}
	runtime.ReadMemStats(&after)
	compared, err := came.prove()
	if err != nil {
		return err
	}
	a.Compared = compared
	a.Allocations, a.Allocated = after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc
	return binary.Write(os.Stdout, binary.LittleEndian, a)
}
