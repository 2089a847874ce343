"""The multiplexer study: many messages over one byte stream, by four nodes written in Go (methods: seed 002)."""

NODES = ("original", "optimized", "hybrid", "adaptive")
PUBLISHED_NODES = NODES[:3]
ADAPTIVE = NODES[3]
SAME_CODE = ("direct", "direct-again")  # one function under two names
FACTORIAL = "factorial"
SIZES = (1 << 10, 8 << 10, 64 << 10, 1 << 20)
PUBLISHED_SIZES = (SIZES[0], SIZES[2], SIZES[3])
MEDIA = ("pipe", "unix")  # between two processes
STREAMS = (1, 8, 64)
STREAM_SIZE = SIZES[1]
THRESHOLDS = tuple(kib << 10 for kib in (1, 2, 4, 8, 16, 64))
THRESHOLD_SIZES = (2 << 10, 8 << 10)
THRESHOLD = 8 << 10  # as the text says; its code said half of it
POOLS = ("no", "yes")
CHUNKS = (1 << 10, 4 << 10, 16 << 10, 64 << 10)
FACTORIAL_SIZE = SIZES[3]
WRITE, RECEIVE, BOTH = "write", "receive", "end-to-end"
