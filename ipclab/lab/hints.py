"""What is told to who works in a notebook, and no report shows: which run is open."""

import sys
from collections.abc import Sequence

from ipclab.lab import head
from ipclab.lab.runs import best, full, newest_full
from ipclab.lab.shell import current, display
from ipclab.paths import Paths
from ipclab.store.run import RunFolder

HINT = "ipclab-hint"  # marks what is said to who works in the notebook


def run_hint(paths: Paths, run: RunFolder, asked: str, study: str) -> str:
    """Return how an opened run is called that was `asked` for, and what tells more than it."""
    rivals = best(paths, study) if study and not asked else []
    name = runs_called(rivals or [run])
    if asked or full(run):
        return name
    fuller = newest_full(paths)
    if fuller is None:
        return f"{name}; a sweep"
    return f"{name}; a sweep: run = {str(fuller.path)!r} opens the newest full run"


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
