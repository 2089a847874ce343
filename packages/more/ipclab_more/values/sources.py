"""The runs that numbers are asked of: one by its name, or each bundle in a folder."""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ipclab.errors import UsageError
from ipclab.lab.runs import run_named
from ipclab.paths import Paths
from ipclab.store.bundle import place, verify
from ipclab.store.run import INDEX, RunFolder, read_run

SUFFIX = ".ipclab"


def sources(named: Sequence[Path]) -> list[Path]:
    """Return what is meant by each name: itself, or the bundles in a folder at any depth, sorted.

    Raises `UsageError` for a folder that is no run and holds no bundle.
    """
    found: list[Path] = []
    for name in named:
        if not name.is_dir() or (name / INDEX).is_file():
            found.append(name)
            continue
        bundles = sorted(filter(Path.is_file, name.rglob(f"*{SUFFIX}")))
        if not bundles:
            fix = "put there what 'ipclab bundle' wrote"
            raise UsageError(f"{name} holds no bundle", f"no file ends in {SUFFIX}", fix)
        found += bundles
    return found


@contextmanager
def opened(paths: Paths, source: Path) -> Iterator[RunFolder]:
    """Give the run of `source`.

    A bundle's is placed for as long as it is read, so that thousands need the room of one. Raises
    what `ipclab.lab.runs.run_named`, `verify` and `place` raise.
    """
    if not source.is_file():
        yield run_named(paths, str(source))
        return
    contents, _ = verify(source)
    paths.opened.mkdir(parents=True, exist_ok=True)
    home = Path(tempfile.mkdtemp(prefix="read-", dir=paths.opened))
    try:
        place(source, contents, home / "run")
        yield read_run(home / "run" / contents.run)
    finally:
        shutil.rmtree(home, ignore_errors=True)
