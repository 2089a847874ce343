package multiplexer

import (
	"bytes"
	"io"
)

// joined is the longest payload that is copied to go out in one write where a writer takes only one slice at a time.
const joined = 4 << 10

// output writes the parts of a frame group in order.
type output interface {
	gather(head, body, tail []byte) error
}

// newOutput chooses how to write to w: with vectored system calls, part by part into memory, or joined.
func newOutput(w io.Writer) output {
	if v := newVector(w, writev); v != nil {
		enlarge(v.raw)
		return v
	}
	if _, ok := w.(*bytes.Buffer); ok {
		return parts{w}
	}
	return &joiner{parts: parts{w}}
}

// parts makes one write for each part.
type parts struct{ io.Writer }

func (p parts) gather(head, body, tail []byte) error {
	if _, err := p.Write(head); err != nil {
		return err
	}
	if _, err := p.Write(body); err != nil || len(tail) == 0 {
		return err
	}
	_, err := p.Write(tail)
	return err
}

// joiner makes one write of a short message.
type joiner struct {
	parts
	buffer []byte
}

func (j *joiner) gather(head, body, tail []byte) error {
	if len(body) > joined {
		return j.parts.gather(head, body, tail)
	}
	j.buffer = append(append(append(j.buffer[:0], head...), body...), tail...)
	_, err := j.Write(j.buffer)
	return err
}
