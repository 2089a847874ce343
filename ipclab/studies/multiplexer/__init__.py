"""The multiplexer study: many messages over one byte stream, by four nodes written in Go (methods: seed 002)."""

NODES = ("original", "optimized", "hybrid", "adaptive")
SAME_CODE = ("direct", "direct-again")  # one function under two names
