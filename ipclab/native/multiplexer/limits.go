package multiplexer

// Limits bounds what a peer can make a node hold, in bytes and streams.
type Limits struct {
	Message int // the longest message sent or accepted
	Streams int // messages begun and not ended
	Held    int // payload received of messages not ended, all streams together
	Ahead   int // memory reserved for payload that was announced and has not come yet, all streams together
}

// DefaultLimits are those of every node made by this package.
var DefaultLimits = Limits{Message: 64 << 20, Streams: 1024, Held: 256 << 20, Ahead: 32 << 20}
