package multiplexer

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"testing"
)

// warm is how many messages go through a node before it is measured: enough for Adaptive to have tried its chunk sizes.
const warm = 32

// sink receives nothing: the reading end of a node that only writes.
var sink = bytes.NewReader(nil)

// TestMain runs the receiving process when this binary was started as one, and refuses a bad cell before any work.
func TestMain(m *testing.M) {
	if os.Getenv(peerVariable) != "" {
		os.Exit(servePeer())
	}
	if text, set := os.LookupEnv(cellVariable); set {
		if _, err := parseCell(text); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", cellVariable, err)
			os.Exit(2)
		}
	}
	code := m.Run()
	stopPeer()
	os.Exit(code)
}

// BenchmarkCell measures the cell that IPCLAB_CELL names.
func BenchmarkCell(b *testing.B) {
	text, set := os.LookupEnv(cellVariable)
	if !set {
		b.Skip(cellVariable + " is not set")
	}
	c, err := parseCell(text)
	if err != nil {
		b.Fatal(err)
	}
	ops := map[string]func(*testing.B, cell){"write": benchWrite, "receive": benchReceive, "end-to-end": benchEndToEnd}
	b.Run(c.name, func(b *testing.B) {
		b.ReportAllocs()
		ops[c.op](b, c)
	})
}

// payload is n bytes that differ from message to message.
func payload(n, turn int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i*7 + i>>8 + turn*31)
	}
	return data
}

// direct and directAgain are the same function under two names: the published comparison of identical code.
//
//go:noinline
func direct(n Node, data []byte) error { return n.WriteMessage(context.Background(), data) }

//go:noinline
func directAgain(n Node, data []byte) error { return n.WriteMessage(context.Background(), data) }

// benchWrite writes one message an operation into memory that is reset each time and has grown before.
func benchWrite(b *testing.B, c cell) {
	var memory bytes.Buffer
	data, node, write := payload(c.size, 1), c.make(sink, &memory), direct
	if c.node == "direct-again" {
		write = directAgain
	}
	for range warm {
		memory.Reset()
		if err := write(node, data); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(c.size))
	b.ResetTimer()
	for range b.N {
		memory.Reset()
		if err := write(node, data); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	for message, err := range NewOriginal(&memory, io.Discard).ReadMessages(context.Background()) {
		if err != nil || !bytes.Equal(message.Data, data) {
			b.Fatalf("what was written is not the message: %v", err)
		}
		return
	}
	b.Fatal("no message was written")
}

// batch is how many bytes of payload are encoded for receiving, where messages are shorter.
const batch = 256 << 10

// benchReceive receives one message an operation from a stream that the same kind of node encoded.
func benchReceive(b *testing.B, c cell) {
	var encoded bytes.Buffer
	data, writer := payload(c.size, 1), c.make(sink, &encoded)
	for range max(1, batch/c.size) {
		if err := writer.WriteMessage(context.Background(), data); err != nil {
			b.Fatal(err)
		}
	}
	again := &repeated{data: encoded.Bytes()}
	node := c.make(again, io.Discard)
	receive := func(n int, check func([]byte) bool) {
		for message, err := range node.ReadMessages(context.Background()) {
			if err != nil || !check(message.Data) {
				b.Fatalf("what was received is not the message: %v", err)
			}
			if n--; n == 0 {
				return
			}
		}
		b.Fatal("the stream ended")
	}
	sum := crc32.ChecksumIEEE(data)
	receive(warm, func(got []byte) bool { return crc32.ChecksumIEEE(got) == sum })
	b.SetBytes(int64(c.size))
	b.ResetTimer()
	receive(b.N, func(got []byte) bool { return len(got) == c.size && got[c.size-1] == data[c.size-1] })
	b.StopTimer()
	receive(1, func(got []byte) bool { return bytes.Equal(got, data) })
}

// repeated reads the same bytes again and again.
type repeated struct {
	data []byte
	at   int
}

func (r *repeated) Read(into []byte) (int, error) {
	if r.at == len(r.data) {
		r.at = 0
	}
	n := copy(into, r.data[r.at:])
	r.at += n
	return n, nil
}
