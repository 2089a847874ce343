package multiplexer

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// cellVariable names the environment variable that says which cell BenchmarkCell measures.
const cellVariable = "IPCLAB_CELL"

// cell is what is measured: one combination of levels.
type cell struct {
	name                            string
	arm, node, op, medium, pool     string
	size, streams, threshold, chunk int
	sinks                           int // messages and buffers that are taken in turn
}

// calls are the functions that are compared as nodes: how they call, not what.
var calls = map[string]func(Node, []byte, int) error{"direct": direct, "direct-again": directAgain, "checked": checked}

// parseCell reads "arm=.../node=.../...": every key once, in this order.
func parseCell(text string) (cell, error) {
	c := cell{name: text}
	nodes := slices.AppendSeq([]string{"original", "optimized", "hybrid", "adaptive", "factorial"}, maps.Keys(calls))
	levels := []struct {
		key  string
		word *string
		of   []string
		size *int
	}{
		{key: "arm", word: &c.arm, of: []string{"published", "main", "streams", "threshold", "factorial", "check"}},
		{key: "node", word: &c.node, of: nodes},
		{key: "op", word: &c.op, of: []string{"write", "receive", "end-to-end", "call"}},
		{key: "medium", word: &c.medium, of: []string{"memory", "pipe", "unix"}},
		{key: "size", size: &c.size},
		{key: "streams", size: &c.streams},
		{key: "threshold", size: &c.threshold},
		{key: "pool", word: &c.pool, of: []string{"yes", "no", "own"}},
		{key: "chunk", size: &c.chunk},
		{key: "sinks", size: &c.sinks},
	}
	parts := strings.Split(text, "/")
	if len(parts) != len(levels) {
		return c, fmt.Errorf("%d keys instead of %d", len(parts), len(levels))
	}
	for i, level := range levels {
		value, found := strings.CutPrefix(parts[i], level.key+"=")
		if !found {
			return c, fmt.Errorf("key %s: not found in its place", level.key)
		}
		if level.word != nil {
			if *level.word = value; !slices.Contains(level.of, value) {
				return c, fmt.Errorf("key %s: %q is none of %s", level.key, value, strings.Join(level.of, ", "))
			}
			continue
		}
		number, err := strconv.Atoi(value)
		if *level.size = number; err != nil || number < 0 {
			return c, fmt.Errorf("key %s: %q is no size", level.key, value)
		}
	}
	return c, c.check()
}

// check says which key does not go with the others.
func (c cell) check() error {
	switch {
	case (c.op == "end-to-end") == (c.medium == "memory"):
		return fmt.Errorf("key medium: %s does not go with op %s", c.medium, c.op)
	case c.size < 1 || c.size > DefaultLimits.Message:
		return fmt.Errorf("key size: %d is not between 1 and %d", c.size, DefaultLimits.Message)
	case c.streams < 1 || c.streams > DefaultLimits.Streams:
		return fmt.Errorf("key streams: %d is not between 1 and %d", c.streams, DefaultLimits.Streams)
	case c.streams > 1 && c.op != "end-to-end":
		return fmt.Errorf("key streams: more than one needs op end-to-end")
	case c.node == "factorial" && c.chunk < 1:
		return fmt.Errorf("key chunk: node factorial needs one")
	case c.node == "factorial" && c.pool == "own":
		return fmt.Errorf("key pool: node factorial needs yes or no")
	case c.sinks < 1:
		return fmt.Errorf("key sinks: at least one is needed")
	case calls[c.node] != nil && c.op != "write" && c.op != "call":
		return fmt.Errorf("key op: node %s only writes", c.node)
	case calls[c.node] == nil && c.op == "call":
		return fmt.Errorf("key op: call needs one of direct, direct-again, checked")
	}
	return nil
}

// node makes the cell's node.
func (c cell) make(r io.Reader, w io.Writer) Node {
	switch c.node {
	case "optimized":
		return NewOptimized(r, w)
	case "hybrid":
		return NewHybrid(r, w, c.threshold)
	case "adaptive":
		return NewAdaptive(r, w)
	case "factorial":
		return NewFactorial(r, w, c.chunk, c.pool == "yes")
	}
	return NewOriginal(r, w)
}

// TestParseCell refuses a bad cell by the name of its key.
func TestParseCell(t *testing.T) {
	good := "arm=main/node=adaptive/op=write/medium=memory/size=1048576/streams=1/threshold=8192/pool=own/chunk=0/sinks=1"
	if _, err := parseCell(good); err != nil {
		t.Error(err)
	}
	for _, bad := range [][3]string{
		{"arm=main", "arm=side", "arm"}, {"node=adaptive", "node=new", "node"}, {"op=write", "up=write", "op"},
		{"medium=memory", "medium=pipe", "medium"}, {"size=1048576", "size=0", "size"}, {"streams=1", "streams=2", "streams"},
		{"threshold=8192", "threshold=8k", "threshold"}, {"pool=own", "pool=", "pool"}, {"chunk=0", "chunk=-1", "chunk"},
		{"node=adaptive", "node=factorial", "chunk"}, {"/chunk=0", "", "keys"}, {"sinks=1", "sinks=0", "sinks"},
		{"op=write", "op=call", "op"},
	} {
		_, err := parseCell(strings.Replace(good, bad[0], bad[1], 1))
		if err == nil || !strings.Contains(err.Error(), bad[2]) {
			t.Errorf("%s: %v", bad[1], err)
		}
	}
}
