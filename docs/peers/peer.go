// A peer over a Unix socket of sequenced packets: go build -o peer peer.go
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

const longest = 65536

func main() {
	path, conn := os.Args[2]+"/socket", net.Conn(nil)
	if os.Args[1] == "serve" {
		listener, _ := net.Listen("unixpacket", path)
		conn, _ = listener.Accept()
		listener.Close() // which removes the path
	}
	for tries := 0; conn == nil && tries < 5000; tries++ {
		time.Sleep(time.Millisecond)
		conn, _ = net.Dial("unixpacket", path)
	}
	in, out, message := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout), make([]byte, 1+longest)
	fmt.Fprintf(out, "ready %d\n", longest)
	for word, number := "", 0; out.Flush() == nil; {
		if _, err := fmt.Fscanf(in, "%s %d\n", &word, &number); err != nil {
			return
		}
		answer := "gone\n"
		if word == "send" {
			io.ReadFull(in, message[1:1+number]) // a byte before it, since the end is a message of no bytes
			if _, err := conn.Write(message[:1+number]); err == nil {
				answer = "sent\n"
			}
		} else {
			conn.SetReadDeadline(time.Now().Add(time.Duration(number) * time.Millisecond))
			if size, err := conn.Read(message); size > 0 {
				answer = fmt.Sprintf("message %d\n%s", size-1, message[1:size])
			} else if os.IsTimeout(err) {
				answer = "late\n"
			}
		}
		out.WriteString(answer)
	}
}
