"""The numbers of a run for other programs, in tidy rows."""
