"""Run folders: what was measured, where, and the digests that prove it."""

MOST_LAUNCHES = 3_000  # of one point: a rank test takes memory with their square
