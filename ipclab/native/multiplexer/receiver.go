package multiplexer

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync/atomic"
	"time"
)

// intake takes frames from a connection.
type intake interface {
	// header reads the next header; io.EOF only at the end of a frame.
	header() (Header, error)
	// body appends n bytes of payload to a stream.
	body(t *table, s *stream, n int) error
	// begun is told of a stream that was opened.
	begun(t *table, s *stream)
	// skip reads n bytes of payload and drops them.
	skip(n uint32) error
	// whole takes a message of START, one DATA and END if it is next and all there; streams need not know of it.
	whole(t *table) (Message, bool)
}

// receiver puts messages together from the frames of one connection.
type receiver struct {
	in      intake
	table   table
	reader  io.Reader
	reading atomic.Bool
	broken  error
}

// ReadMessages implements Node.
func (r *receiver) ReadMessages(ctx context.Context) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		if !r.reading.CompareAndSwap(false, true) {
			yield(Message{}, ErrReading)
			return
		}
		defer r.reading.Store(false)
		defer interrupt(ctx, r.reader)()
		r.run(ctx, yield)
	}
}

// run yields until the connection or the caller ends it.
func (r *receiver) run(ctx context.Context, yield func(Message, error) bool) {
	done := ctx.Done()
	for r.broken == nil {
		select {
		case <-done:
			yield(Message{}, ctx.Err())
			return
		default:
		}
		message, ok := r.in.whole(&r.table)
		var err error
		if !ok {
			message, ok, err = r.frame()
		}
		if err != nil && !errors.As(err, new(*StreamError)) {
			r.finish(ctx, err, yield)
			return
		}
		if (ok || err != nil) && !yield(message, err) {
			return
		}
	}
	if r.broken != io.EOF {
		yield(Message{}, r.broken)
	}
}

// finish reports the streams that a lost connection leaves behind, and the loss unless it is a clean end.
func (r *receiver) finish(ctx context.Context, err error, yield func(Message, error) bool) {
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	r.broken = err
	for _, id := range r.table.drop() {
		if !yield(Message{Stream: id}, &StreamError{id, ErrTruncated}) {
			return
		}
	}
	if err != io.EOF {
		yield(Message{}, err)
	}
}

// frame takes one frame; true when it completed a message.
func (r *receiver) frame() (Message, bool, error) {
	h, err := r.in.header()
	if err != nil {
		return Message{}, false, err
	}
	message := Message{Stream: h.Stream}
	switch h.Kind {
	case Start:
		s, err := r.table.begin(h)
		if s != nil {
			r.in.begun(&r.table, s)
		}
		return message, false, r.blame(h, err)
	case Data:
		return message, false, r.data(h)
	case End, Abort:
		if h.Length != 0 {
			return message, false, ErrFrame
		}
		return r.end(h)
	}
	return message, false, ErrFrame
}

// data takes the payload of a DATA frame, or skips it when its stream cannot have it.
func (r *receiver) data(h Header) error {
	s := r.table.open[h.Stream]
	var why error
	switch {
	case s == nil:
		r.table.refuse(h.Stream)
		why = ErrUnknown
	case !s.failed:
		if why = r.table.room(s, h.Length); why == nil {
			return r.in.body(&r.table, s, int(h.Length))
		}
		r.table.fail(s)
	}
	if err := r.in.skip(h.Length); err != nil {
		return err
	}
	return r.blame(h, why)
}

// end takes END or ABORT.
func (r *receiver) end(h Header) (Message, bool, error) {
	message := Message{Stream: h.Stream}
	s := r.table.open[h.Stream]
	if s == nil {
		return message, false, r.blame(h, ErrUnknown)
	}
	failed, total := s.failed, s.total
	data := r.table.end(h.Stream, s)
	switch {
	case failed:
		return message, false, nil
	case h.Kind == Abort:
		return message, false, r.blame(h, ErrAborted)
	case total > 0 && len(data) != total:
		return message, false, r.blame(h, ErrLength)
	}
	message.Data = data
	return message, true, nil
}

// blame makes an error one of the stream; nil stays nil.
func (*receiver) blame(h Header, err error) error {
	if err == nil {
		return nil
	}
	return &StreamError{h.Stream, err}
}

// interrupt makes a read that waits return when ctx is done, where the reader has deadlines; call what it returns after.
func interrupt(ctx context.Context, reader io.Reader) func() {
	timed, ok := reader.(interface{ SetReadDeadline(time.Time) error })
	if !ok || ctx.Done() == nil {
		return func() {}
	}
	set := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = timed.SetReadDeadline(time.Unix(1, 0))
		close(set)
	})
	return func() {
		if !stop() {
			<-set
			_ = timed.SetReadDeadline(time.Time{})
		}
	}
}

// cut turns the end of the input inside a frame into an error.
func cut(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
