"""The command line: a word a module."""
