"""The one door through which a run comes in, whoever opens it and wherever it lies.

`enter` looks at all of it: the seal and the types of its `run.json`, the digest of each file, each
point, what lies beside them, and whether these contradict one another. What was looked at is not
looked at again until a file of it or a check changes (`ipclab.store.vouched`).
"""

from collections.abc import Iterator
from pathlib import Path

from ipclab.errors import LabError
from ipclab.store.beside import wrong_beside
from ipclab.store.contradictions import contradict, refuse_contradictions
from ipclab.store.run import RunFolder, read_run
from ipclab.store.samples import Measured, decode
from ipclab.store.vouched import is_vouched, vouch, voucher


def enter(path: Path) -> RunFolder:
    """Open the run in the folder `path`, with all that it holds looked at.

    Raises `UsageError` when there is none, and `LabError` for what nobody can have measured.
    """
    run = read_run(path)
    check(run)
    return run


def check(run: RunFolder, size: int = 0) -> None:
    """Raise `LabError` unless all that `run` holds can have been measured as it tells.

    It is told in `size` bytes, such as those of its bundle; else in those of its points.
    """
    name = voucher(run)
    if is_vouched(name):
        return
    run.checked()
    files = [run.path / name for name in sorted(run.points())]
    size = size or sum(file.stat().st_size for file in files)
    refuse_contradictions(run, map(decode, files), size)
    contradict(run, next(wrong_beside(run), ""))
    vouch(name)


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
