package multiplexer

import (
	"testing"
	"time"
)

// TestTuner prefers the chunk size that costs least, and notices when another becomes cheaper.
func TestTuner(t *testing.T) {
	var clock time.Duration
	tuner := newTuner()
	tuner.now = func() time.Duration { return clock }
	cheapest := 2
	send := func(n int) int {
		choice := tuner.choose(n)
		cost := 2
		if choice.rung == cheapest {
			cost = 1
		}
		clock += time.Duration(cost * n)
		tuner.report(choice, n)
		return choice.chunk()
	}
	for range trials * len(ladder) {
		send(1 << 20)
	}
	for i := range 2 * revisit {
		if got := send(1 << 20); got != ladder[2] && (i+trials*len(ladder))%revisit != 0 {
			t.Errorf("chunk %d after the trials", got)
		}
	}
	cheapest = 5
	for range 20 * len(ladder) * revisit {
		send(1 << 20)
	}
	if best := ladder[tuner.classes[3].best]; best != ladder[5] {
		t.Errorf("chunk %d after the costs changed", best)
	}
}

// TestTunerBounds tries no chunk longer than the message's power of two.
func TestTunerBounds(t *testing.T) {
	for _, n := range []int{single + 1, 128 << 10, 128<<10 + 1, 1 << 20, 1<<20 + 1, 64 << 20} {
		tuner := newTuner()
		for range 4 * revisit {
			choice := tuner.choose(n)
			if choice.chunk() >= 2*n || choice.class >= classes {
				t.Errorf("%d bytes: chunk %d, class %d", n, choice.chunk(), choice.class)
			}
			tuner.report(choice, n)
		}
	}
}
