"""IPC mechanisms, found by the entry-point group `ipclab.backends`, and what they share."""
