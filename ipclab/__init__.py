"""A laboratory for the cost of handing data from one process, stream or file to another.

>>> import ipclab
>>> lab = ipclab.open("round_trip")  # the newest run here that holds the study, else the reference
>>> trips = lab.points(arm="main", metric="p50", placement="same")  # a pandas DataFrame
>>> ipclab.lines(trips, x="size_bytes", hue="backend", ax=plt.gca(), log="xy")
>>> lab.ratio(trips.iloc[0], trips.iloc[1])

Names are loaded when they are first used: drawing is slow. What other packages of ours add to a
notebook (`ipclab.about_run` of ipclab-report) is here, too, once they are installed.
"""

from importlib import import_module
from typing import Any

__version__ = "0.7.2"
GROUP = "ipclab.notebook"  # of the entry points that add a name
MODULES = {
    "errors": ("LabError", "UsageError"),
    "lab.lab": ("Lab", "measure", "open"),
    "marks.style": ("style",),
    "marks.axes": ("note_ends", "scale"),
    "marks.curves": ("lines",),
    "marks.named_rows": ("dots",),
    "marks.marks": ("drawable", "groups"),
    "stats.quantity": ("Quantity", "missing", "of", "total"),
}
_PLACES = {name: module for module, names in MODULES.items() for name in names}
__all__ = sorted(_PLACES)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        module = import_module(f"{__name__}.{_PLACES[name]}")
        return module if _PLACES[name].endswith(f".{name}") else getattr(module, name)
    from ipclab.lab.voices import for_all_readers
    from ipclab.plugins import added

    return for_all_readers(added(GROUP, name))


def __dir__() -> list[str]:
    from ipclab.plugins import names

    return sorted({*globals(), *_PLACES, *names(GROUP)})
