"""Mechanisms and studies beyond the five published texts."""
