package multiplexer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestHeat takes turns of several cells, and goes on without those that fail.
func TestHeat(t *testing.T) {
	const form = "arm=main/node=%s/op=%s/medium=%s/size=%d/streams=%d/threshold=8192/pool=own/chunk=0/sinks=3"
	const several, bad, nowhere = 3, 5, 6
	h := heat{Turns: 3, Warm: 1, Turn: time.Millisecond, Least: 10, Patience: time.Minute, Seed: 7, Cells: []entrant{
		{fmt.Sprintf(form, "original", "write", "memory", 1024, 1), ""},
		{fmt.Sprintf(form, "adaptive", "receive", "memory", 65536, 1), ""},
		{fmt.Sprintf(form, "hybrid", "end-to-end", "pipe", 8192, 1), ""},
		{fmt.Sprintf(form, "optimized", "end-to-end", "unix", 8192, 4), ""},
		{fmt.Sprintf(form, "checked", "call", "memory", 1024, 1), ""},
		{fmt.Sprintf(form, "new", "write", "memory", 1024, 1), ""},
		{fmt.Sprintf(form, "adaptive", "end-to-end", "unix", 1024, 1), "8191"},
	}}
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	var out bytes.Buffer
	if err := h.run(&out); err != nil {
		t.Fatal(err)
	}
	failures, orders := map[int]string{}, make([]string, h.Turns)
	for text := range strings.Lines(out.String()) {
		var l struct {
			line
			Why string `json:"why"`
		}
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(text, err)
		}
		if l.Kind == "failure" {
			failures[l.Cell] = l.Why
			continue
		}
		orders[l.Turn-1] += strconv.Itoa(l.Cell)
		two := strings.Contains(h.Cells[l.Cell].Cell, "end-to-end")
		if l.Operations < leastLong || l.Ns < 1 || (l.Fairness != nil) != (l.Cell == several) {
			t.Error(text)
		}
		if (l.ReceiverAllocated != nil) != two || (two && *l.ReceiverAllocated < uint64(l.Operations)*8192) {
			t.Error(text)
		}
		if (l.Compared != nil) != two || (two && (*l.Compared < 1 || int(*l.Compared) > l.Operations)) {
			t.Error(text)
		}
		if !raced && l.Cell == 0 && l.Allocations/uint64(l.Operations) != 3 {
			t.Error(text)
		}
	}
	if len(failures) != 2 || !strings.Contains(failures[bad], "key node") ||
		!strings.Contains(failures[nowhere], "receiver: IPCLAB_PEER_CPUS: cannot run on 8191") {
		t.Error(failures)
	}
	for _, order := range orders {
		if len(order) != bad || strings.Trim(order, "01234") != "" {
			t.Error("turns of", order)
		}
	}
	if orders[0] == orders[1] && orders[1] == orders[2] {
		t.Error("the order of turns does not change", orders[0])
	}
}
