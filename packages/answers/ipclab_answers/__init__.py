"""What ipclab is asked beside its reports: what to take, what changed, how soon, and where."""
