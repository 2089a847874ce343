"""Exploring runs in JupyterLab: what to look at, its pictures and tables, and the widgets that choose."""
