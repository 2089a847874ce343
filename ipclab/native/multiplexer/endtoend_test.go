package multiplexer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// part is a stream's share of some messages: the first one's number, and how many.
type part struct{ first, count int }

// streams writes a cell's messages, all in turn, from as many goroutines as the cell has streams; between two writes
// these are blocked. Each has a number that no other one of the launch has, and buffers of its own.
type streams struct {
	node     Node
	messages [][]byte
	base     uint64 // the number of the first message
	next     int
	parts    []chan part     // one for each stream, none where there is one stream
	times    []time.Duration // for each, from the start of a write until it had written its last
	began    time.Time
	written  chan error
}

func newStreams(node Node, c cell) *streams {
	s := &streams{node: node, messages: c.numbered(), base: uint64(rand.Int64()), written: make(chan error)}
	if c.streams == 1 {
		return s
	}
	s.times = make([]time.Duration, c.streams)
	for i := range c.streams {
		parts := make(chan part)
		s.parts = append(s.parts, parts)
		go func() {
			for p := range parts {
				err := guarded(func() error { return s.share(p, i, c.streams) })
				s.times[i] = time.Since(s.began)
				s.written <- err
			}
		}()
	}
	return s
}

// write sends the next n messages.
func (s *streams) write(n int) (err error) {
	all, count := part{s.next, n}, len(s.parts)
	s.next += n
	if count == 0 {
		return s.share(all, 0, 1)
	}
	s.began = time.Now()
	for i, parts := range s.parts {
		first, last := n*i/count, n*(i+1)/count
		parts <- part{all.first + first, last - first}
	}
	for range s.parts {
		err = errors.Join(err, <-s.written)
	}
	return err
}

// share writes a part from one of several streams: it has every so many-th of the buffers.
func (s *streams) share(p part, stream, of int) error {
	own := len(s.messages) / of
	for i := range p.count {
		data := s.messages[stream+(p.first+i)%own*of]
		stamp(data, s.base+uint64(p.first+i))
		if err := s.node.WriteMessage(context.Background(), data); err != nil {
			return err
		}
	}
	return nil
}

// number is that of the next message.
func (s *streams) number() uint64 { return s.base + uint64(s.next) }

// fairness is the slowest stream's time over the mean: 1 when all are served alike, 0 where there is one stream.
func (s *streams) fairness() float64 {
	if len(s.times) == 0 {
		return 0
	}
	var slowest, sum time.Duration
	for _, t := range s.times {
		slowest, sum = max(slowest, t), sum+t
	}
	return float64(slowest) * float64(len(s.times)) / float64(sum)
}

// guarded makes an error of a panic.
func guarded(step func() error) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v", reason)
		}
	}()
	return step()
}

// TestPeers has another process receive from every node over every medium, and compares checksums.
func TestPeers(t *testing.T) {
	for _, medium := range []string{"pipe", "unix"} {
		for _, node := range nodes {
			const format = "arm=main/node=%s/op=end-to-end/medium=%s/size=100000/streams=4/threshold=8192/pool=own/chunk=0/sinks=3"
			name := fmt.Sprintf(format, node, medium)
			c, err := parseCell(name)
			if err != nil {
				t.Fatal(err)
			}
			p, err := startPeer(c, "")
			if err != nil {
				t.Fatal(name, err)
			}
			begun := 0
			if err := p.run(7, 10, func() { begun++ }); err != nil || begun != 1 || p.next != 17 {
				t.Error(name, begun, p.next, err)
			}
			end, err := p.other()
			if err != nil || end.Allocated < 10*uint64(c.size) || end.fairness < 1 {
				t.Error(name, end, err)
			}
			if err := p.prove(); err != nil {
				t.Error(name, err)
			}
			_ = p.command.Process.Kill()
			if err := p.run(0, 100, func() {}); err == nil {
				t.Error(name, "runs on without the other process")
			}
		}
	}
}
