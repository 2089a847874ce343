package multiplexer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

const (
	// heatVariable names the environment variable with the heat that TestMain runs, in JSON.
	heatVariable = "IPCLAB_HEAT"
	leastLong    = 3  // operations of a turn that are longer than it each
	untimed      = 10 // of so many operations in a turn the first one is not timed, and at least leastUntimed
	leastUntimed = 2
	rounds       = 4       // that each stream sends in a turn at least
	leastWarm    = 2       // turns of each cell before those that are printed
	leastHeap    = 4 << 20 // bytes; Go's collector does not start below
	collected    = 10      // percent of what is in use: so much garbage is collected, and Go gives no less back
)

// heat is several cells that are measured in turns, one at a time, in an order that follows from the seed. The others
// are parked: their goroutines and processes wait for orders. Times are in ns.
type heat struct {
	Cells    []entrant
	Turns    int           // of each cell, which are printed
	Warm     time.Duration // for how long turns are taken before, which are not; at least two
	Turn     time.Duration // how long a turn is to be
	Least    int           // operations of a turn
	Patience time.Duration // for making a cell ready, and for each turn of it
	Seed     uint64
}

// entrant is a cell of a heat; where it starts a receiving process, that runs on the CPUs in the list.
type entrant struct{ Cell, CPUs string }

// line is printed for a turn of a cell, which is told by its number in the heat, or for its failure. The receiver's
// figures are those of the other end, where there is one.
type line struct {
	Kind                string   `json:"kind"`
	Cell                int      `json:"cell"`
	Turn                int      `json:"turn"`
	Operations          int      `json:"operations"`
	Ns                  int64    `json:"ns"`
	Allocations         uint64   `json:"allocations"`
	Allocated           uint64   `json:"bytes_allocated"`
	ReceiverAllocations *uint64  `json:"receiver_allocations,omitempty"`
	ReceiverAllocated   *uint64  `json:"receiver_bytes_allocated,omitempty"`
	Fairness            *float64 `json:"fairness,omitempty"`
	Compared            *uint64  `json:"compared,omitempty"` // messages that were looked at whole
}

// failure is printed instead for a cell that takes no further part.
type failure struct {
	Kind string `json:"kind"`
	Cell int    `json:"cell"`
	Why  string `json:"why"`
}

// racer is a cell on its way through a heat.
type racer struct {
	contestant
	cell
	number int
	each   float64 // ns of one operation, in the fastest turn before those that are printed
	out    bool
}

// runHeat prints a line of JSON for each turn, and for each cell that failed, and returns the exit code.
func runHeat(text string) int {
	var h heat
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&h); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", heatVariable, err)
		return 2
	}
	if err := h.run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// run measures the heat; only what cannot be printed is an error of it.
func (h *heat) run(out io.Writer) error {
	printed := json.NewEncoder(out)
	var racers []*racer
	var wrong error
	defer h.settle()()
	for number, each := range h.Cells {
		r := &racer{number: number}
		racers = append(racers, r)
		wrong = errors.Join(wrong, h.step(r, printed, func() error { return h.ready(r, each) }))
	}
	random := rand.New(rand.NewPCG(h.Seed, 0))
	round := func(turn int) {
		for _, i := range random.Perm(len(racers)) {
			r := racers[i]
			wrong = errors.Join(wrong, h.step(r, printed, func() error {
				taken, err := h.turn(r)
				if err != nil {
					return err
				}
				if turn == 0 { // later, how many operations a turn has does not change
					r.each = min(r.each, float64(taken.Ns)/float64(taken.Operations))
					return nil
				}
				taken.Turn = turn
				return printed.Encode(taken)
			}))
		}
	}
	for i, began := 0, time.Now(); i < leastWarm || time.Since(began) < h.Warm; i++ {
		round(0)
	}
	for turn := range h.Turns {
		round(turn + 1)
	}
	for _, r := range racers {
		wrong = errors.Join(wrong, h.step(r, printed, func() error { return r.prove() }))
		if r.contestant != nil {
			r.close()
		}
	}
	return wrong
}

// step takes a step of a cell that is still in the heat. An error is its last one. When it takes too long, this process
// ends, since nothing else would stop it.
func (h *heat) step(r *racer, printed *json.Encoder, step func() error) error {
	if r.out {
		return nil
	}
	late := time.AfterFunc(h.Patience, func() {
		_ = printed.Encode(failure{"failure", r.number, fmt.Sprintf("it took longer than %v", h.Patience)})
		os.Exit(3)
	})
	err := guarded(step)
	late.Stop()
	if err == nil {
		return nil
	}
	r.out = true
	return printed.Encode(failure{"failure", r.number, err.Error()})
}

// ready makes a cell ready.
func (h *heat) ready(r *racer, e entrant) error {
	c, err := parseCell(e.Cell)
	if err != nil {
		return err
	}
	made, err := c.prepare(e.CPUs)
	if err != nil {
		return err
	}
	r.cell, r.contestant = c, made
	return h.calibrate(r)
}

// calibrate makes twice as many operations each time until they take a good part of a turn.
func (h *heat) calibrate(r *racer) error {
	for n := 1; ; n *= 2 {
		began := time.Now()
		if err := r.run(0, n, func() {}); err != nil {
			return err
		}
		took := time.Since(began)
		if _, err := r.other(); err != nil {
			return err
		}
		if took > h.Turn/4 {
			r.each = float64(took) / float64(n)
			return nil
		}
	}
}

// settle has Go's runtime treat each cell as if it were alone, with the cell that holds most: it collects after as much
// garbage as is held, and keeps as much memory of the system. Both follow from all that is in use, which a ballast
// brings to so much that its share is that much. No page of it is ever touched, as long as it is made before all else.
func (h *heat) settle() (restore func()) {
	garbage, used := leastHeap, 0
	for _, each := range h.Cells {
		if c, err := parseCell(each.Cell); err == nil {
			held := originalScratch + c.sinks*(c.size+c.encoded())
			garbage, used = max(garbage, held), used+held
		}
	}
	ballast := make([]byte, max(0, 100/collected*garbage-used))
	before := debug.SetGCPercent(collected)
	return func() {
		debug.SetGCPercent(before)
		runtime.KeepAlive(ballast)
	}
}

// turn measures one turn of a cell, beginning without garbage of the others.
func (h *heat) turn(r *racer) (line, error) {
	var before, after runtime.MemStats
	var began time.Time
	n := h.operations(r)
	runtime.GC()
	first := max(leastUntimed, n/untimed)
	if n >= r.sinks {
		first = max(first, r.sinks) // all that is taken in turn is in the cache again, as far as it stays there
	}
	err := r.run(first, n, func() {
		runtime.ReadMemStats(&before)
		began = time.Now()
	})
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	l := line{Kind: "turn", Cell: r.number, Operations: n, Ns: took.Nanoseconds()}
	l.Allocations, l.Allocated = after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc
	if err != nil {
		return l, err
	}
	end, err := r.other()
	if err == nil && end != nil {
		l.ReceiverAllocations, l.ReceiverAllocated = &end.Allocations, &end.Allocated
		l.Compared = &end.Compared
		if end.fairness > 0 {
			l.Fairness = &end.fairness
		}
	}
	return l, err
}

// operations is how many a turn of a cell times: as many as fit into it, at least Least, of longer ones a few. Of
// several streams each sends some.
func (h *heat) operations(r *racer) int {
	turn := float64(h.Turn)
	n := max(h.Least, int(turn/r.each))
	if r.each > turn {
		n = leastLong
	}
	if r.streams > 1 {
		n = max(n, rounds*r.streams)
	}
	return n
}
