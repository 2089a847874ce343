"""Marks on matplotlib axes: lines, dots, bars, limits, with intervals and names."""
