package multiplexer

import (
	"bytes"
	"context"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
)

// spent counts what run allocates, over and above anything earlier: allocations and bytes for each of n calls.
func spent(t *testing.T, n int, run func()) (allocations, size float64) {
	t.Helper()
	if raced {
		t.Skip("the race detector allocates")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for range warm {
		run()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		run()
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / float64(n), float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
}

// TestPublishedAllocations counts exactly what the published design allocates for a message written.
func TestPublishedAllocations(t *testing.T) {
	type figure struct{ allocations, size float64 }
	for node, figures := range map[string][3]figure{
		"original":  {{3, 48}, {66, 1056}, {1026, 16416}},
		"optimized": {{3, 72}, {18, 432}, {66, 1584}},
		"hybrid":    {{3, 48}, {18, 432}, {66, 1584}},
		"adaptive":  {},
	} {
		for i, size := range []int{1 << 10, 64 << 10, 1 << 20} {
			var memory bytes.Buffer
			n, data := cell{node: node, threshold: 8 << 10}.make(sink, &memory), payload(size, 0)
			allocations, bytes := spent(t, 50, func() {
				memory.Reset()
				if err := n.WriteMessage(context.Background(), data); err != nil {
					t.Fatal(err)
				}
			})
			if got := (figure{allocations, bytes}); got != figures[i] {
				t.Errorf("%s, %d bytes: %v instead of %v", node, size, got, figures[i])
			}
		}
	}
}

// TestPoolCosts shows what saves memory: at equal chunks the pool costs more than fresh headers.
func TestPoolCosts(t *testing.T) {
	for _, chunk := range []int{1 << 10, 16 << 10} {
		size := func(pooled bool) float64 {
			var memory bytes.Buffer
			n, data := NewFactorial(sink, &memory, chunk, pooled), payload(1<<20, 0)
			_, size := spent(t, 20, func() {
				memory.Reset()
				_ = n.WriteMessage(context.Background(), data)
			})
			return size
		}
		frames := float64(1<<20/chunk + 2)
		if fresh, pooled := size(false), size(true); fresh != 16*frames || pooled != 24*frames {
			t.Errorf("chunk %d: fresh %v, pooled %v bytes for %v frames", chunk, fresh, pooled, frames)
		}
	}
}

// TestAdaptiveReceives counts one allocation a message received, of the message's size.
func TestAdaptiveReceives(t *testing.T) {
	for _, size := range []int{1 << 10, 8 << 10, 64 << 10, 1 << 20} {
		var encoded bytes.Buffer
		if err := NewAdaptive(sink, &encoded).WriteMessage(context.Background(), payload(size, 0)); err != nil {
			t.Fatal(err)
		}
		node := NewAdaptive(&repeated{data: encoded.Bytes()}, io.Discard)
		take := func() {
			node.run(context.Background(), func(m Message, err error) bool {
				if err != nil || len(m.Data) != size {
					t.Fatal(len(m.Data), err)
				}
				return false
			})
		}
		if allocations, bytes := spent(t, 20, take); allocations != 1 || bytes != float64(size) {
			t.Errorf("%d bytes: %v allocations, %v bytes", size, allocations, bytes)
		}
	}
}

// TestAdaptivePipe counts no allocation for a message written to a pipe and one for it received.
func TestAdaptivePipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	node, data := NewAdaptive(r, w), payload(32<<10, 0)
	defer node.Close()
	allocations, size := spent(t, 20, func() {
		if err := node.WriteMessage(context.Background(), data); err != nil {
			t.Fatal(err)
		}
		node.run(context.Background(), func(m Message, err error) bool { return false })
	})
	if allocations != 1 || size != float64(len(data)) {
		t.Errorf("%v allocations, %v bytes", allocations, size)
	}
}
