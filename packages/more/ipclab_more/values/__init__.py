"""The numbers of a run for other programs: tidy rows, and the distribution of one op."""
