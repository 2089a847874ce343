"""All runs of one machine in a row: when it changed, what changed beside it, what is blessed."""
