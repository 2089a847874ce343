"""Made-up launches."""

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

import numpy as np
import pandas as pd

from ipclab.frames.estimates import estimated
from ipclab.frames.points import BY_HEAT, Frame, Row
from ipclab.store.launch import Launch
from ipclab.studies.asked import questions_of, questions_plain
from ipclab.studies.profile import PROFILES

# what a run asks, for its `run.json`
ASKED: dict[str, Any] = questions_plain(questions_of(PROFILES["quick"]))

ORDERS = count(1)  # no two launches of a run have one
LAUNCH_NS = 1_000_000


def framed(rows: Iterable[Row], columns: Sequence[str]) -> pd.DataFrame:
    """Return rows as a frame with these columns."""
    made = Frame(columns)
    made.add(rows)
    whole = made.whole()
    return estimated(whole) if BY_HEAT in whole else whole


def make_launch(
    flags: tuple[str, ...] = (), counters: dict[str, float] | None = None, /, **samples: list[int]
) -> Launch:
    """Return a launch whose `samples` are given by op; `__` in a name stands for the dot of a
    phase.
    """
    arrays = {op.replace("__", "."): np.array(values, np.int64) for op, values in samples.items()}
    first = next(iter(arrays))
    counted = {first: counters} if counters else {}
    return Launch(arrays, counted, next(ORDERS), 0, LAUNCH_NS, flags=list(flags))
