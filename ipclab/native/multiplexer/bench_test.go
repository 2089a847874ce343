package multiplexer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
)

// warm is how many messages go through a node before it is measured: enough for Adaptive to have tried its chunk sizes.
const warm = 32

// sink receives nothing: the reading end of a node that only writes.
var sink = bytes.NewReader(nil)

// contestant is a cell made ready: what is measured, without the measuring.
type contestant interface {
	// run makes before operations, calls begin, and makes the n operations that are measured.
	run(before, n int, begin func()) error
	// other is what the other end says of the last run, which is over; nil where there is no other end.
	other() (*otherEnd, error)
	// prove says whether what the last operations moved is what they should have moved.
	prove() error
	close()
}

// otherEnd is what is known of one run at its other end.
type otherEnd struct {
	account
	fairness float64 // the slowest stream's time over the mean, 1 when all are served alike
}

// oneEnd is a contestant without another end.
type oneEnd struct{}

func (oneEnd) other() (*otherEnd, error) { return nil, nil }
func (oneEnd) prove() error              { return nil }
func (oneEnd) close()                    {}

// prepare makes a cell ready; where it starts a receiving process, that runs on the CPUs in the list.
func (c cell) prepare(cpus string) (contestant, error) {
	switch c.op {
	case "call":
		return &calling{cell: c}, nil
	case "write":
		return newWriting(c)
	case "receive":
		return newReceiving(c)
	}
	return startPeer(c, cpus)
}

// TestMain runs the receiving process or the heat when this binary was started as one, and refuses a bad cell before
// any work.
func TestMain(m *testing.M) {
	if os.Getenv(peerVariable) != "" {
		os.Exit(servePeer())
	}
	if text, set := os.LookupEnv(heatVariable); set {
		os.Exit(runHeat(text))
	}
	if text, set := os.LookupEnv(cellVariable); set {
		if _, err := parseCell(text); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", cellVariable, err)
			os.Exit(2)
		}
	}
	os.Exit(m.Run())
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
	b.Run(c.name, func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(c.size))
		ready, err := c.prepare(os.Getenv(peerCPUs))
		if err != nil {
			b.Fatal(err)
		}
		defer ready.close()
		err = ready.run(0, b.N, b.ResetTimer)
		b.StopTimer()
		if err != nil {
			b.Fatal(err)
		}
		end, err := ready.other()
		if err = errors.Join(err, ready.prove()); err != nil {
			b.Fatal(err)
		}
		if end != nil {
			b.ReportMetric(float64(end.Allocated)/float64(b.N), "recv-B/op")
			b.ReportMetric(float64(end.Allocations)/float64(b.N), "recv-allocs/op")
		}
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

// made holds messages by how many and how long they are: the cells of a heat send the same ones.
var made = map[[2]int][][]byte{}

// messages gives as many messages as the cell has sinks, which differ in every part.
func (c cell) messages() [][]byte {
	all := made[[2]int{c.sinks, c.size}]
	if all == nil {
		first := payload(c.size, 1)
		for i := range c.sinks {
			all = append(all, bytes.Clone(first))
			vary(all[i], i)
		}
		made[[2]int{c.sinks, c.size}] = all
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
