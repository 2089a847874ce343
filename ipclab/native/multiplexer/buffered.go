package multiplexer

import "io"

const (
	bufferSize = 64 << 10
	glance     = 3 * HeaderSize // END of one message, START and first DATA of the next
	inPlace    = 4 << 10        // payload from here on is read to where it stays
	bulky      = 16 << 10       // after a frame this long, only a glance is read ahead
	step       = 4 << 20        // reserved at most for announced payload of one message
)

// buffered takes frames with few reads: small ones through a buffer, large payload straight to where it stays.
type buffered struct {
	reader io.Reader
	vector *vector // nil when reader is no file or socket
	buffer []byte
	r, w   int // what is read ahead: buffer[r:w]
	bulk   bool
}

func newBuffered(r io.Reader) *buffered {
	return &buffered{reader: r, vector: newVector(r, readv), buffer: make([]byte, bufferSize)}
}

// read reads into place and, where one system call can, what follows into the empty buffer; it returns how much of
// place is filled.
func (b *buffered) read(place []byte) (int, error) {
	if b.vector == nil {
		return some(b.reader, place)
	}
	n, err := b.vector.read(place, b.buffer[:glance])
	b.r, b.w = 0, max(n-len(place), 0)
	return min(n, len(place)), err
}

// fill reads more into the buffer, at most limit bytes.
func (b *buffered) fill(limit int) error {
	copy(b.buffer, b.buffer[b.r:b.w])
	b.r, b.w = 0, b.w-b.r
	n, err := some(b.reader, b.buffer[b.w:limit])
	b.w += n
	return err
}

func (b *buffered) header() (Header, error) {
	limit := len(b.buffer)
	if b.bulk {
		limit = glance
	}
	for b.w-b.r < HeaderSize {
		if err := b.fill(limit); err != nil {
			if b.r < b.w {
				err = cut(err)
			}
			return Header{}, err
		}
	}
	h := parse(b.buffer[b.r:])
	b.r += HeaderSize
	return h, nil
}

func (*buffered) begun(*table, *stream) {}

func (b *buffered) body(t *table, s *stream, n int) error {
	b.bulk = n >= bulky
	for n > 0 {
		if len(s.data) == cap(s.data) {
			b.grow(t, s, n)
		}
		place := s.data[len(s.data):min(cap(s.data), len(s.data)+n)]
		got, err := b.take(place)
		t.replace(s, s.data[:len(s.data)+got])
		if err != nil {
			return cut(err)
		}
		n -= got
	}
	return nil
}

// grow makes room in a full stream for n bytes: for the announced message where the limits allow, else for twice what
// has come.
func (*buffered) grow(t *table, s *stream, n int) {
	size := len(s.data)
	if s.total > 0 && t.reserve(s, min(s.total, size+step)) {
		return
	}
	if t.reserve(s, size+max(size, min(n, step))) {
		return
	}
	grown := make([]byte, size, size+max(size, min(n, bufferSize)))
	copy(grown, s.data)
	t.replace(s, grown)
}

// take moves payload from the buffer or the reader to its place.
func (b *buffered) take(place []byte) (int, error) {
	if b.r == b.w {
		if len(place) >= inPlace {
			return b.read(place)
		}
		if err := b.fill(len(b.buffer)); err != nil {
			return 0, err
		}
	}
	n := copy(place, b.buffer[b.r:b.w])
	b.r += n
	return n, nil
}

func (b *buffered) skip(n uint32) error {
	for n > 0 {
		if b.r == b.w {
			if err := b.fill(len(b.buffer)); err != nil {
				return cut(err)
			}
		}
		part := min(int64(n), int64(b.w-b.r))
		b.r += int(part)
		n -= uint32(part)
	}
	return nil
}

func (b *buffered) whole(t *table) (Message, bool) {
	ready := b.buffer[b.r:b.w]
	if len(ready) < glance {
		return Message{}, false
	}
	start, data := parse(ready), parse(ready[HeaderSize:])
	size := int(start.Length)
	if start.Kind != Start || data != (Header{Data, start.Stream, start.Length}) || size > len(ready)-glance {
		return Message{}, false
	}
	if parse(ready[2*HeaderSize+size:]) != (Header{End, start.Stream, 0}) || !t.fits(start.Stream, size) {
		return Message{}, false
	}
	b.r += glance + size
	return Message{start.Stream, append([]byte(nil), ready[2*HeaderSize:2*HeaderSize+size]...)}, true
}

// some reads at least one byte, or returns an error.
func some(r io.Reader, into []byte) (int, error) {
	for range 100 {
		if n, err := r.Read(into); n > 0 || err != nil {
			if n > 0 {
				err = nil // it will come again
			}
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}
