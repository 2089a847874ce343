package multiplexer

import (
	"bytes"
	"io"
	"slices"
	"testing"
	"testing/iotest"
)

// FuzzDecoder has every node read the same bytes, whole and byte by byte: all must see the same, keep nothing, and hold
// no more than the stated bound while they read.
func FuzzDecoder(f *testing.F) {
	f.Add([]byte{})
	f.Add(then(start(1, 3), data(1, 3), end(1), start(2, 0), data(2, 40), abort(2)))
	f.Fuzz(func(t *testing.T, input []byte) {
		var first []string
		for i, node := range nodes {
			for _, r := range []io.Reader{bytes.NewReader(input), iotest.OneByteReader(bytes.NewReader(input))} {
				watched := &watching{Reader: r, t: t}
				got, table := events(node, watched, tight, func(t *table) { watched.table = t })
				if i == 0 && first == nil {
					first = got
				}
				if !slices.Equal(got, first) {
					t.Fatalf("%s sees %v, %s %v", node, got, nodes[0], first)
				}
				if table.held != 0 || table.ahead != 0 || len(table.open) != 0 {
					t.Fatalf("%s keeps %d + %d bytes, %d streams", node, table.held, table.ahead, len(table.open))
				}
			}
		}
	})
}

// watching checks the bound at every read.
type watching struct {
	io.Reader
	t     *testing.T
	table *table
}

func (w *watching) Read(b []byte) (int, error) {
	held, kept, size := w.table.held, w.table.held+w.table.ahead, 0
	for _, s := range w.table.open {
		size += cap(s.data)
	}
	most := 3*held + tight.Ahead + bufferSize + 16*tight.Streams
	if kept != size || kept > most || held > tight.Held || len(w.table.open) > tight.Streams {
		w.t.Fatalf("holds %d, keeps %d (really %d, at most %d), %d streams", held, kept, size, most, len(w.table.open))
	}
	return w.Reader.Read(b)
}
