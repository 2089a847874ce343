"""The choice of a mechanism: a need, and what a run of this machine answers to it."""
