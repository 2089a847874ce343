"""All runs of one machine over time: steps, drift, what changed beside each step, and which steps are accepted."""
