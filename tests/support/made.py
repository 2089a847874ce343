"""Made-up launches, and runs that were begun."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ipclab.frames.estimates import estimated
from ipclab.frames.points import BY_HEAT, Frame, Row
from ipclab.store.identity import NAMES, digest_of
from ipclab.store.launch import Launch
from ipclab.store.record import Record, create
from ipclab.studies.profile import PROFILES
from ipclab.studies.questions import questions_of, questions_plain

# what a run asks, for its `run.json`
ASKED: dict[str, Any] = questions_plain(questions_of(PROFILES["quick"]))
# the levels of a round trip in the main arm
MAIN: dict[str, Any] = {
    "arm": "main",
    "wait": "block",
    "gap_ns": 0,
    "touch": "full",
    "receive": "bytes",
}


def made_machine(name: str, **facts: Any) -> dict[str, Any]:
    """Return what `run.json` says of a made-up machine of two CPUs, whose digest fits its facts."""
    about: dict[str, Any] = dict.fromkeys(NAMES) | {
        "cpu_model": f"Example {name}",
        "kernel_release": "6.1.0",
        "ipclab": "0.1.0",
        "page_size": 4096,
        **facts,
    }
    return {"digest": digest_of(about), "facts": about, "reasons": {}}


def begun(
    folder: Path, asked: Mapping[str, Any] = ASKED, machine: str = "example", **parameters: Any
) -> Record:
    """Return a run that was begun with these parameters, and else as a quick one, without points."""
    told = made_machine(machine)
    usual: dict[str, Any] = {"profile": "quick", "studies": [], "sizes": None, "backends": None}
    parameters = usual | {"levels": {}} | parameters
    about = {"parameters": parameters, "seed": 1, "machine": told, "questions": asked}
    when = dt.datetime(2026, 11, 20, 10, tzinfo=dt.UTC)
    return create(folder, told["digest"], about, when)


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
    order = next(ORDERS)
    return Launch(arrays, counted, order, order * LAUNCH_NS, LAUNCH_NS, flags=list(flags))
