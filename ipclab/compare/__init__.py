"""Runs of two or more machines compared, each with the first, as frames."""
