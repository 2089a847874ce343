package multiplexer

import (
	"bytes"
	"context"
	"fmt"
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
	ops := map[string]func(*testing.B, cell){"write": benchWrite, "receive": benchReceive, "end-to-end": benchEndToEnd,
		"call": benchCall}
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

// messages makes as many messages as the cell has sinks, which differ in every part.
func (c cell) messages() [][]byte {
	all, first := make([][]byte, c.sinks), payload(c.size, 1)
	for i := range all {
		all[i] = bytes.Clone(first)
		vary(all[i], i)
	}
	return all
}

// turned is how many bytes apart the bytes are that vary changes.
const turned = 512

// vary gives message i bytes of its own.
func vary(data []byte, i int) {
	for j := 0; j < len(data); j += turned {
		data[j] = byte(i + j/turned)
	}
}

// direct and directAgain are the same function under two names: the published comparison of identical code, and the
// noise of what checked, which first looks whether the message is short, takes beyond them.
//
//go:noinline
func direct(n Node, data []byte, threshold int) error {
	return n.WriteMessage(context.Background(), data)
}

//go:noinline
func directAgain(n Node, data []byte, threshold int) error {
	return n.WriteMessage(context.Background(), data)
}

//go:noinline
func checked(n Node, data []byte, threshold int) error {
	if len(data) > threshold {
		return ErrTooLong
	}
	return n.WriteMessage(context.Background(), data)
}

// idle sends nothing: an operation on it is the call, and what is done before it.
type idle struct{ Node }

func (idle) WriteMessage(context.Context, []byte) error { return nil }

// benchCall calls a node that sends nothing.
func benchCall(b *testing.B, c cell) {
	var node Node = idle{}
	data, call := payload(c.size, 1), calls[c.node]
	for range b.N {
		if err := call(node, data, c.threshold); err != nil {
			b.Fatal(err)
		}
	}
}

// benchWrite writes one message an operation into memory that is reset each time and has grown before: one message and
// one buffer that stay in the cache, as published, or as many as the cell has sinks, in turn.
func benchWrite(b *testing.B, c cell) {
	var memory bytes.Buffer
	node, call, messages, sinks := c.make(sink, &memory), calls[c.node], c.messages(), make([]bytes.Buffer, c.sinks)
	if call == nil {
		call = direct
	}
	for i := range sinks {
		sinks[i] = *bytes.NewBuffer(make([]byte, 0, c.size+(3+c.size/smallChunk)*HeaderSize))
		sinks[i].Write(messages[i]) // its pages are there
	}
	write := func(n int) {
		data := messages[0]
		for i := range n {
			if c.sinks > 1 {
				data, memory = messages[i%c.sinks], sinks[i%c.sinks]
			}
			memory.Reset()
			if err := call(node, data, c.threshold); err != nil {
				b.Fatal(err)
			}
		}
	}
	memory = sinks[0]
	write(max(warm, 2*c.sinks))
	b.SetBytes(int64(c.size))
	b.ResetTimer()
	write(b.N)
	b.StopTimer()
	for message, err := range NewOriginal(&memory, io.Discard).ReadMessages(context.Background()) {
		if err != nil || !bytes.Equal(message.Data, messages[(b.N-1)%c.sinks]) {
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
	messages, writer := c.messages(), c.make(sink, &encoded)
	for i := range c.sinks * max(1, batch/c.size/c.sinks) {
		if err := writer.WriteMessage(context.Background(), messages[i%c.sinks]); err != nil {
			b.Fatal(err)
		}
	}
	again, next := &repeated{data: encoded.Bytes()}, 0
	node := c.make(again, io.Discard)
	receive := func(n int, same func(a, b []byte) bool) {
		for message, err := range node.ReadMessages(context.Background()) {
			if err != nil || !same(message.Data, messages[next%c.sinks]) {
				b.Fatalf("what was received is not the message: %v", err)
			}
			next++
			if n--; n == 0 {
				return
			}
		}
		b.Fatal("the stream ended")
	}
	receive(max(warm, c.sinks), bytes.Equal)
	b.SetBytes(int64(c.size))
	b.ResetTimer()
	receive(b.N, func(a, b []byte) bool { return len(a) == len(b) && a[0] == b[0] && a[len(a)-1] == b[len(b)-1] })
	b.StopTimer()
	receive(1, bytes.Equal)
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
