"""Exploring runs in JupyterLab: working copies of the notebooks."""
