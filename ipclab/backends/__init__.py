"""IPC mechanisms, one file each, found through the entry-point group `ipclab.backends`."""
