"""What every notebook needs: the fork server imports it once, and each kernel begins with it."""

from contextlib import suppress
from pathlib import Path

import ipykernel.kernelapp  # noqa: F401
import pandas as pd  # noqa: F401
import seaborn as sns  # noqa: F401

import ipclab.notebook  # noqa: F401
from ipclab.errors import LabError
from ipclab.facts.derive import read_derived
from ipclab.figures import style
from ipclab.report.catalogue import LANGUAGES

LETTERS = "0 µs 가 测"


def draw() -> None:
    """Draw once in every language, so that fonts are found and letters are measured."""
    for lang in LANGUAGES:
        with style.canvas(lang, 2, 2) as canvas:
            axes = canvas.subplots()
            axes.plot([1, 10], [1, 10])
            axes.set(xscale="log", title=LETTERS)
            style.svg(canvas)
            style.png(canvas)


def read(folder: Path) -> None:
    """Read what was derived from a run, so that the notebooks about it have it; whoever needs it says what is wrong."""
    with suppress(OSError, ValueError, KeyError, TypeError, LabError):
        _, rows, _ = read_derived(folder)
        rows.all("", "")  # groups the rows
        for row in rows:
            row.levels  # noqa: B018
