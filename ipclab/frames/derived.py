"""The frames of a run on disk: derived from its samples, kept beside them, and rebuilt when either side changed."""

import hashlib
import io
import json
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path

import pandas as pd

from ipclab.errors import LabError
from ipclab.frames.contests import contests
from ipclab.frames.points import VALUES, Row, frame, launch_rows, point_rows
from ipclab.paths import checkout
from ipclab.store.files import sha256, write_whole
from ipclab.store.run import RunFolder
from ipclab.store.run import read as read_run
from ipclab.store.samples import decode
from ipclab.studies.installed import studies
from ipclab.studies.installed import study as study_of
from ipclab.studies.profile import profile

FOLDER = "frames"
KINDS = ("points", "launches", "contests")
LAUNCH_VALUES = ("launch", "order", "round", "flags", "relation", "op", "metric", "unit", "value")
# What frames depend on beside the samples.
CODE = [
    "frames/points.py",
    "frames/metrics.toml",
    "frames/contests.py",
    "frames/address.py",
    "backends/interface.py",
    "stats",
    "store/samples.py",
    "store/schema.py",
    "studies",
]


def read(run: RunFolder, study: str, kind: str) -> pd.DataFrame:
    """Return the frame `kind` (points, launches, contests) of `study` in `run`; empty when the run has none of it.

    It comes from `frames/` in the run's folder when it follows from today's samples and code, else it is derived and
    kept there. Raises `UsageError` for an unknown study and `LabError` for samples that are not what was measured.
    """
    study_of(study)
    now, file = stamp(run, study), run.path / FOLDER / f"{study}-{kind}.parquet"
    with suppress(OSError, ValueError):
        if json.loads(file.with_suffix(".json").read_text()) == {"stamp": now, "sha256": sha256(file)}:
            return pd.read_parquet(file)
    made = {
        name: frame.to_parquet(compression="zstd", index=False)
        for name, frame in zip(KINDS, _derived(run.path, study, now), strict=True)
    }
    with suppress(LabError):  # a run's folder that cannot be written
        for name, content in made.items():
            part = file.with_name(f"{study}-{name}.parquet")
            write_whole(part, content)
            note = {"stamp": now, "sha256": hashlib.sha256(content).hexdigest()}
            write_whole(part.with_suffix(".json"), json.dumps(note).encode())
    return pd.read_parquet(io.BytesIO(made[kind]))


def bound(run: RunFolder) -> float:
    """Return what counts as the same in `run` (a share): what its profile can resolve."""
    return profile(run.about["parameters"]["profile"]).same


def measured(run: RunFolder) -> list[str]:
    """Return the studies that `run` holds points of, in the order of the registered ones."""
    held = {name.split("/")[1] for name in run.about["files"] if name.startswith("points/")}
    return [name for name in studies() if name in held]


@lru_cache(maxsize=2)
def _derived(folder: Path, study: str, _stamp_of: str) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    run = read_run(folder)
    files = [file for file in run.point_files() if file.parent.name == study]
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), multiprocessing.get_context("fork")) as pool:
        rows = list(pool.map(_rows, files, chunksize=8))
    points, launches = (list(chain.from_iterable(each[kind] for each in rows)) for kind in (0, 1))
    found = frame(launches, LAUNCH_VALUES)
    return frame(points, VALUES), found, contests(study, found, bound(run))


def _rows(file: Path) -> tuple[list[Row], list[Row]]:
    measured = decode(file)
    return list(point_rows(measured)), list(launch_rows(measured))


def stamp(run: RunFolder, study: str) -> str:
    """Return a digest of what the frames of `study` follow from: samples and code."""
    files = run.about["files"].items()
    held = sorted(f"{name} {digest}" for name, digest in files if name.startswith(f"points/{study}/"))
    return hashlib.sha256("\n".join([_code(), *held]).encode()).hexdigest()


@cache
def _code() -> str:
    package = checkout().package
    files = {file for name in CODE for file in (package / name, *(package / name).rglob("*"))}
    kept = sorted(file for file in files if file.suffix in (".py", ".toml"))
    return hashlib.sha256("".join(map(sha256, kept)).encode()).hexdigest()
