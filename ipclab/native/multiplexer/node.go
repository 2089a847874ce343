package multiplexer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Message is one message as received. Data belongs to the receiver.
type Message struct {
	Stream uint32
	Data   []byte
}

// Node is one end of a connection. Its methods may be called from several goroutines, ReadMessages from one at a time.
type Node interface {
	// WriteMessage sends data as one message on a stream of its own. Between frames it looks at ctx; when that is done
	// it sends ABORT and returns ctx.Err(). Returns ErrTooLong, ErrClosed, or what the writer returned: after that
	// the framing is lost and every later call returns the same error.
	WriteMessage(ctx context.Context, data []byte) error
	// ReadMessages yields messages in the order of their ends. An error of type *StreamError concerns one stream and
	// the reading goes on; any other is the last value. A clean end of the connection ends the sequence without error.
	ReadMessages(ctx context.Context) iter.Seq2[Message, error]
	// Close closes the reader and the writer where they can be closed; calls that wait on them return.
	Close() error
}

// What goes wrong with one stream, or with the connection.
var (
	ErrAborted   = errors.New("aborted by the sender")
	ErrTooLong   = errors.New("message longer than the limit")
	ErrHeld      = errors.New("too much payload of unfinished messages")
	ErrStreams   = errors.New("too many messages begun")
	ErrDuplicate = errors.New("begun twice")
	ErrUnknown   = errors.New("not begun")
	ErrLength    = errors.New("length is not the announced one")
	ErrTruncated = errors.New("cut off by the end of the connection")
	ErrFrame     = errors.New("not a frame: framing lost")
	ErrClosed    = errors.New("node is closed")
	ErrReading   = errors.New("ReadMessages is running already")
)

// StreamError is an error of one stream.
type StreamError struct {
	Stream uint32
	Err    error
}

// Error says which stream and why.
func (e *StreamError) Error() string { return fmt.Sprintf("stream %d: %v", e.Stream, e.Err) }

// Unwrap gives the reason.
func (e *StreamError) Unwrap() error { return e.Err }

// closeAll closes those of its arguments that can be closed, each once.
func closeAll(r io.Reader, w io.Writer) error {
	var first, second error
	reader, ok := r.(io.Closer)
	if ok {
		first = reader.Close()
	}
	if writer, ok := w.(io.Closer); ok && writer != reader {
		second = writer.Close()
	}
	return errors.Join(first, second)
}
