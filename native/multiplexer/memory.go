package multiplexer

import (
	"bytes"
	"io"
)

const (
	sweep = 128 << 10 // from here on the direction of copying matters
	piece = 16 << 10  // copied at a time: small enough that the copy goes through the cache, not around it
)

// memory writes to a bytes.Buffer with one copy. A long payload is copied straight into the buffer's free space, forward
// and backward in turn: when a buffer is filled again and again, what was touched last is still in the cache, and the
// next copy begins there.
type memory struct {
	parts
	buffer           *bytes.Buffer
	head, body, tail []byte
	backward         bool
}

func newMemory(b *bytes.Buffer) *memory { return &memory{parts: parts{b}, buffer: b} }

func (m *memory) gather(head, body, tail []byte) error {
	if len(body) < sweep {
		return m.parts.gather(head, body, tail)
	}
	m.head, m.body, m.tail = head, body, tail
	m.buffer.Grow(len(head) + len(body) + len(tail) + bytes.MinRead)
	_, err := m.buffer.ReadFrom(m)
	m.head, m.body, m.tail = nil, nil, nil
	return err
}

// Read fills the buffer's free space, which gather made large enough.
func (m *memory) Read(space []byte) (int, error) {
	from := copy(space, m.head)
	to := from + len(m.body)
	sweepInto(space[from:to], m.body, m.backward)
	m.backward = !m.backward
	return to + copy(space[to:], m.tail), io.EOF
}

// sweepInto copies piece by piece, from the end if backward.
func sweepInto(to, from []byte, backward bool) {
	pieces := (len(from) + piece - 1) / piece
	for i := range pieces {
		if backward {
			i = pieces - 1 - i
		}
		copy(to[i*piece:], from[i*piece:min(len(from), (i+1)*piece)])
	}
}
