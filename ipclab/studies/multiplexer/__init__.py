"""The multiplexer study: many messages over one stream, by Go nodes (methods: text 002)."""

NODES = ("original", "optimized", "hybrid", "adaptive")
# one function under two names, and with a check of the size before
CALLS = "direct", "direct-again", "checked"
