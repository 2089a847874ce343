"""What a notebook holds: a run, seen by readers of one language."""

from ipclab.lab.lab import Lab, lab_of, measure, open

__all__ = ["Lab", "lab_of", "measure", "open"]
