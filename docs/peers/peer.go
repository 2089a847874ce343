// A peer over a Unix socket of sequenced packets: go build -o peer peer.go
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

const longest = 65536

func join(serves bool, path string) (conn net.Conn, err error) {
	if serves {
		listener, err := net.Listen("unixpacket", path)
		if err != nil {
			return nil, err
		}
		defer listener.Close() // which removes the path
		return listener.Accept()
	}
	for range 5000 {
		if conn, err = net.Dial("unixpacket", path); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return conn, err
}

func main() {
	conn, err := join(os.Args[1] == "serve", os.Args[2]+"/socket")
	if err != nil {
		os.Exit(1)
	}
	in, out, message := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout), make([]byte, 1+longest)
	fmt.Fprintf(out, "ready %d\n", longest)
	for out.Flush() == nil {
		var word string
		var number int
		if _, err := fmt.Fscanf(in, "%s %d\n", &word, &number); err != nil {
			return
		}
		if word == "send" {
			io.ReadFull(in, message[1:1+number]) // a byte before it, since the end is a message of no bytes
			if _, err := conn.Write(message[:1+number]); err != nil {
				fmt.Fprintln(out, "gone")
			} else {
				fmt.Fprintln(out, "sent")
			}
			continue
		}
		conn.SetReadDeadline(time.Now().Add(time.Duration(number) * time.Millisecond))
		if size, err := conn.Read(message); size > 0 {
			fmt.Fprintf(out, "message %d\n", size-1)
			out.Write(message[1:size])
		} else if errors.Is(err, os.ErrDeadlineExceeded) {
			fmt.Fprintln(out, "late")
		} else {
			fmt.Fprintln(out, "gone")
		}
	}
}
