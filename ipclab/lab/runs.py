"""Which run is opened: the named one, else the one that answers most; and how it is called."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ipclab.errors import UsageError
from ipclab.frames.derived import STUDIES
from ipclab.lab import head
from ipclab.lab.shell import current, display
from ipclab.machine.origin import elsewhere
from ipclab.paths import Paths, typed
from ipclab.plugins import chosen, names
from ipclab.store import door
from ipclab.store import run as folder
from ipclab.store.bundle import opened
from ipclab.store.questions import PROFILE_NAMES
from ipclab.store.run import RunFolder

# Profiles that never stand for a measurement that was not asked for: one to try things with, and one
# that holds nothing but what the texts ran.
COARSE, AS_TEXTS = "smoke", "published"
NEWEST = "newest"
HINT = "ipclab-hint"  # marks what is said to who works in the notebook
# The studies of a full run: calibration is part of every run, and no parameter of one
FULL_RUN = {"limits", "payload", "shared_dict", "multiplexer", "round_trip", "file_io"}


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
        if path.is_file():
            return opened(paths, path)
        entered = folder.read_run(path)
        if entered.finished:  # one that is still being measured is not looked at as a whole
            door.check(entered)
        return entered
    if study:
        run = next(iter(best(paths, study)), None)
        if run is None:
            chosen("study", study, dict.fromkeys(names(STUDIES)))
    else:
        run = newest_full(paths) or newest_full(paths, COARSE)
    if run is None and paths.reference.is_file():
        run = opened(paths, paths.reference)
    if run is None:
        raise UsageError("there is no run yet", "", f"measure one: {typed('measure')}")
    if study and not holds(run, study):
        raise UsageError(f"no run holds {study}", "", f"measure it: ipclab measure --study {study}")
    return run


def run_named(paths: Paths, name: str, study: str = "") -> RunFolder:
    """Return the run `name`: a folder, a bundle, an id or a part of one here, or `newest`.

    The newest is the newest full one that was made here, else the newest complete one. An empty
    name is what `choose` takes it for. Raises `UsageError` for what is no run, or is in the ids of
    several.
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
        first = ", ".join(run.name for run in alike[:3])
        what = f"{name!r} is in the ids of {len(alike)} runs"
        raise UsageError(what, "", f"give more of {first}")
    return choose(paths, str(alike[0]) if alike else name, study)


def best(
    paths: Paths, study: str, asked: Callable[[RunFolder], int] = lambda run: 0
) -> list[RunFolder]:
    """Return the runs here that hold `study`, the best first.

    A run of this machine is better than another's, and one of any other profile than one of smoke
    or published; then decides how much of what is `asked` it answers (points), then how many points
    of the study it holds, its profile, and at last its date.
    """

    def rank(run: RunFolder) -> tuple[Any, ...]:
        place = PROFILE_NAMES.index(run.profile) if run.profile in PROFILE_NAMES else -1
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
    return run.finished and not swept and {*parameters["studies"]} >= FULL_RUN


def newest_full(paths: Paths, profile: str = "") -> RunFolder | None:
    """Return the newest full run made here under `profile`.

    When no profile is asked for, it is under any but the coarsest and that of the texts.
    """

    def wanted(run: RunFolder) -> bool:
        fits = run.profile == profile if profile else run.profile not in (COARSE, AS_TEXTS)
        return fits and full(run)

    return folder.newest(paths.runs, wanted)


def run_hint(paths: Paths, run: RunFolder, asked: str, study: str) -> str:
    """Return how an opened run is called that was `asked` for, and what tells more than it."""
    rivals = best(paths, study) if study and not asked else []
    name = runs_called(rivals or [run])
    if asked or full(run):
        return name
    fuller = newest_full(paths)
    more = f": run = {str(fuller.path)!r} opens the newest full run" if fuller else ""
    return f"{name}; a sweep{more}"


def runs_called(runs: Sequence[RunFolder]) -> str:
    """Return how the first of `best`'s runs is called, and the newest where it is another."""
    chosen = _named(runs[0])
    newest = max(runs, key=lambda run: run.date)
    return chosen if newest is runs[0] else f"{chosen}; the newest, {_named(newest)}, tells less"


def _named(run: RunFolder) -> str:
    return f"{run.id} ({run.profile}, {run.about['begun'][:10]})"


def show_hint(text: str, run: RunFolder) -> None:
    """Tell who works in the notebook what no report shows, else print it.

    What the head of a page says of the run is beside it.
    """
    if current() is None:
        print(text, file=sys.stderr)
    else:
        display({"text/plain": text}, {HINT: head.about(run)})
