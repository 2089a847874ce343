"""What a notebook's sweep calls: the entry point `sweep`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ipclab.errors import UsageError
from ipclab.machine import Source, collect
from ipclab.paths import checkout
from ipclab.session.alone import alone
from ipclab.session.asked_run import measured_before
from ipclab.session.progress import Progress
from ipclab.session.request import PARAMETERS, Request
from ipclab.session.session import measure_run
from ipclab.store.point import Level
from ipclab.store.run import RunFolder
from ipclab.studies.interface import Sweep


def sweep(
    studies: Sequence[str],
    profile: str,
    sizes: Sequence[int],
    backends: Sequence[str],
    levels: Mapping[str, tuple[Level, ...]],
    seed: int,
    run: str,
) -> RunFolder:
    """Measure what `Lab.sweep` is asked for and return its run; a negative `seed` is any.

    A notebook is executed again and again: what the same code has measured here for the same request
    is opened, not measured once more, unless a run or a seed is named.

    Raises `UsageError` for what cannot be measured, in the words of a notebook, and when papermill
    gave the notebook that calls a parameter it does not have.
    """
    for name in levels:
        if name in PARAMETERS:
            raise UsageError(f"{name} is no factor", "", f"give {PARAMETERS[name]}= instead")
    request = Request(
        tuple(studies),
        profile,
        Path(run) if run else None,
        None if seed < 0 else seed,
        Sweep(tuple(sizes) or None, tuple(backends) or None, levels),
    )
    request.points_wanted()  # what cannot be measured is told before another session is waited for
    progress, paths = Progress(shown=True), checkout()
    with alone(progress.say):
        if not run and seed < 0:
            machine = collect(Source(paths=paths))
            if found := measured_before(paths, request, machine):
                progress.say(
                    f"measured before, by the same code; delete {found.path} to measure anew"
                )
                return found
        return measure_run(paths, request, progress)
