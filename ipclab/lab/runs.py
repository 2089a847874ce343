"""Which run a notebook opens: the one that is named, else the newest that holds what is asked for."""

from pathlib import Path

from ipclab.errors import UsageError
from ipclab.paths import Paths
from ipclab.store import run as folder
from ipclab.store.bundle import opened
from ipclab.store.run import RunFolder
from ipclab.studies.calibration import CalibrationStudy
from ipclab.studies.installed import ORDER

COARSE = "smoke"  # a profile to try things with: it never stands for a measurement that was not asked for

SWEPT = set(ORDER) - {CalibrationStudy.name}  # which is part of every run, and no parameter of one


def find(paths: Paths, name: str) -> Path:
    """Return where the run called `name` (a folder, a bundle or an id) lies, or would lie when there is none."""
    places = (Path(name), paths.root / name, *(machine / name for machine in paths.runs.glob("*")))
    return next(filter(Path.exists, places), paths.root / name)


def choose(paths: Paths, name: str = "", study: str = "") -> RunFolder:
    """Return the run that is called `name` (a folder, a bundle or an id).

    Without a name the newest here that holds `study` is meant, without a study the newest full run (all studies at
    their own levels, finished), and without any of these the reference.
    Raises `UsageError` when there is none.
    """
    if name:
        path = find(paths, name)
        return opened(paths, path) if path.is_file() else folder.read(path)
    if study:
        found = folder.newest(paths.runs, lambda run: holds(run, study))
    else:
        found = newest_full(paths) or newest_full(paths, COARSE)
    if found is None and paths.reference.is_file():
        found = opened(paths, paths.reference)
    if found is None:
        raise UsageError("there is no run yet", "", "measure one: make measure")
    return found


def holds(run: RunFolder, study: str) -> bool:
    """Tell whether a run has finished points of `study`."""
    return run.finished and any(name.startswith(f"points/{study}/") for name in run.about["files"])


def full(run: RunFolder) -> bool:
    """Tell whether a run holds every study of ours at its own levels, and is finished; points of it may have failed."""
    parameters = run.about["parameters"]
    swept = any(parameters.get(name) for name in ("sizes", "backends", "levels"))
    return run.finished and not swept and set(parameters["studies"]) >= SWEPT


def newest_full(paths: Paths, profile: str = "") -> RunFolder | None:
    """Return the newest full run made here under `profile`, or, when none is asked for, under any but the coarsest."""

    def wanted(run: RunFolder) -> bool:
        made = run.about["parameters"]["profile"]
        return full(run) and (made == profile if profile else made != COARSE)

    return folder.newest(paths.runs, wanted)
