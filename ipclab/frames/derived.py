"""The frames of a run on disk: derived from samples, and never trusted without them.

Whoever can alter a frame can alter its digest, too: what is read agrees with a tenth of the points,
and `verify` derives all of them. A process that has done so tells those that it starts.
"""

import hashlib
import io
import json
import multiprocessing
import os
import random
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from ipclab.errors import LabError
from ipclab.frames.contests import contests
from ipclab.frames.metrics import HEAT, ROUND
from ipclab.frames.points import (
    BY_HEAT,
    CROWDED,
    HEATS,
    TURNS,
    VALUES,
    Row,
    frame,
    launch_rows,
    point_rows,
)
from ipclab.frames.stamps import stamp
from ipclab.store.files import sha256, write_whole
from ipclab.store.run import RunFolder
from ipclab.store.samples import decode
from ipclab.studies.installed import studies
from ipclab.studies.installed import study as study_of
from ipclab.studies.profile import profile

FOLDER = "frames"
WRITTEN: dict[str, Any] = {"compression": "zstd", "index": False}
# which share of the points, and how many at least, are derived again when frames are read
AGAIN, LEAST_AGAIN = 0.1, 20
PROVED = "IPCLAB_PROVED"  # set for a report's kernels: digests of frames that it derived
CHUNK = 8  # points that a process derives at once
MOST_IN_MEMORY = 16  # studies whose frames stay in memory
LISTS = [TURNS, HEATS, BY_HEAT]  # columns whose cells hold several values
State: TypeAlias = tuple[str, tuple[tuple[int, ...], ...]]
KINDS = ("points", "launches", "contests")
LAUNCH_VALUES = (
    "launch",
    "order",
    ROUND,
    HEAT,
    CROWDED,
    "flags",
    "relation",
    "op",
    "metric",
    "unit",
    "value",
    TURNS,
)


Frames: TypeAlias = dict[str, pd.DataFrame]  # of a study by kind

proved = set[str]()  # digests of what `verify` has derived in this process

# by run and study: the frames, and the state of the run's files that they were read or derived in
_in_memory: dict[tuple[Path, str], tuple[State, Frames]] = {}


def read(run: RunFolder, study: str, kind: str) -> pd.DataFrame:
    """Return the frame `kind` (points, launches, contests) of `study` in `run`, or empty.

    It comes from `frames/` in the run's folder when it follows from today's samples and code, which
    a tenth of the points proves, else it is derived and kept there. Files that did not change since
    are not read again. Raises `UsageError` for an unknown study and `LabError` for samples that are
    not what was measured.
    """
    study_of(study)
    place = run.path, study
    if place not in _in_memory or _in_memory[place][0] != _state(run, study):
        files = run.point_files(study)
        frames = _from_disk(run, study, files)
        if frames is None:
            content = _derived(run, study, files)
            _to_disk(run, study, content)
            frames = _frames(content)
        _remember(run, study, frames)
    return _in_memory[place][1][kind].copy(deep=False)


def verify(run: RunFolder, studies: Iterable[str] = ()) -> list[str]:
    """Derive the frames of `studies` (or all) anew; return the names of those altered.

    These are put right, as are older ones. Raises `LabError` for samples that are not what was
    measured, and for altered frames in a folder that cannot be written.
    """
    altered = []
    for study in list(studies) or measured(run):
        content = _derived(run, study, run.point_files(study))
        files = {kind: _file(run, study, kind) for kind in KINDS}
        now = stamp(run, study)
        current = [kind for kind in KINDS if _stamp_of(files[kind]) == now]
        wrong = [kind for kind in current if files[kind].read_bytes() != content[kind]]
        if wrong or len(current) < len(KINDS):
            _to_disk(run, study, content)
        proved.add(_digest(now, content))
        names = [str(files[kind].relative_to(run.path)) for kind in wrong]
        if any(files[kind].read_bytes() != content[kind] for kind in current):
            fix = f"remove {run.path / FOLDER}"
            raise LabError(f"{names[0]} is not what its points give", "it cannot be written", fix)
        altered += names
        _remember(run, study, _frames(content))
    return altered


def _remember(run: RunFolder, study: str, frames: Frames) -> None:
    """Keep in memory what was proved; the oldest makes room."""
    while len(_in_memory) >= MOST_IN_MEMORY:
        del _in_memory[next(iter(_in_memory))]
    _in_memory[run.path, study] = _state(run, study), frames


def _frames(content: Mapping[str, bytes]) -> Frames:
    return {kind: _parsed(io.BytesIO(parquet)) for kind, parquet in content.items()}


def _from_disk(run: RunFolder, study: str, samples: list[Path]) -> Frames | None:
    """Return the frames on disk if they are today's and agree with some points; else None."""
    files = {kind: _file(run, study, kind) for kind in KINDS}
    now = stamp(run, study)
    try:
        if any(_stamp_of(file) != now for file in files.values()):
            return None
        content = {kind: file.read_bytes() for kind, file in files.items()}
        frames = _frames(content)
        if _digest(now, content) in os.environ.get(PROVED, "").split():
            return frames
        judged = contests(study, frames["launches"], bound(run)).to_parquet(**WRITTEN)
        agree = judged == content["contests"] and _agree(samples, frames)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None  # whoever altered them did not keep to their columns
    return frames if agree else None


def _agree(samples: list[Path], frames: Frames) -> bool:
    """Tell whether a tenth of the points, which nobody can foresee, give the frames' rows."""
    count = min(len(samples), max(LEAST_AGAIN, round(AGAIN * len(samples))))
    chosen = sorted(random.SystemRandom().sample(samples, count))
    for kind, derived in zip(KINDS, _by_point(map(_rows, chosen)), strict=False):
        kept = frames[kind]
        made = _tupled(derived)
        own = made.columns[made.notna().any()]
        if {*kept.point} != {file.stem for file in samples} or not {*own} <= {*kept.columns}:
            return False
        again = kept[kept.point.isin([file.stem for file in chosen])].reset_index(drop=True)
        if not again.equals(made.reindex(columns=kept.columns).astype(kept.dtypes)):
            return False
    return True


def _to_disk(run: RunFolder, study: str, content: Mapping[str, bytes]) -> None:
    now = stamp(run, study)
    with suppress(LabError):  # a run's folder that cannot be written
        for kind, parquet in content.items():
            file = _file(run, study, kind)
            write_whole(file, parquet)
            note = {"stamp": now, "sha256": hashlib.sha256(parquet).hexdigest()}
            write_whole(file.with_suffix(".json"), json.dumps(note).encode())


def _stamp_of(file: Path) -> str:
    """Return the stamp of a kept frame, empty when there is none or its bytes changed."""
    try:
        note = json.loads(file.with_suffix(".json").read_text())
        return str(note["stamp"]) if note["sha256"] == sha256(file) else ""
    except (OSError, ValueError, LookupError, TypeError):
        return ""


def _digest(stamp_of: str, content: Mapping[str, bytes]) -> str:
    """Return the digest of a study's frames and of what they follow from."""
    parts = [hashlib.sha256(content[kind]).hexdigest() for kind in KINDS]
    return hashlib.sha256(" ".join([stamp_of, *parts]).encode()).hexdigest()


def _file(run: RunFolder, study: str, kind: str) -> Path:
    return run.path / FOLDER / f"{study}-{kind}.parquet"


def _state(run: RunFolder, study: str) -> State:
    """Return the stamp of the frames of `study`, and what tells whether a file of it was touched."""
    frames = [_file(run, study, kind) for kind in KINDS]
    files = [
        *(run.path / name for name in run.points(study)),
        *frames,
        *(file.with_suffix(".json") for file in frames),
    ]
    return stamp(run, study), tuple(map(_touched, files))


def _touched(file: Path) -> tuple[int, ...]:
    with suppress(OSError):
        status = file.stat()
        return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    return ()


def _parsed(file: Path | io.BytesIO) -> pd.DataFrame:
    return _tupled(pd.read_parquet(file))


def _tupled(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame in whose cells lists are tuples, which can be compared and counted."""
    for name in frame.columns.intersection(LISTS):
        frame[name] = frame[name].map(_cells)
    return frame


def _cells(cell: Any) -> tuple[Any, ...]:
    if isinstance(cell, np.ndarray):
        return tuple(cell.tolist())
    return tuple(cell) if isinstance(cell, list | tuple) else ()


def bound(run: RunFolder) -> float:
    """Return what counts as the same in `run` (a share): what its profile can resolve."""
    return profile(run.about["parameters"]["profile"]).same


def measured(run: RunFolder) -> list[str]:
    """Return the studies that `run` holds points of, in the order of the registered ones."""
    there = {name.split("/")[1] for name in run.points()}
    return [name for name in studies() if name in there]


def _derived(run: RunFolder, study: str, files: list[Path]) -> dict[str, bytes]:
    """Return the frames of `study` as files, by kind, from those of its points."""
    if len(files) <= CHUNK:  # processes would take longer
        rows = list(map(_rows, files))
    else:
        with ProcessPoolExecutor(
            len(os.sched_getaffinity(0)), multiprocessing.get_context("fork")
        ) as pool:
            rows = list(pool.map(_rows, files, chunksize=CHUNK))
    points, launches = _by_point(rows)
    frames = points, launches, contests(study, launches, bound(run))
    return {kind: part.to_parquet(**WRITTEN) for kind, part in zip(KINDS, frames, strict=True)}


def _by_point(rows: Iterable[tuple[list[Row], list[Row]]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the frames of points and of launches that the rows of each point make."""
    points = list[Row]()
    launches = list[Row]()
    for of_point, of_launches in rows:
        points += of_point
        launches += of_launches
    return frame(points, VALUES), frame(launches, LAUNCH_VALUES)


def _rows(file: Path) -> tuple[list[Row], list[Row]]:
    measured = decode(file)
    return list(point_rows(measured)), list(launch_rows(measured))
