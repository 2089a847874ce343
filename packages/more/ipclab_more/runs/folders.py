"""Runs as folders: what is told of each, its label, its end."""

import shutil
from collections.abc import Iterator
from itertools import chain

from ipclab.errors import UsageError
from ipclab.frames.run_table import told_of_run
from ipclab.lab.runs import find
from ipclab.paths import Paths
from ipclab.session.request import check_label
from ipclab.store import run as folder
from ipclab.store.files import PART
from ipclab.store.record import reopened
from ipclab.store.run import RunFolder

COLUMNS = ("run", "machine", "label", "profile", "studies", "points", "MB", "state")


def runs_listed(paths: Paths) -> Iterator[dict[str, str]]:
    """Yield the columns of each run made or imported here, the newest first."""
    for run in chain(folder.every(paths.runs), folder.every(paths.imported)):
        told = told_of_run(run.id, run.about)
        size = sum(file.stat().st_size for file in run.path.rglob("*") if file.is_file())
        failed = len(run.about["failures"])
        state = f"{failed} failed" if failed else "complete"
        yield {
            **{name: told[name] for name in COLUMNS[:4]},
            "studies": ",".join(run.about["parameters"]["studies"]),
            "points": str(len(run.points())),
            "MB": f"{size / 1e6:.1f}",
            "state": state if run.finished else "unfinished",
        }


def mine(paths: Paths, name: str) -> RunFolder:
    """Return the run called `name`.

    Raises `UsageError` for one that is no folder below data/runs or data/imported.
    """
    path = find(paths, name)
    for run in folder.every(paths.imported):
        if run.id == name and not path.exists():
            path = run.path
    tops = {paths.runs.resolve(), paths.imported.resolve()}
    if path.exists() and tops.isdisjoint(path.resolve().parents):
        fix = "give a run below data/runs or data/imported: 'ipclab runs' lists them"
        raise UsageError(f"{name} is none of the runs here", "", fix)
    return folder.read_run(path)


def label(run: RunFolder, name: str) -> None:
    """Give `run` the label `name`, or take its own away where that is empty.

    Raises `UsageError` for a text that is no label, `LabError` while the run is being measured.
    """
    check_label(name)
    with reopened(run.path).held():
        now = reopened(run.path)
        now.about["parameters"].pop("label", None)
        if name:
            now.about["parameters"]["label"] = name
        now.save()


def delete(paths: Paths, run: RunFolder) -> None:
    """Remove `run`; what a kill leaves of it, `ipclab clean` removes.

    Raises `LabError` while it is being measured.
    """
    with reopened(run.path).held():
        paths.imported.mkdir(parents=True, exist_ok=True)
        going = run.path.rename(paths.imported / f"{run.id}{PART}")
        shutil.rmtree(going)
