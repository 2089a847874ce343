package multiplexer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

// benchEndToEnd sends one message an operation to another process; the last counts when the other has it.
func benchEndToEnd(b *testing.B, c cell) {
	p, err := peerOf(c)
	if err != nil {
		b.Fatal(err)
	}
	messages, times := c.messages(), make([]time.Duration, c.streams)
	if err := p.order(order{Messages: uint64(b.N)}); err != nil {
		stopPeer()
		b.Fatal(err)
	}
	b.SetBytes(int64(c.size))
	b.ResetTimer()
	err = p.send(messages, b.N, times)
	if err == nil {
		err = p.done()
	}
	b.StopTimer()
	var a account
	if err == nil {
		a, err = p.account()
	}
	if err != nil {
		stopPeer() // the next count starts another
		b.Fatal(err)
	}
	b.ReportMetric(float64(a.Allocated)/float64(b.N), "recv-B/op")
	b.ReportMetric(float64(a.Allocations)/float64(b.N), "recv-allocs/op")
	if c.streams > 1 {
		b.ReportMetric(fairness(times), "fairness")
	}
}

// send writes n messages, all in turn, shared among as many goroutines as there are times; each notes when it had written its last.
func (p *peer) send(messages [][]byte, n int, times []time.Duration) error {
	if len(times) == 1 {
		return p.share(messages, n)
	}
	var group sync.WaitGroup
	errs := make(chan error, len(times))
	began := time.Now()
	for i := range times {
		group.Add(1)
		go func() {
			defer group.Done()
			errs <- p.share(messages, n*(i+1)/len(times)-n*i/len(times))
			times[i] = time.Since(began)
		}()
	}
	group.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *peer) share(messages [][]byte, n int) error {
	for i := range n {
		if err := p.node.WriteMessage(context.Background(), messages[i%len(messages)]); err != nil {
			return err
		}
	}
	return nil
}

// fairness is the slowest stream's time over the mean: 1 when all are served alike.
func fairness(times []time.Duration) float64 {
	var slowest, sum time.Duration
	for _, t := range times {
		slowest, sum = max(slowest, t), sum+t
	}
	return float64(slowest) * float64(len(times)) / float64(sum)
}

// TestPeers has another process receive from every node over every medium, and compares checksums.
func TestPeers(t *testing.T) {
	defer stopPeer()
	for _, medium := range []string{"pipe", "unix"} {
		for _, node := range nodes {
			const format = "arm=main/node=%s/op=end-to-end/medium=%s/size=100000/streams=4/threshold=8192/pool=own/chunk=0/sinks=3"
			name := fmt.Sprintf(format, node, medium)
			c, err := parseCell(name)
			if err != nil {
				t.Fatal(err)
			}
			p, err := peerOf(c)
			if err != nil {
				t.Fatal(name, err)
			}
			times := make([]time.Duration, c.streams)
			if err := errors.Join(p.order(order{Messages: 10}), p.send(c.messages(), 10, times), p.done()); err != nil {
				t.Error(name, err)
			}
			if a, err := p.account(); err != nil || a.Allocated < 10*uint64(c.size) || fairness(times) < 1 {
				t.Error(name, a, fairness(times), err)
			}
		}
	}
}
