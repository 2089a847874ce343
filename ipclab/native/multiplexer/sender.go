package multiplexer

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
)

// headers is the published pool: a []byte goes in and out by value, so each Put boxes a slice header (24 bytes).
var headers = sync.Pool{New: func() any { return make([]byte, HeaderSize) }}

// plan says how a published node sends one message.
type plan struct {
	chunk  int  // bytes of payload in a frame
	total  int  // what START says
	pooled bool // headers from the pool, else a fresh one for each frame
}

// sender writes frames as the published nodes do: two writes a frame under a lock.
type sender struct {
	limits   Limits
	lock     sync.Mutex
	writer   io.Writer
	broken   error
	closed   atomic.Bool
	sequence atomic.Uint32
}

// send writes a message by a plan.
func (s *sender) send(ctx context.Context, data []byte, p plan) error {
	if s.closed.Load() {
		return ErrClosed
	}
	if len(data) > s.limits.Message {
		return ErrTooLong
	}
	id, done := s.sequence.Add(1), ctx.Done()
	if err := s.frame(Header{Start, id, uint32(p.total)}, nil, p.pooled); err != nil {
		return err
	}
	for len(data) > 0 {
		select {
		case <-done:
			return s.abort(ctx, id, p.pooled)
		default:
		}
		chunk := data[:min(len(data), p.chunk)]
		if err := s.frame(Header{Data, id, uint32(len(chunk))}, chunk, p.pooled); err != nil {
			return err
		}
		data = data[len(chunk):]
	}
	select {
	case <-done:
		return s.abort(ctx, id, p.pooled)
	default:
	}
	return s.frame(Header{End, id, 0}, nil, p.pooled)
}

// abort ends a stream whose context is done.
func (s *sender) abort(ctx context.Context, id uint32, pooled bool) error {
	if err := s.frame(Header{Abort, id, 0}, nil, pooled); err != nil {
		return err
	}
	return ctx.Err()
}

// frame writes one frame.
func (s *sender) frame(h Header, payload []byte, pooled bool) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.broken != nil {
		return s.broken
	}
	var header []byte
	if pooled {
		header = headers.Get().([]byte)
		defer headers.Put(header)
	} else {
		header = make([]byte, HeaderSize)
	}
	h.put(header)
	if _, s.broken = s.writer.Write(header); s.broken != nil {
		return s.broken
	}
	if len(payload) > 0 {
		_, s.broken = s.writer.Write(payload)
	}
	return s.broken
}
