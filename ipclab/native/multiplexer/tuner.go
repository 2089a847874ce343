package multiplexer

import (
	"math/bits"
	"sync"
	"time"
)

const (
	single  = 64 << 10 // up to here a message is one frame
	trials  = 4        // of each chunk size, before one is preferred
	revisit = 64       // every so many messages one size is measured again
	classes = 8
)

// ladder is the chunk sizes to choose from, in bytes. The largest bounds how long one stream keeps the others waiting.
var ladder = [...]int{16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20}

// tuner chooses the chunk size of long messages by what each size cost, separately for each power of two.
type tuner struct {
	lock    sync.Mutex
	now     func() time.Duration
	classes [classes]class
}

// class is what is known about messages of one power of two.
type class struct {
	cost  [len(ladder)]float64 // ns for each byte
	count [len(ladder)]int
	turns int
	best  int
}

// choice is a chunk size, and whether its cost is wanted.
type choice struct {
	class, rung int
	measured    bool
	began       time.Duration
}

func newTuner() *tuner {
	origin := time.Now()
	return &tuner{now: func() time.Duration { return time.Since(origin) }}
}

// chunk is the size chosen, in bytes.
func (c choice) chunk() int { return ladder[c.rung] }

// choose picks a chunk size for a message of n > single bytes.
func (t *tuner) choose(n int) choice {
	t.lock.Lock()
	defer t.lock.Unlock()
	index := min(bits.Len(uint(n-1))-bits.Len(single), classes-1)
	c := &t.classes[index]
	rungs := min(index+4, len(ladder)) // no chunk longer than the message
	turn := c.turns
	c.turns++
	choice := choice{class: index, rung: c.best}
	if turn < trials*rungs {
		choice.rung, choice.measured = turn%rungs, true
	} else if turn%revisit == 0 {
		choice.rung, choice.measured = turn/revisit%rungs, true
	}
	if choice.measured {
		choice.began = t.now()
	}
	return choice
}

// report takes what a measured choice cost for n bytes: the least of the first trials, then a moving mean in which one
// interrupted message weighs little.
func (t *tuner) report(choice choice, n int) {
	if !choice.measured {
		return
	}
	t.lock.Lock()
	defer t.lock.Unlock()
	c := &t.classes[choice.class]
	cost, known := float64(t.now()-choice.began)/float64(n), &c.cost[choice.rung]
	switch count := c.count[choice.rung]; {
	case count == 0:
		*known = cost
	case count < trials:
		*known = min(*known, cost)
	default:
		*known += (min(cost, 2**known) - *known) / 4
	}
	c.count[choice.rung]++
	for rung, count := range c.count {
		if count > 0 && c.cost[rung] < c.cost[c.best] {
			c.best = rung
		}
	}
}
