package multiplexer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
)

// idle sends nothing: an operation on it is the call, and what is done before it.
type idle struct{ Node }

func (idle) WriteMessage(context.Context, []byte) error { return nil }

// calling calls a node that sends nothing.
type calling struct {
	oneEnd
	cell
}

func (c *calling) run(before, n int, begin func()) error {
	if err := c.call(before); err != nil {
		return err
	}
	begin()
	return c.call(n)
}

func (c *calling) call(n int) error {
	var node Node = idle{}
	data, call := c.messages()[0], calls[c.node]
	for range n {
		if err := call(node, data, c.threshold); err != nil {
			return err
		}
	}
	return nil
}

// writing writes one message an operation into memory that is reset each time and has grown before: one message and
// one buffer that stay in the cache, as published, or as many as the cell has sinks, in turn.
type writing struct {
	oneEnd
	cell
	node     Node
	call     func(Node, []byte, int) error
	messages [][]byte
	sinks    []bytes.Buffer
	memory   bytes.Buffer
	next     int
}

func newWriting(c cell) (*writing, error) {
	w := &writing{cell: c, call: calls[c.node], messages: c.messages(), sinks: make([]bytes.Buffer, c.sinks)}
	w.node = c.make(sink, &w.memory)
	if w.call == nil {
		w.call = direct
	}
	for i := range w.sinks {
		w.sinks[i] = *bytes.NewBuffer(make([]byte, 0, c.encoded()))
		w.sinks[i].Write(w.messages[i]) // its pages are there
	}
	w.memory = w.sinks[0]
	return w, w.write(max(warm, 2*c.sinks))
}

func (w *writing) run(before, n int, begin func()) error {
	if err := w.write(before); err != nil {
		return err
	}
	begin()
	return w.write(n)
}

func (w *writing) write(n int) error {
	node, call, memory, data, many := w.node, w.call, &w.memory, w.messages[0], w.cell.sinks
	for i := w.next; i < w.next+n; i++ {
		if many > 1 {
			data, *memory = w.messages[i%many], w.sinks[i%many]
		}
		memory.Reset()
		if err := call(node, data, w.threshold); err != nil {
			return err
		}
	}
	w.next += n
	return nil
}

// other compares the last message of a turn whole, when its time is over.
func (w *writing) other() (*otherEnd, error) { return nil, w.prove() }

func (w *writing) prove() error {
	for message, err := range NewOriginal(bytes.NewReader(w.memory.Bytes()), io.Discard).ReadMessages(context.Background()) {
		if err != nil || !bytes.Equal(message.Data, w.messages[(w.next-1)%w.cell.sinks]) {
			return fmt.Errorf("what was written is not the message: %v", err)
		}
		return nil
	}
	return errors.New("no message was written")
}

// encoded is how many bytes a message takes at most, with its headers.
func (c cell) encoded() int { return c.size + (3+c.size/smallChunk)*HeaderSize }

// batch is how many bytes of payload are encoded for receiving, where messages are shorter.
const batch = 256 << 10

// receiving receives one message an operation from a stream that the same kind of node encoded.
type receiving struct {
	oneEnd
	cell
	node     Node
	messages [][]byte
	next     int
	chosen   int    // a message of the turn, by its number
	kept     []byte // what it was received as
}

func newReceiving(c cell) (*receiving, error) {
	var encoded bytes.Buffer
	r, writer := &receiving{cell: c, messages: c.messages()}, c.make(sink, &encoded)
	count := c.sinks * max(1, batch/c.size/c.sinks)
	encoded.Grow(count * c.encoded())
	for i := range count {
		if err := writer.WriteMessage(context.Background(), r.messages[i%c.sinks]); err != nil {
			return nil, err
		}
	}
	r.node = c.make(&repeated{data: encoded.Bytes()}, io.Discard)
	return r, r.receive(0, max(warm, c.sinks), func() {}, bytes.Equal)
}

func (r *receiving) run(before, n int, begin func()) error {
	r.chosen = r.next + rand.IntN(before+n)
	return r.receive(before, n, begin, func(a, b []byte) bool {
		return len(a) == len(b) && a[0] == b[0] && a[len(a)-1] == b[len(b)-1]
	})
}

func (r *receiving) receive(before, n int, begin func(), same func(a, b []byte) bool) error {
	if before == 0 {
		begin()
	}
	i, last := r.next, r.next+before+n
	for message, err := range r.node.ReadMessages(context.Background()) {
		if err != nil || !same(message.Data, r.messages[i%r.sinks]) {
			return fmt.Errorf("what was received is not the message: %v", err)
		}
		if i == r.chosen {
			r.kept = message.Data
		}
		i++
		if i == last {
			r.next = i
			return nil
		}
		if i == last-n {
			begin()
		}
	}
	return errors.New("the stream ended")
}

// other compares a message of a turn whole, when its time is over.
func (r *receiving) other() (*otherEnd, error) {
	if at := differs(r.messages[r.chosen%r.sinks], r.kept); at >= 0 {
		return nil, fmt.Errorf("message %d arrived with other bytes at %d", r.chosen, at)
	}
	return nil, nil
}

func (r *receiving) prove() error { return r.receive(0, 1, func() {}, bytes.Equal) }

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
