package multiplexer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// frames joins frames; a payload of n bytes follows a DATA header of length n.
func frames(headers ...Header) []byte {
	var out []byte
	for _, h := range headers {
		var b [HeaderSize]byte
		h.put(b[:])
		out = append(out, b[:]...)
		if h.Kind == Data {
			out = append(out, payload(int(h.Length), 0)...)
		}
	}
	return out
}

// tight are limits small enough to reach.
var tight = Limits{Message: 1000, Streams: 4, Held: 1500, Ahead: 2000}

// events reads to the end and tells each message as "id:length", each error of a stream as "id!reason", that of the
// connection as "!reason". The node's table is returned, and shown to see before reading begins.
func events(node string, r io.Reader, limits Limits, see ...func(*table)) (all []string, t *table) {
	n := named(node, r, io.Discard)
	t = tableOf(n)
	t.limits = limits
	for _, see := range see {
		see(t)
	}
	for m, err := range n.ReadMessages(context.Background()) {
		var stream *StreamError
		switch {
		case errors.As(err, &stream):
			all = append(all, of(int(stream.Stream), stream.Err))
		case err != nil:
			all = append(all, fmt.Sprintf("!%v", err))
		default:
			all = append(all, fmt.Sprintf("%d:%d", m.Stream, len(m.Data)))
		}
		if len(all) > 100_000 {
			panic("more events than frames")
		}
	}
	return all, t
}

// tableOf gives a node's table of open streams.
func tableOf(n Node) *table {
	switch n := n.(type) {
	case *Original:
		return &n.receiver.table
	case *Optimized:
		return &n.receiver.table
	case *Hybrid:
		return &n.receiver.table
	case *Adaptive:
		return &n.receiver.table
	}
	panic("no node")
}

// The frames of the tests, by stream and length.
func start(id, n uint32) Header { return Header{Start, id, n} }
func data(id, n uint32) Header  { return Header{Data, id, n} }
func end(id uint32) Header      { return Header{End, id, 0} }
func abort(id uint32) Header    { return Header{Abort, id, 0} }

// then puts a good message of stream 9 behind other frames.
func then(headers ...Header) []byte {
	return frames(append(headers, start(9, 2), data(9, 2), end(9))...)
}

// of is the event of an error of a stream.
func of(id int, err error) string { return fmt.Sprintf("%d!%v", id, err) }

// TestHostile has every node read frames that break the rules: what goes wrong is said of the right stream, once.
func TestHostile(t *testing.T) {
	cut := []string{of(9, ErrTruncated), "!unexpected EOF"}
	lost := []string{of(1, ErrTruncated), "!" + ErrFrame.Error()}
	for name, test := range map[string]struct {
		input []byte
		want  []string
	}{
		"good":      {then(), []string{"9:2"}},
		"no length": {then(start(1, 0), data(1, 700), end(1)), []string{"1:700", "9:2"}},
		"interleaved": {
			then(start(1, 4), start(2, 3), data(1, 2), data(2, 3), data(1, 2), end(2), end(1)),
			[]string{"2:3", "1:4", "9:2"},
		},
		"aborted":   {then(start(1, 5), data(1, 2), abort(1)), []string{of(1, ErrAborted), "9:2"}},
		"duplicate": {then(start(1, 5), start(1, 5), data(1, 5), end(1)), []string{of(1, ErrDuplicate), "9:2"}},
		"not begun": {then(data(1, 5), data(1, 5), end(1)), []string{of(1, ErrUnknown), "9:2"}},
		"end alone": {then(end(1), abort(2)), []string{of(1, ErrUnknown), of(2, ErrUnknown), "9:2"}},
		"long":      {then(start(1, 4<<20), data(1, 5), end(1)), []string{of(1, ErrTooLong), "9:2"}},
		"longest":   {then(start(1, 1<<32-1)), []string{of(1, ErrTooLong), "9:2"}},
		"sent long": {then(start(1, 0), data(1, 600), data(1, 600), end(1)), []string{of(1, ErrTooLong), "9:2"}},
		"more":      {then(start(1, 5), data(1, 6), end(1)), []string{of(1, ErrLength), "9:2"}},
		"less":      {then(start(1, 5), data(1, 4), end(1)), []string{of(1, ErrLength), "9:2"}},
		"held": {
			then(start(1, 0), data(1, 900), start(2, 0), data(2, 900), end(2), end(1)),
			[]string{of(2, ErrHeld), "1:900", "9:2"},
		},
		"many": {
			then(start(1, 0), start(2, 0), start(3, 0), start(4, 0), start(5, 0), end(1)),
			[]string{of(5, ErrStreams), "1:0", "9:2", of(2, ErrTruncated), of(3, ErrTruncated), of(4, ErrTruncated)},
		},
		"unknown kind": {then(start(1, 0), Header{4, 1, 0}), lost},
		"end length":   {then(start(1, 0), Header{End, 1, 1}), lost},
		"cut header":   {then()[:13], cut},
		"cut payload":  {then()[:19], cut},
		"cut stream":   {then()[:20], []string{of(9, ErrTruncated)}},
		"cut skipped":  {frames(data(1, 5))[:11], []string{"!unexpected EOF"}},
		"nothing":      {nil, nil},
	} {
		for _, node := range nodes {
			for _, r := range []io.Reader{bytes.NewReader(test.input), iotest.OneByteReader(bytes.NewReader(test.input))} {
				got, table := events(node, r, tight)
				if !slices.Equal(got, test.want) {
					t.Errorf("%s, %s: %v instead of %v", name, node, got, test.want)
				}
				if table.held != 0 || table.ahead != 0 || len(table.open) != 0 {
					t.Errorf("%s, %s: kept %d + %d bytes, %d streams", name, node, table.held, table.ahead, len(table.open))
				}
			}
		}
	}
}

// TestAnnouncedOnly has a peer announce much and send little: what is held stays within the bound.
func TestAnnouncedOnly(t *testing.T) {
	limits := DefaultLimits
	var input []byte
	for id := range uint32(limits.Streams) {
		input = append(input, frames(Header{Start, id, uint32(limits.Message)})...)
		input = append(input, frames(Header{Data, id, 1})...)
	}
	for _, node := range nodes {
		reader, writer := io.Pipe()
		go func() {
			_, _ = writer.Write(input)
			_, _ = writer.Write(frames(Header{End, 1 << 30, 0})) // an event, so that the reading pauses here
		}()
		n := named(node, reader, io.Discard)
		for _, err := range n.ReadMessages(context.Background()) {
			if !errors.Is(err, ErrUnknown) {
				t.Fatal(err)
			}
			break
		}
		table := tableOf(n)
		most := 3*table.held + limits.Ahead + bufferSize + 16*limits.Streams
		if kept := table.held + table.ahead; table.held != limits.Streams || kept > most {
			t.Errorf("%s: %d bytes kept for %d received, at most %d", node, kept, table.held, most)
		}
		_ = n.Close()
	}
}

// TestLost keeps the error of a connection that failed.
func TestLost(t *testing.T) {
	for _, node := range nodes {
		n := named(node, iotest.ErrReader(errors.New("gone")), failing{})
		for range 2 {
			for _, err := range n.ReadMessages(context.Background()) {
				if err == nil || !strings.Contains(err.Error(), "gone") {
					t.Errorf("%s: read: %v", node, err)
				}
			}
			if err := n.WriteMessage(context.Background(), payload(10, 0)); err != io.ErrShortWrite {
				t.Errorf("%s: write: %v", node, err)
			}
		}
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
