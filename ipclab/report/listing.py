"""Rows of a frame as words of a sentence."""

from typing import Any

import pandas as pd

from ipclab.frames.rows import quantity
from ipclab.lab.data import Data
from ipclab.marks.marks import groups
from ipclab.words.words import DASH


def listed(
    lab: Data,
    points: pd.DataFrame,
    by: str = "backend",
    spec: str = "",
) -> str:
    """Return rows as text, such as "tcp 21.3 µs, unix 14.8 µs", by level; a dash for none."""
    words = []
    for level, part in groups(points, by):
        for row in part.itertuples():
            value: Any = row.cell if hasattr(row, "cell") else quantity(row)
            if value:
                words.append(f"{lab.level(by, level)} {lab.words.numbers.format(value, spec)}")
    return lab.words.joined(words) or DASH
