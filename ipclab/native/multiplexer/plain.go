package multiplexer

import "io"

// plain takes frames as the published nodes do: a read for each header, one for each payload into a buffer that is kept,
// and from there a copy to the end of the message.
type plain struct {
	reader  io.Reader
	scratch []byte
	large   int // the scratch buffer becomes this long at the first payload that needs it
	ahead   int // at most this much is reserved for an announced message
}

func (p *plain) header() (Header, error) {
	if _, err := io.ReadFull(p.reader, p.scratch[:HeaderSize]); err != nil {
		return Header{}, err
	}
	return parse(p.scratch), nil
}

func (p *plain) begun(t *table, s *stream) {
	t.reserve(s, min(s.total, p.ahead))
}

func (p *plain) body(t *table, s *stream, n int) error {
	if n > len(p.scratch) && len(p.scratch) < p.large {
		p.scratch = make([]byte, p.large)
	}
	for n > 0 {
		piece := p.scratch[:min(n, len(p.scratch))]
		if _, err := io.ReadFull(p.reader, piece); err != nil {
			return cut(err)
		}
		t.replace(s, append(s.data, piece...))
		n -= len(piece)
	}
	return nil
}

func (p *plain) skip(n uint32) error {
	for n > 0 {
		piece := p.scratch[:min(int64(n), int64(len(p.scratch)))]
		if _, err := io.ReadFull(p.reader, piece); err != nil {
			return cut(err)
		}
		n -= uint32(len(piece))
	}
	return nil
}

func (*plain) whole(*table) (Message, bool) { return Message{}, false }
