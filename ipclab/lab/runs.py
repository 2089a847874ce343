"""Which run a notebook opens: the named one, else the one that answers most of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ipclab.errors import UsageError
from ipclab.frames.derived import STUDIES
from ipclab.machine.origin import elsewhere
from ipclab.paths import Paths, typed
from ipclab.plugins import chosen, names
from ipclab.store import door
from ipclab.store import run as folder
from ipclab.store.bundle import opened
from ipclab.store.questions import PROFILES
from ipclab.store.run import RunFolder

# Profiles that never stand for a measurement that was not asked for: one to try things with, and one
# that holds nothing but what the texts ran.
COARSE, AS_TEXTS = "smoke", "published"
# calibration is part of every run, and no parameter of one
SWEPT = {"limits", "payload", "shared_dict", "multiplexer", "round_trip", "file_io"}


def find(paths: Paths, name: str) -> Path:
    """Return where the run `name` (folder, bundle or id) lies, or would lie if it is new."""
    parents = (Path(), paths.home, paths.root, *paths.runs.glob("*"))
    places = [parent / name for parent in parents]
    return next(filter(Path.exists, places), paths.home / name)


def choose(paths: Paths, name: str = "", study: str = "") -> RunFolder:
    """Return the run that is called `name` (a folder, a bundle or an id).

    Without a name the best here that holds `study` is meant (see `best`), without a study the
    newest full run (all studies at their own levels, finished), and without any of these the
    reference. Raises `UsageError` when there is none, or it does not hold the study that no run
    here holds.
    """
    if name:
        path = find(paths, name)
        return opened(paths, path) if path.is_file() else entered(path)
    if study:
        run = next(iter(best(paths, study)), None)
        if run is None and (known := names(STUDIES)):
            chosen("study", study, dict.fromkeys(known))
    else:
        run = newest_full(paths) or newest_full(paths, COARSE)
    if run is None and paths.reference.is_file():
        run = opened(paths, paths.reference)
    if run is None:
        raise UsageError("there is no run yet", "", f"measure one: {typed('measure')}")
    if study and not holds(run, study):
        raise UsageError(f"no run holds {study}", "", f"measure it: ipclab measure --study {study}")
    return run


def entered(path: Path) -> RunFolder:
    """Return the run in folder `path`, looked at as a whole unless it is still being measured."""
    run = folder.read_run(path)
    if run.finished:
        door.check(run)
    return run


def best(
    paths: Paths, study: str, asked: Callable[[RunFolder], int] = lambda run: 0
) -> list[RunFolder]:
    """Return the runs here that hold `study`, the best first.

    A run of this machine is better than another's, and one of any other profile than one of smoke
    or published; then decides how much of what is `asked` it answers (points), then how many points
    of the study it holds, its profile, and at last its date.
    """

    def rank(run: RunFolder) -> tuple[Any, ...]:
        place = PROFILES.index(run.profile) if run.profile in PROFILES else -1
        ours = not elsewhere(run)
        count = len(run.points(study))
        own = run.profile not in (COARSE, AS_TEXTS)
        return ours, own, asked(run), count, place, run.date

    rivals = [run for run in folder.every(paths.runs) if holds(run, study)]
    return sorted(rivals, key=rank, reverse=True)


def holds(run: RunFolder, study: str) -> bool:
    """Tell whether a run has finished points of `study`."""
    return run.finished and bool(run.points(study))


def full(run: RunFolder) -> bool:
    """Tell whether a run is finished and holds the studies of all texts at their own levels.

    Points of it may have failed.
    """
    parameters = run.about["parameters"]
    swept = any(parameters.get(name) for name in ("sizes", "backends", "levels"))
    return (
        run.finished
        and not swept
        and set(parameters["studies"]) >= (SWEPT & {*names(STUDIES)} or SWEPT)
    )


def newest_full(paths: Paths, profile: str = "") -> RunFolder | None:
    """Return the newest full run made here under `profile`.

    When no profile is asked for, it is under any but the coarsest and that of the texts.
    """

    def wanted(run: RunFolder) -> bool:
        fits = run.profile == profile if profile else run.profile not in (COARSE, AS_TEXTS)
        return fits and full(run)

    return folder.newest(paths.runs, wanted)
