"""What a notebook holds: a run, seen by readers of one language."""
