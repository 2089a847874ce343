"""A laboratory for the cost of handing data from one process, stream or file to another.

>>> import ipclab
>>> lab = ipclab.open("round_trip")  # the best run here that holds the study, else the reference
>>> trips = lab.points(arm="main", metric="p50", placement="same")  # a pandas DataFrame
>>> ipclab.lines(trips, x="size_bytes", hue="backend", ax=plt.gca(), log="xy")
>>> lab.value(trips.iloc[:1]) / lab.value(trips.iloc[1:2])

What a notebook calls stands in `ipclab.notebook`, which is loaded when one of its names is first
used: drawing is slow to load, and the command line does without.
"""

from typing import Any

from ipclab.version import __version__

__all__ = ["__version__"]


def __getattr__(name: str) -> Any:
    if name == "notebook" or name.startswith("__"):
        raise AttributeError(f"module 'ipclab' has no attribute {name!r}")
    import ipclab.notebook as names
    from ipclab.errors import hint

    if name not in names.__all__:
        why = f"module 'ipclab' has no attribute {name!r}"
        raise AttributeError(f"{why}: {hint(name, names.__all__)}")
    return getattr(names, name)


def __dir__() -> list[str]:
    import ipclab.notebook as names

    return sorted([*__all__, *names.__all__])
