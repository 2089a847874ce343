// Package multiplexer sends messages of many streams over one byte stream and puts them together again.
//
// Every frame starts with nine bytes, big-endian: kind (1), stream id (4), length (4). A message is START, any number of
// DATA, END; ABORT ends a stream without a message. The length of START is that of the whole message, or 0 when the
// sender does not say; only DATA is followed by that many bytes of payload; the length of END and ABORT is 0.
//
// Original, Optimized and Hybrid send and receive as their published designs do. Adaptive keeps the format and changes
// the work: see its own comment. Any node reads what any node writes.
//
// A frame that breaks the rules of its stream is an error of that stream, and the others go on. Where the framing itself
// is lost (unknown kind, END or ABORT with a length, a cut-off frame) the connection ends with an error. What a peer can
// make a receiver hold is bounded by Limits: at any time at most three times the payload it really sent of unfinished
// messages, and that payload at most Limits.Held, plus Limits.Ahead, the node's own buffers (at most
// 1 MiB), and what the allocator rounds up.
package multiplexer
