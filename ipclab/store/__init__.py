"""Run folders: what was measured, where, and the digests that prove it."""
