package multiplexer

import (
	"context"
	"io"
)

// The buffers and chunks of the published nodes, in bytes.
const (
	smallChunk       = 1 << 10
	smallScratch     = 8 << 10
	largeScratch     = 64 << 10
	originalScratch  = 1 << 20
	DefaultThreshold = 4 << 10 // of Hybrid, as published in code; its text says 8 KiB
)

// published is what the three published nodes share.
type published struct {
	sender
	receiver
}

func (n *published) init(r io.Reader, w io.Writer, in *plain) {
	n.sender.limits, n.sender.writer = DefaultLimits, w
	in.reader = r
	n.receiver.in, n.receiver.reader, n.receiver.table = in, r, newTable(DefaultLimits, false)
}

// Close implements Node.
func (n *published) Close() error {
	n.closed.Store(true)
	return closeAll(n.reader, n.writer)
}

// Original sends 1 KiB chunks, each with a fresh header, and announces the length of a message.
type Original struct{ published }

// NewOriginal makes an Original node that reads from r and writes to w.
func NewOriginal(r io.Reader, w io.Writer) *Original {
	n := new(Original)
	n.init(r, w, &plain{scratch: make([]byte, originalScratch), ahead: originalScratch})
	return n
}

// WriteMessage implements Node.
func (n *Original) WriteMessage(ctx context.Context, data []byte) error {
	return n.send(ctx, data, plan{chunk: smallChunk, total: len(data)})
}

// Optimized sends chunks whose size depends on that of the message, with pooled headers, and announces no length.
type Optimized struct{ published }

// NewOptimized makes an Optimized node that reads from r and writes to w.
func NewOptimized(r io.Reader, w io.Writer) *Optimized {
	n := new(Optimized)
	n.init(r, w, &plain{scratch: make([]byte, largeScratch), ahead: largeScratch})
	return n
}

// WriteMessage implements Node.
func (n *Optimized) WriteMessage(ctx context.Context, data []byte) error {
	return n.send(ctx, data, plan{chunk: publishedChunk(len(data)), pooled: true})
}

// Hybrid sends messages up to a threshold as Original does and longer ones as Optimized, and announces no length.
type Hybrid struct {
	published
	threshold int
}

// NewHybrid makes a Hybrid node that reads from r and writes to w, with a threshold in bytes.
func NewHybrid(r io.Reader, w io.Writer, threshold int) *Hybrid {
	n := &Hybrid{threshold: threshold}
	n.init(r, w, &plain{scratch: make([]byte, smallScratch), large: largeScratch, ahead: largeScratch})
	return n
}

// WriteMessage implements Node.
func (n *Hybrid) WriteMessage(ctx context.Context, data []byte) error {
	if len(data) <= n.threshold {
		return n.send(ctx, data, plan{chunk: smallChunk})
	}
	return n.send(ctx, data, plan{chunk: publishedChunk(len(data)), pooled: true})
}

// Factorial sends chunks of a given size with pooled or fresh headers: Original with two of its choices free.
type Factorial struct {
	published
	chunk  int
	pooled bool
}

// NewFactorial makes a Factorial node that reads from r and writes to w, with a chunk size in bytes.
func NewFactorial(r io.Reader, w io.Writer, chunk int, pooled bool) *Factorial {
	n := &Factorial{chunk: chunk, pooled: pooled}
	n.init(r, w, &plain{scratch: make([]byte, originalScratch), ahead: originalScratch})
	return n
}

// WriteMessage implements Node.
func (n *Factorial) WriteMessage(ctx context.Context, data []byte) error {
	return n.send(ctx, data, plan{chunk: n.chunk, total: len(data), pooled: n.pooled})
}

// publishedChunk is the chunk size of Optimized for a message of n bytes.
func publishedChunk(n int) int {
	switch {
	case n <= 4<<10:
		return 1 << 10
	case n <= 64<<10:
		return 4 << 10
	case n <= 1<<20:
		return 16 << 10
	}
	return 64 << 10
}
