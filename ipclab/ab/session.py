"""The session of a trial: its launches by one launcher, which a person's wrong command does not outlive."""

import time
from collections.abc import Sequence

import numpy as np

from ipclab.ab.arms import Arm
from ipclab.ab.point import Wanted
from ipclab.ab.trial import AGAIN, A, Answer, B, trial
from ipclab.backends.native_shm import missing
from ipclab.errors import LabError, UsageError
from ipclab.measure.progress import Progress
from ipclab.spawn.launcher import Launcher

LIMIT = "echo-pipe"  # of the scheduler and the CPU alone; its mean, since a busy neighbour lengthens a few round trips


def tried(
    arms: Sequence[Arm],
    launcher: Launcher,
    placement: str,
    deadline: float,
    seconds: float,
    bound: float,
    seed: int,
    progress: Progress,
) -> Answer:
    """Return the answer of a trial of two `arms`; every launch ends within `deadline` seconds.

    Raises `UsageError` for an arm that cannot be launched at all; the launch that shows this warms it up.
    """
    for arm in arms:
        try:
            arm.launch(launcher, deadline)
        except LabError as error:
            raise UsageError(f"{arm.label} cannot be launched", str(error), "see that it works by itself") from error
    named = dict(zip((A, B, AGAIN), (*arms, arms[0]), strict=True))
    limit = None
    if not missing():
        native = Wanted("limits", LIMIT, placement=placement if placement == "cross" else "same").made(np.mean)
        limit = lambda: native(launcher, deadline)  # noqa: E731
    return trial(
        lambda name: named[name].launch(launcher, deadline),
        limit,
        launcher.renew,
        time.monotonic,
        seconds=seconds,
        bound=bound,
        seed=seed,
        progress=progress,
    )
