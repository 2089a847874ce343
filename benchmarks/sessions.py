"""Whether a session's intervals hold what other sessions found: python benchmarks/sessions.py RUN
[RUN ...].

Prints by study how many intervals there are of medians, and of ratios that a contest tells, and
the share of them that holds what another session found. Sessions are runs, or those of one run.
"""

import sys
from collections.abc import Iterator
from itertools import chain, permutations
from pathlib import Path

import numpy as np
import pandas as pd

from ipclab.errors import LabError
from ipclab.frames import derived
from ipclab.frames.contests import contests, side_of
from ipclab.frames.metrics import HEAT
from ipclab.lab.runs import choose
from ipclab.paths import checkout
from ipclab.stats.compare import FASTER, SAME, SLOWER
from ipclab.stats.intervals import statistic_estimate
from ipclab.stats.paired import log_ratios
from ipclab.stats.sessions import HEATS
from ipclab.store.questions import Question
from ipclab.store.run import RunFolder
from ipclab.studies.installed import ALWAYS

WHAT = ["op", "point"]
TOLD = (FASTER, SAME, SLOWER)


def held(folders: list[str]) -> pd.DataFrame:
    """Return by study how many intervals there were, and the share that held.

    Raises `LabError` where there is one session alone.
    """
    runs = [choose(checkout(), folder) for folder in folders]
    asked = runs[0].questions
    measured = {*derived.studies_measured(runs[0])} - {*ALWAYS}
    rows = [
        row
        for question in asked.studies
        if question.name in measured
        for own, other in permutations(chain(*(sessions(run, question.name) for run in runs)), 2)
        for row in [*medians(question.name, own, other), *ratios(question, own, other, asked.same)]
    ]
    if not rows:
        raise LabError("there is one session alone", "", "name a run of several, or several runs")
    found = pd.DataFrame(rows, columns=["study", "of", "holds"])
    every = pd.concat([found, found.assign(study="all")])
    return every.pivot_table(
        index="study", columns="of", values="holds", aggfunc=["size", "mean"]
    ).round(3)


def sessions(run: RunFolder, study: str) -> list[pd.DataFrame]:
    """Return the medians of launches of each session of a run."""
    frame = derived.read_frame(run, study, "launches")
    frame = frame[(frame.metric == "p50") & (frame.unit == "ns")]
    return [part for _, part in frame.groupby(frame[HEAT] // HEATS)]


def medians(study: str, own: pd.DataFrame, other: pd.DataFrame) -> Iterator[tuple[str, str, bool]]:
    """Yield whether the interval of each median holds the other session's."""
    theirs = other.groupby(WHAT).value.median().to_dict()
    for what, values in own.groupby(WHAT).value:
        estimate = statistic_estimate(list(values), 0).for_sessions()
        if what in theirs and np.isfinite(estimate.high):
            yield study, "medians", bool(estimate.low <= theirs[what] <= estimate.high)


def ratios(
    asked: Question, own: pd.DataFrame, other: pd.DataFrame, bound: float
) -> Iterator[tuple[str, str, bool]]:
    """Yield whether the interval of each ratio that is told holds the other session's."""
    sides = {what: side_of(rows).heats for what, rows in other.groupby(WHAT)}
    table = contests(asked, own, bound)
    for row in table[table.verdict.isin(TOLD)].to_dict("records"):
        first, second = (sides.get((row["op"], row[name]), {}) for name in ("point", "other_point"))
        if len(both := log_ratios(first, second)):
            yield asked.name, "ratios", row["low"] <= np.exp(both.mean()) <= row["high"]


if __name__ == "__main__":
    try:
        if len(sys.argv) == 1:
            sys.exit(f"{Path(sys.argv[0]).name}: name a run of several sessions, or several runs")
        print(held(sys.argv[1:]).to_string())
    except LabError as error:
        sys.exit(str(error))
