"""Sentences with values, and the judge's choice between alternatives."""
