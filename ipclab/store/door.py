"""The one door through which a run comes in, whoever opens it and wherever it lies.

`check` looks at all of it: the seal and the types of its `run.json`, the digest of each file, each
point, what lies beside them, and whether these contradict one another. What was looked at is not
looked at again until a file of it or a check changes: a file in the user's cache folder, named by a
digest of the run, the state of its files and the code of the checks, vouches for it. Whoever can
write that can write the package.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from ipclab.errors import LabError
from ipclab.store.contradictions import refuse_contradictions
from ipclab.store.files import dump_json, once, private_cache, sha256, state_of
from ipclab.store.run import RunFolder
from ipclab.store.samples import Measured, decode

MOST = 4_096  # runs that are vouched for, of which those go that were asked for longest ago
_whole: set[str] = set()  # found to be whole by this process


def check(run: RunFolder, size: int = 0) -> None:
    """Raise `LabError` unless all that `run` holds can have been measured as it tells.

    It is told in `size` bytes, such as those of its bundle; else in those of its points.
    """
    states = [state_of(f"{run.path}/{name}") for name in sorted(run.about["files"])]
    told = hashlib.sha256(dump_json(run.about)).hexdigest()
    name = hashlib.sha256(f"{_checks()} {told} {states}".encode()).hexdigest()
    if name in _whole:
        return
    if not _is_vouched(name):
        with once(name):
            if not _is_vouched(name):  # by whom this one has waited for
                _look(run, size)
                _vouch(name)
    _whole.add(name)


def _look(run: RunFolder, size: int) -> None:
    run.checked()
    files = [run.path / name for name in sorted(run.points())]
    size = size or sum(file.stat().st_size for file in files)
    refuse_contradictions(run, map(decode, files), size)


def _is_vouched(name: str) -> bool:
    with suppress(OSError):
        os.utime(private_cache("vouched") / name)
        return True
    return False


def _vouch(name: str) -> None:
    with suppress(OSError):
        folder = private_cache("vouched")
        (folder / name).touch(0o600)
        found = sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime_ns)
        for old in found[:-MOST]:
            old.unlink(missing_ok=True)


def measured_points(run: RunFolder, study: str = "") -> Iterator[Measured]:
    """Yield the points of `run`, or those of `study`, in a fixed order; raises as `check` does."""
    check(run)
    for name in sorted(run.points(study)):
        yield decode(run.path / name)


def point_of(run: RunFolder, study: str, point: str) -> Measured:
    """Return one point of `run` by its name; raises as `check` does, or when there is none."""
    check(run)
    name = f"points/{study}/{point}.parquet"
    if name not in run.about["files"]:
        raise LabError(f"{run.id} has no point {point}", "", f"see which {study} has")
    return decode(run.path / name)


@cache
def _checks() -> str:
    """Return a digest of the code that checks runs: this package, and nothing else."""
    files = sorted(file for file in Path(__file__).parent.iterdir() if file.is_file())
    return hashlib.sha256("".join(map(sha256, files)).encode()).hexdigest()
