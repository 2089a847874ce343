"""The command line: its words, and what they share."""
