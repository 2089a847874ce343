"""Two arms launched side by side: in turns where they can, else one by one."""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any, TypeVar

from ipclab.backends.native_shm import native_missing
from ipclab.errors import LabError, UsageError
from ipclab.frames import tails
from ipclab.spawn.failures import LostError
from ipclab.spawn.launcher import Launcher
from ipclab_more.ab.arms import Arm
from ipclab_more.ab.point import AtPoint, Wanted, in_turns
from ipclab_more.ab.trial import AGAIN, LIMITS, A, B, Round, TrialAnswer, one_by_one, trial

# Of the scheduler and the CPU alone; its mean, since a busy neighbour lengthens a few round trips.
LIMIT = "echo-pipe"
T = TypeVar("T")


def tried(
    arms: Sequence[Arm],
    launcher: Launcher,
    placement: str,
    deadline: float,
    seed: int | None,
    **effort: Any,
) -> TrialAnswer:
    """Return the answer of a `trial` of two `arms`; every launch ends within `deadline` seconds.

    `seed` is of the order of launches that take no turns, `effort` what `trial` is given. Raises
    `UsageError` for an arm that cannot be launched at all; the launch that shows this warms it up.
    """
    for arm in arms:
        try:
            _insisting(partial(arm.launch, launcher, deadline))
        except tails.FewSamplesError:
            raise
        except LabError as error:
            what = f"{arm.label} cannot be launched"
            raise UsageError(what, str(error), "see that it works by itself") from error
    first, second = arms
    by_name = {A: first, B: second, AGAIN: first}
    if not native_missing():
        placed = "cross" if placement == "cross" else "same"
        limit = Wanted("limits", LIMIT, placement=placed).prepared()
        by_name[LIMITS] = Arm(LIMIT, replace(limit, mean=True))
    points = {}
    for name, arm in by_name.items():
        # A program takes no turns, and a setting of the machine all would share.
        if isinstance(arm.launched, AtPoint) and not arm.setting:
            points[name] = arm.launched
    if points.keys() == by_name.keys():
        measured = partial(_round, points, launcher, deadline)
    else:
        launches = {name: partial(arm.launch, launcher, deadline) for name, arm in by_name.items()}
        measured = partial(one_by_one, launches, random.Random(seed))
    return trial(partial(_insisting, measured), launcher.renew_old, time.monotonic, **effort)


def _insisting(made: Callable[[], T]) -> T:
    """Return what `made` returns, and make it again where it was lost with its fork server.

    Raises `SessionError` when one server after the other is lost.
    """
    while True:
        with suppress(LostError):
            return made()


def _round(points: Mapping[str, AtPoint], launcher: Launcher, deadline: float) -> Round:
    """Return what all arms, and the limit if there is one, gave in turns."""
    contestants = {name: point.contestant for name, point in points.items()}
    launches = in_turns(contestants, launcher, deadline)
    turns = {name: points[name].turns(launch) for name, launch in launches.items()}
    if LIMITS in turns:
        turns[LIMITS] = [median(turns[LIMITS])]
    return turns
