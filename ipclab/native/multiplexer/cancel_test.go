package multiplexer

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
)

// stopping cancels a context at the given write.
type stopping struct {
	bytes.Buffer
	left   int
	cancel func()
}

func (s *stopping) Write(b []byte) (int, error) {
	if s.left--; s.left == 0 {
		s.cancel()
	}
	return s.Buffer.Write(b)
}

// TestCancelledWrite sends ABORT, which the other end reports for that stream, and goes on with the next message.
func TestCancelledWrite(t *testing.T) {
	for _, node := range nodes {
		ctx, cancel := context.WithCancel(context.Background())
		w := &stopping{left: 4, cancel: cancel}
		n := named(node, sink, w)
		if err := n.WriteMessage(ctx, payload(4<<20, 0)); err != context.Canceled {
			t.Errorf("%s: %v", node, err)
		}
		if err := n.WriteMessage(context.Background(), payload(3, 0)); err != nil {
			t.Errorf("%s: %v", node, err)
		}
		for _, reader := range nodes {
			got, _ := events(reader, bytes.NewReader(w.Bytes()), DefaultLimits)
			if len(got) != 2 || got[0] != "1!"+ErrAborted.Error() || got[1] != "2:3" {
				t.Errorf("%s to %s: %v", node, reader, got)
			}
		}
		sent := w.Len()
		if err := n.WriteMessage(ctx, payload(3, 0)); err != context.Canceled {
			t.Errorf("%s: %v", node, err)
		}
		got, _ := events(node, bytes.NewReader(w.Bytes()[sent:]), DefaultLimits)
		if len(got) > 1 || len(got) == 1 && got[0] != "3!"+ErrAborted.Error() {
			t.Errorf("%s, done before: %v", node, got)
		}
	}
}

// TestWaitingRead ends a read that waits: by its context, and by Close.
func TestWaitingRead(t *testing.T) {
	for medium, connect := range media {
		for _, node := range nodes {
			r, w := connect(t)
			n := named(node, r, io.Discard)
			ctx, cancel := context.WithCancel(context.Background())
			end, want := cancel, context.Canceled
			if medium == "io" { // has no deadlines
				end, want = func() { _ = n.Close() }, io.ErrClosedPipe
			}
			go func() {
				_, _ = w.Write(frames(Header{Start, 1, 3})[:5])
				end()
			}()
			for _, err := range n.ReadMessages(ctx) {
				if !errors.Is(err, want) {
					t.Errorf("%s, %s: %v", medium, node, err)
				}
			}
			cancel()
			_ = w.Close()
			_ = n.Close()
			if err := n.WriteMessage(context.Background(), nil); err != ErrClosed {
				t.Errorf("%s, %s: %v", medium, node, err)
			}
		}
	}
}

// TestPausedRead goes on where the caller stopped, lets only one read at a time, and looks at its context.
func TestPausedRead(t *testing.T) {
	input := frames(Header{Start, 1, 2}, Header{Data, 1, 2}, Header{End, 1, 0}, Header{Start, 2, 0}, Header{End, 2, 0})
	for _, node := range nodes {
		n := named(node, bytes.NewReader(input), io.Discard)
		for m, err := range n.ReadMessages(context.Background()) {
			if err != nil || m.Stream != 1 {
				t.Errorf("%s: %v %v", node, m, err)
			}
			for _, err := range n.ReadMessages(context.Background()) {
				if err != ErrReading {
					t.Errorf("%s: %v", node, err)
				}
			}
			break
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		for _, err := range n.ReadMessages(ctx) {
			if err != context.Canceled {
				t.Errorf("%s: %v", node, err)
			}
		}
		for m, err := range n.ReadMessages(context.Background()) {
			if err != nil || m.Stream != 2 {
				t.Errorf("%s: %v %v", node, m, err)
			}
		}
	}
}

// TestTooLong sends nothing of a message over the limit.
func TestTooLong(t *testing.T) {
	for _, node := range nodes {
		var memory bytes.Buffer
		n, data := named(node, sink, &memory), make([]byte, DefaultLimits.Message+1)
		if err := n.WriteMessage(context.Background(), data); err != ErrTooLong || memory.Len() > 0 {
			t.Errorf("%s: %v, %d bytes", node, err, memory.Len())
		}
	}
}
