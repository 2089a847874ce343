package multiplexer

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
)

// Adaptive sends header and payload together: a message up to 64 KiB with one write (START, DATA and END), a longer one
// with one write a chunk, whose size is chosen by what each size cost before. START announces the length, so that the
// receiver reserves once and reads in place. Nothing is allocated for a message sent, one slice for a message received.
type Adaptive struct {
	receiver
	limits   Limits
	lock     sync.Mutex
	writer   io.Writer
	out      output
	head     [2 * HeaderSize]byte
	tail     [HeaderSize]byte
	broken   error
	closed   atomic.Bool
	sequence atomic.Uint32
	tuner    *tuner
}

// NewAdaptive makes an Adaptive node that reads from r and writes to w. A pipe or socket to write to is made larger
// where the system allows it.
func NewAdaptive(r io.Reader, w io.Writer) *Adaptive {
	n := &Adaptive{limits: DefaultLimits, writer: w, out: newOutput(w), tuner: newTuner()}
	n.receiver.in, n.receiver.reader, n.receiver.table = newBuffered(r), r, newTable(DefaultLimits, true)
	return n
}

// Close implements Node.
func (n *Adaptive) Close() error {
	n.closed.Store(true)
	return closeAll(n.reader, n.writer)
}

// WriteMessage implements Node.
func (n *Adaptive) WriteMessage(ctx context.Context, data []byte) error {
	if n.closed.Load() {
		return ErrClosed
	}
	if len(data) > n.limits.Message {
		return ErrTooLong
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	default:
	}
	id := n.sequence.Add(1)
	if len(data) > single {
		choice := n.tuner.choose(len(data))
		err := n.chunks(ctx, id, data, choice.chunk())
		n.tuner.report(choice, len(data))
		return err
	}
	return n.chunk(id, data, len(data), true, true)
}

// chunks writes a long message: START with the first chunk, END with the last.
func (n *Adaptive) chunks(ctx context.Context, id uint32, data []byte, size int) error {
	done, total := ctx.Done(), len(data)
	for rest := data; len(rest) > 0; {
		chunk := rest[:min(len(rest), size)]
		rest = rest[len(chunk):]
		if err := n.chunk(id, chunk, total, len(chunk)+len(rest) == total, len(rest) == 0); err != nil {
			return err
		}
		if len(rest) == 0 {
			break
		}
		select {
		case <-done:
			return n.abort(ctx, id)
		default:
		}
	}
	return nil
}

// chunk writes one chunk with the frames that go with it.
func (n *Adaptive) chunk(id uint32, chunk []byte, total int, first, last bool) error {
	n.lock.Lock()
	defer n.lock.Unlock()
	head, tail := n.head[HeaderSize:], n.tail[:0]
	if first {
		head = n.head[:]
		Header{Start, id, uint32(total)}.put(head)
	}
	Header{Data, id, uint32(len(chunk))}.put(n.head[HeaderSize:])
	if last {
		tail = n.tail[:]
		Header{End, id, 0}.put(tail)
	}
	return n.gather(head, chunk, tail)
}

// abort ends a stream whose context is done.
func (n *Adaptive) abort(ctx context.Context, id uint32) error {
	n.lock.Lock()
	defer n.lock.Unlock()
	Header{Abort, id, 0}.put(n.tail[:])
	if err := n.gather(nil, nil, n.tail[:]); err != nil {
		return err
	}
	return ctx.Err()
}

// gather writes under the lock and remembers an error, because the framing is lost with it.
func (n *Adaptive) gather(head, body, tail []byte) error {
	if n.broken == nil {
		n.broken = n.out.gather(head, body, tail)
	}
	return n.broken
}
