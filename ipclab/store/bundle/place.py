"""A folder that runs are placed in: one process at a time, and what a killed one left is removed by the next."""

import fcntl
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ipclab.errors import LabError
from ipclab.paths import Paths
from ipclab.store.bundle.contents import RUN_NAME
from ipclab.store.files import PART

PATIENCE = 120.0  # seconds; placing the largest run takes a few
POLL = 0.05
OURS = re.compile(rf"{RUN_NAME}(\.[0-9]+)?{re.escape(PART)}", re.ASCII)


@contextmanager
def held(top: Path, patience: float = PATIENCE) -> Iterator[list[Path]]:
    """Hold folder `top` (made when missing) for this process; gives the leftovers of killed ones, which are removed.

    Raises `LabError` when another process holds it for longer than `patience` seconds, or it cannot be written.
    """
    deadline = time.monotonic() + patience
    try:
        top.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise _unwritable(top, error) from error
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() >= deadline:
                    raise LabError(f"{top} is held by another process", "", "wait for it or end it") from error
                time.sleep(POLL)
        left = [path for path in (*top.glob(f"*{PART}"), *top.glob(f"*/*{PART}")) if OURS.fullmatch(path.name)]
        for path in left:
            shutil.rmtree(path, ignore_errors=True)
        yield left
    finally:
        os.close(descriptor)


@contextmanager
def part_of(top: Path, run: str) -> Iterator[Path]:
    """Give an empty folder in `top` to build `run` in, to be renamed; whatever is not is removed at the end.

    It lies where no run is looked for. Raises `LabError` when it cannot be written.
    """
    part = top / f"{run}{PART}"
    try:
        part.mkdir()
        yield part
    except OSError as error:
        raise _unwritable(top, error) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def clean(paths: Paths) -> list[str]:
    """Remove what killed processes left where runs are placed; return the names. A folder in use is left alone."""
    removed: list[str] = []
    for top in (paths.imported, paths.opened):
        try:
            if top.is_dir():
                with held(top, patience=0) as left:
                    removed += [str(path) for path in left]
        except LabError:
            continue  # another process places a run there, and removes the leftovers itself
    return removed


def _unwritable(top: Path, error: OSError) -> LabError:
    return LabError(f"cannot write {top}", error.strerror or str(error), "choose another IPCLAB_DATA")
