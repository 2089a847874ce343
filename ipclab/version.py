"""The version of ipclab, which pyproject.toml has too."""

__version__ = "0.8.0"
