package multiplexer

import "slices"

// spare is how many records of ended streams a table keeps for new ones.
const spare = 64

// stream is a message that was begun and not ended.
type stream struct {
	data   []byte
	total  int // announced length, 0 when not announced
	failed bool
}

// table holds the open streams of a receiver and keeps them within its limits.
type table struct {
	limits  Limits
	open    map[uint32]*stream
	held    int // sum of len(data)
	ahead   int // sum of cap(data) - len(data)
	recycle bool
	free    []*stream
}

func newTable(limits Limits, recycle bool) table {
	return table{limits: limits, open: make(map[uint32]*stream), recycle: recycle}
}

// record gives an empty stream.
func (t *table) record() *stream {
	if last := len(t.free) - 1; last >= 0 {
		s := t.free[last]
		t.free = t.free[:last]
		return s
	}
	return new(stream)
}

// begin opens a stream of an announced length and returns it, or why the stream cannot be.
func (t *table) begin(h Header) (*stream, error) {
	if s := t.open[h.Stream]; s != nil {
		if s.failed {
			return nil, nil
		}
		t.fail(s)
		return nil, ErrDuplicate
	}
	if len(t.open) >= t.limits.Streams {
		return nil, ErrStreams
	}
	s := t.record()
	t.open[h.Stream] = s
	if uint64(h.Length) > uint64(t.limits.Message) {
		s.failed = true
		return nil, ErrTooLong
	}
	s.total = int(h.Length)
	return s, nil
}

// room says whether n more bytes may be added to a stream.
func (t *table) room(s *stream, n uint32) error {
	size := uint64(len(s.data)) + uint64(n)
	switch {
	case s.total > 0 && size > uint64(s.total):
		return ErrLength
	case size > uint64(t.limits.Message):
		return ErrTooLong
	case uint64(t.held)+uint64(n) > uint64(t.limits.Held):
		return ErrHeld
	}
	return nil
}

// refuse marks an id that was never begun, so that it is reported once.
func (t *table) refuse(id uint32) {
	if len(t.open) < t.limits.Streams {
		s := t.record()
		s.failed = true
		t.open[id] = s
	}
}

// replace puts data in the place of a stream's data, and keeps account.
func (t *table) replace(s *stream, data []byte) {
	t.held += len(data) - len(s.data)
	t.ahead += cap(data) - len(data) - cap(s.data) + len(s.data)
	s.data = data
}

// reserve gives a stream room for n bytes in all if that many may be reserved.
func (t *table) reserve(s *stream, n int) bool {
	if extra := n - cap(s.data); extra > 0 && t.ahead+extra <= t.limits.Ahead {
		grown := make([]byte, len(s.data), n)
		copy(grown, s.data)
		t.replace(s, grown)
		return true
	}
	return false
}

// fail drops the data of a stream; its frames are skipped until it ends.
func (t *table) fail(s *stream) {
	t.replace(s, nil)
	s.failed = true
}

// end closes a stream and returns its data.
func (t *table) end(id uint32, s *stream) []byte {
	data := s.data
	t.replace(s, nil)
	delete(t.open, id)
	*s = stream{}
	if t.recycle && len(t.free) < spare {
		t.free = append(t.free, s)
	}
	return data
}

// drop closes every stream and returns the ids of those not reported yet, in order.
func (t *table) drop() []uint32 {
	var ids []uint32
	for id, s := range t.open {
		if !s.failed {
			ids = append(ids, id)
		}
	}
	clear(t.open)
	t.held, t.ahead = 0, 0
	slices.Sort(ids)
	return ids
}

// fits says whether a message of n bytes may come whole.
func (t *table) fits(id uint32, n int) bool {
	return n <= t.limits.Message && t.held+n <= t.limits.Held && len(t.open) < t.limits.Streams && t.open[id] == nil
}
