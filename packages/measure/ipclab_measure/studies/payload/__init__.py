"""The payload study: what one transfer costs, as published and now (methods: seed 000).

Nothing is imported here: the published arm's fresh interpreter loads this before it loads NumPy.
"""

# A configuration; 16 receptors x 216 steps of float32; that for 100 members: the bytes that the
# published program moved in their place.
MOVED = {84: 88, 13_824: 14_152, 1_382_400: 1_384_120}
SIZES = tuple(MOVED)
# the published loops as they begin, and without NumPy's threads
LISTING = "published", "one-thread"
