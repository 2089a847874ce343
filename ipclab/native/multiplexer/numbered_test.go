package multiplexer

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

const (
	headSize  = 16       // of a numbered message: its number, and which buffer it is
	lookEvery = 8        // one of so many is compared whole
	lookShort = 64 << 10 // bytes; of longer ones it is one an order
	lookBytes = 1 << 20  // that are kept of an order at most, unless one message has more
)

// buffers holds numbered messages by how many and how long they are: cells that write into memory have others.
var buffers = map[[2]int][][]byte{}

// numbered gives as many messages as the cell has sinks, at least one for each stream.
func (c cell) numbered() [][]byte {
	count := max(c.sinks, c.streams)
	all := buffers[[2]int{count, c.size}]
	if all == nil {
		for i := range count {
			all = append(all, filled(c.size, i))
		}
		buffers[[2]int{count, c.size}] = all
	}
	return all
}

// filled is buffer i of n bytes, without a number.
func filled(n, i int) []byte {
	data := payload(n, 1)
	vary(data, i)
	if n >= headSize {
		binary.LittleEndian.PutUint64(data[8:], uint64(i))
	}
	return data
}

// stamp writes a number to the beginning of a message; a short one has as much of it as it has room for.
func stamp(data []byte, number uint64) {
	if len(data) >= 8 {
		binary.LittleEndian.PutUint64(data, number)
		return
	}
	for i := range data {
		data[i] = byte(number >> (8 * i))
	}
}

// arrivals checks the messages of one order: the number of each, and some whole when all have come.
type arrivals struct {
	cell
	first  uint64
	count  int
	seen   []bool
	chosen []bool
	kept   [][]byte
}

// newArrivals expects count messages numbered from first.
func newArrivals(c cell, first uint64, count int) *arrivals {
	a := &arrivals{cell: c, first: first, count: count, seen: make([]bool, count), chosen: make([]bool, count)}
	looks := 1
	if c.size <= lookShort {
		looks = min(max(1, count/lookEvery), lookBytes/max(1, c.size))
	}
	for range min(looks, count) {
		a.chosen[rand.IntN(count)] = true // which, nobody else knows
	}
	a.kept = make([][]byte, 0, looks)
	return a
}

// take checks message i of the order; of one stream all come in their order, of several each once.
func (a *arrivals) take(i int, data []byte) error {
	if len(data) != a.size {
		return fmt.Errorf("message %d arrived with %d of %d bytes", i, len(data), a.size)
	}
	n := i
	if len(data) >= 8 {
		n = int(binary.LittleEndian.Uint64(data) - a.first)
	}
	if n < 0 || n >= a.count || a.seen[n] || (a.streams == 1 && n != i) {
		return fmt.Errorf("message %d did not arrive: message %d came in its place", i, n)
	}
	a.seen[n] = true
	if a.chosen[i] {
		a.kept = append(a.kept, data)
	}
	return nil
}

// prove compares what was kept with what was sent, and tells how many that were.
func (a *arrivals) prove() (uint64, error) {
	for _, data := range a.kept {
		if len(data) < headSize {
			continue
		}
		wanted := filled(a.size, int(binary.LittleEndian.Uint64(data[8:])&0xffffffff))
		copy(wanted, data[:8]) // the number, which was checked
		if at := differs(wanted, data); at >= 0 {
			n := binary.LittleEndian.Uint64(data) - a.first
			return 0, fmt.Errorf("message %d arrived with other bytes at %d", n, at)
		}
	}
	return uint64(len(a.kept)), nil
}

// differs is the place of the first byte that is not the same, -1 where all are.
func differs(a, b []byte) int {
	if bytes.Equal(a, b) {
		return -1
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// TestArrivals has messages that are altered, repeated, cut and swapped told as what they are.
func TestArrivals(t *testing.T) {
	const size, count, first = 1000, 64, 1 << 40
	lies := []struct {
		what string
		lie  func(i int, all [][]byte) []byte
	}{
		{"", func(i int, all [][]byte) []byte { return all[i] }},
		{"arrived with other bytes at 700", func(i int, all [][]byte) []byte { all[i][700] ^= 1; return all[i] }},
		{"arrived with other bytes at 999", func(i int, all [][]byte) []byte { all[i][999] ^= 1; return all[i] }},
		{"message 0 arrived with 999 of 1000 bytes", func(i int, all [][]byte) []byte { return all[i][:999] }},
		{"message 1 did not arrive: message 0 came in its place", func(i int, all [][]byte) []byte { return all[0] }},
		{"message 0 did not arrive: message 1 came in its place", func(i int, all [][]byte) []byte { return all[i^1] }},
		{"message 0 did not arrive", func(i int, all [][]byte) []byte { return make([]byte, size) }},
	}
	for _, streams := range []int{1, 4} {
		for _, each := range lies {
			var all [][]byte
			for i := range count {
				all = append(all, filled(size, i%3))
				stamp(all[i], first+uint64(i))
			}
			a := newArrivals(cell{size: size, streams: streams}, first, count)
			var err error
			for i := 0; i < count && err == nil; i++ {
				err = a.take(i, each.lie(i, all))
			}
			compared, wrong := a.prove()
			if err == nil {
				err = wrong
			}
			swapped := strings.HasSuffix(each.what, "message 1 came in its place") && streams > 1
			if said := fmt.Sprint(err); each.what != "" && !swapped && !strings.Contains(said, each.what) {
				t.Errorf("%d streams: %q where %q was expected", streams, said, each.what)
			}
			if each.what == "" && (err != nil || compared < 1 || compared > count/lookEvery) {
				t.Error(streams, compared, err)
			}
		}
	}
}
