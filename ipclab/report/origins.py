"""A line for each run that was not measured here."""

from collections.abc import Iterable

from ipclab.machine.origin import elsewhere, processor
from ipclab.store.run import RunFolder


def origin_lines(runs: Iterable[RunFolder]) -> list[str]:
    """Return a line for each run that was not measured here: its machine, its date, its name."""
    return [
        f"not measured here, but on {processor(run)} (machine {run.machine})"
        f" on {run.about['begun'][:10]}: {run.id}"
        for run in runs
        if elsewhere(run)
    ]
