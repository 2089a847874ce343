"""A laboratory for the cost of handing data from one process, stream or file to another."""

__version__ = "0.2.0"
