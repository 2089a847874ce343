"""Is this machine fit to measure? What disturbs it, what it lacks, by how much, and what fixes it."""
