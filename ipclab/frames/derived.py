"""The frames of a run: derived from its samples, and kept in the user's cache folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ipclab.frames import kept
from ipclab.frames.contests import contests
from ipclab.frames.digests import frames_digest
from ipclab.frames.estimates import estimated
from ipclab.frames.metrics import HEAT, ROUND
from ipclab.frames.points import BY_HEAT, CROWDED, HEATS, VALUES, Frame, launch_rows, point_rows
from ipclab.plugins import chosen, names
from ipclab.store import door
from ipclab.store.files import state_of
from ipclab.store.run import RunFolder
from ipclab.store.samples import decode

STUDIES = "ipclab.studies"  # the group of entry points
MOST_IN_MEMORY = 48  # frames that stay in memory
LISTS = [HEATS, BY_HEAT]  # columns whose cells hold several values
State: TypeAlias = tuple[str, tuple[tuple[int, ...], ...]]
LAUNCH_VALUES = (
    "launch", "order", ROUND, HEAT, CROWDED, "flags", "relation", "op", "metric", "unit", "value",
)  # fmt: skip

# by run, study, kind and columns: the frame, and the state of the points that it was derived from
_in_memory: dict[tuple[Path, str, str, tuple[str, ...]], tuple[State, pd.DataFrame]] = {}


def read_frame(
    run: RunFolder, study: str, kind: str, columns: tuple[str, ...] = ()
) -> pd.DataFrame:
    """Return the frame `kind` (points, launches, contests) of `study` in `run`, or empty.

    With `columns` it has these alone, which takes a tenth of the time of a wide one.
    Kept frames that follow from today's samples and code are taken, others derived and kept. Raises
    `UsageError` for an unknown study, and as `ipclab.store.door.check` does.
    """
    known = {question.name: question for question in run.questions.studies}
    if study not in known and not run.points(study) and study not in names(STUDIES):
        chosen("study", study, known)  # which raises
    state = _state(run, study)
    place = run.path, study, kind, columns
    if place not in _in_memory or _in_memory[place][0] != state:
        door.check(run)
        content = kept.kept_or_derived(state[0], kind, lambda: _derived(run, study))
        while len(_in_memory) >= MOST_IN_MEMORY:  # the oldest makes room
            del _in_memory[next(iter(_in_memory))]
        _in_memory[place] = state, _parsed(content, columns)
    return _in_memory[place][1].copy(deep=False)


def _state(run: RunFolder, study: str) -> State:
    """Return the digest of the frames of `study`, and what tells whether a point was touched."""
    files = [f"{run.path}/{name}" for name in run.points(study)]
    return frames_digest(run, study), tuple(map(state_of, files))


def _parsed(parquet: bytes, columns: tuple[str, ...]) -> pd.DataFrame:
    """Return a frame in whose cells lists are tuples, which can be compared and counted.

    No thread of Arrow's helps: it could abort Python's end (apache/arrow#34314).
    """
    file = pq.ParquetFile(pa.BufferReader(parquet), pre_buffer=False)
    table = file.read(list(columns) or None, use_threads=False)
    frame: pd.DataFrame = table.to_pandas(use_threads=False)
    for name in frame.columns.intersection(LISTS):
        frame[name] = [
            tuple(cell.tolist()) if isinstance(cell, np.ndarray) else ()
            for cell in frame[name].to_numpy()
        ]
    return frame


def studies_measured(run: RunFolder) -> list[str]:
    """Return the studies that `run` holds points of, in the order of its questions."""
    there = {name.split("/")[1] for name in run.points()}
    asked = [question.name for question in run.questions.studies if question.name in there]
    return asked + sorted(there.difference(asked))


def run_digest(run: RunFolder) -> str:
    """Return a text that is another one when a frame of any study of `run` is."""
    return "".join(frames_digest(run, study) for study in studies_measured(run))


def _derived(run: RunFolder, study: str) -> Mapping[str, bytes]:
    """Return the frames of `study` as files, by kind, from those of its points.

    One process does it: the largest study takes some ten seconds, once, and none is left behind
    when it is killed.
    """
    points = Frame(VALUES)
    launches = Frame(LAUNCH_VALUES)
    files = sorted(map(run.path.joinpath, run.points(study)))
    for measured_point in map(decode, files):
        points.add(point_rows(measured_point))
        launches.add(launch_rows(measured_point))
    of_launches = launches.whole()
    frames = {
        "points": estimated(points.whole()),
        "launches": of_launches,
        "contests": contests(run.questions.of(study), of_launches, run.questions.same),
    }
    return {kind: part.to_parquet(compression="zstd", index=False) for kind, part in frames.items()}
