"""Runs by the name that a person gives a command: a folder, a bundle, an id, a part of one."""

from ipclab.errors import UsageError
from ipclab.lab.runs import choose, find, newest_full
from ipclab.paths import Paths, typed
from ipclab.store import run as folder
from ipclab.store.run import RunFolder

NEWEST = "newest"


def run_named(paths: Paths, name: str, study: str = "") -> RunFolder:
    """Return the run `name`: a folder, a bundle, an id or a part of one here, or `newest`.

    The newest is the newest full one that was made here, else the newest complete one. Raises
    `UsageError` for what is no run, or is in the ids of several, and what `ipclab.lab.runs.choose`
    raises, which takes an empty name.
    """
    if name == NEWEST:
        newest = newest_full(paths) or folder.newest(paths.runs, lambda run: run.complete)
        if newest is None:
            raise UsageError("there is no complete run", "", f"measure one: {typed('measure')}")
        return newest
    if not name or find(paths, name).exists():
        return choose(paths, name, study)
    tops = paths.runs, paths.imported
    alike = [run for top in tops for run in sorted(top.glob("*/*")) if name in run.name]
    if alike[1:]:
        names = ", ".join(run.name for run in alike[:3])
        raise UsageError(
            f"{name!r} is in the ids of {len(alike)} runs", "", f"give more of {names}"
        )
    return choose(paths, str(alike[0]) if alike else name, study)
