//go:build race

package multiplexer

// raced says that the race detector runs: it drops items of a sync.Pool, and allocates.
const raced = true
