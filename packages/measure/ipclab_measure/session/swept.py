"""What a notebook's sweep calls: the entry point `sweep`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ipclab.paths import checkout
from ipclab.store.point import Level
from ipclab.store.run import RunFolder
from ipclab_measure.session.alone import alone
from ipclab_measure.session.progress import Progress
from ipclab_measure.session.request import Request
from ipclab_measure.session.session import measure
from ipclab_measure.studies.interface import Sweep


def sweep(
    studies: Sequence[str],
    profile: str,
    sizes: Sequence[int],
    backends: Sequence[str],
    levels: Mapping[str, tuple[Level, ...]],
    seed: int,
    run: str,
) -> RunFolder:
    """Measure what `Lab.sweep` is asked for and return its run; a negative `seed` is any."""
    request = Request(
        tuple(studies),
        profile,
        Path(run) if run else None,
        None if seed < 0 else seed,
        Sweep(tuple(sizes) or None, tuple(backends) or None, levels),
    )
    progress = Progress(shown=True)
    with alone(progress.say):
        return measure(checkout(), request, progress)
