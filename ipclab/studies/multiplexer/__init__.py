"""The multiplexer study: many messages over one byte stream, by four nodes written in Go (methods:
seed 002).
"""

NODES = ("original", "optimized", "hybrid", "adaptive")
# one function under two names, and with a check of the size before
CALLS = "direct", "direct-again", "checked"
