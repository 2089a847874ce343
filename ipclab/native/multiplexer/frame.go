package multiplexer

import "encoding/binary"

// HeaderSize is the length of a frame header in bytes.
const HeaderSize = 9

// Kind tells what a frame is.
type Kind byte

// The kinds of frame, numbered as published.
const (
	Start Kind = 1
	End   Kind = 2
	Data  Kind = 3
	Abort Kind = 6
)

// Header is a decoded frame header: Length is the size of the message in START and of the payload in DATA, in bytes.
type Header struct {
	Kind   Kind
	Stream uint32
	Length uint32
}

// put writes the header into the first HeaderSize bytes of b.
func (h Header) put(b []byte) {
	_ = b[HeaderSize-1]
	b[0] = byte(h.Kind)
	binary.BigEndian.PutUint32(b[1:], h.Stream)
	binary.BigEndian.PutUint32(b[5:], h.Length)
}

// parse reads a header from the first HeaderSize bytes of b.
func parse(b []byte) Header {
	_ = b[HeaderSize-1]
	return Header{Kind(b[0]), binary.BigEndian.Uint32(b[1:]), binary.BigEndian.Uint32(b[5:])}
}
