"""The payload study: what one transfer costs, as published and now (methods: text 000).

Nothing is imported here: the published arm's fresh interpreter loads this before it loads NumPy.
"""

# A configuration; 16 receptors x 216 steps of float32; that for 100 members: the bytes that the
# published program moved in their place.
MOVED = {84: 88, 13_824: 14_152, 1_382_400: 1_384_120}
SIZES = tuple(MOVED)
# the published loops as they begin, and without NumPy's threads
LISTING = "published", "one-thread"
# How v0.9 uses TCP, but with a receiver that reads into a buffer.
INTO = {"receive": "recv-into", "codec": "raw", "connection": "new", "nodelay": "off"}
# How the real readers of v1.0 look for data: in Python they sleep after each look; in C++ they do not.
LOOKS_NS, SLEEPS_NS = 500_000_000, 100_000_000
CPP_LOOKS_NS = 1_000_000_000
