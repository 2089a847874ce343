"""Two arms launched side by side: in turns where they can, else one by one."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from ipclab.backends.native_shm import missing
from ipclab.errors import LabError, UsageError
from ipclab.frames import tails
from ipclab.spawn.launcher import Launcher
from ipclab_answers.ab.arms import Arm
from ipclab_answers.ab.point import AtPoint, Wanted, in_turns
from ipclab_answers.ab.trial import AGAIN, LIMITS, A, Answer, B, Round, one_by_one, trial

# Of the scheduler and the CPU alone; its mean, since a busy neighbour lengthens a few round trips.
LIMIT = "echo-pipe"


def tried(
    arms: Sequence[Arm],
    launcher: Launcher,
    placement: str,
    deadline: float,
    seed: int | None,
    **effort: Any,
) -> Answer:
    """Return the answer of a `trial` of two `arms`; every launch ends within `deadline` seconds.

    `seed` is of the order of launches that take no turns, `effort` what `trial` is given. Raises
    `UsageError` for an arm that cannot be launched at all; the launch that shows this warms it up.
    """
    for arm in arms:
        try:
            arm.launch(launcher, deadline)
        except tails.FewSamplesError:
            raise
        except LabError as error:
            what = f"{arm.label} cannot be launched"
            raise UsageError(what, str(error), "see that it works by itself") from error
    first, second = arms
    by_name = {A: first, B: second, AGAIN: first}
    if not missing():
        placed = "cross" if placement == "cross" else "same"
        limit = Wanted("limits", LIMIT, placement=placed).prepared()
        by_name[LIMITS] = Arm(LIMIT, replace(limit, mean=True))
    measured = _taking_turns(by_name, launcher, deadline)
    if measured is None:

        def launch(name: str) -> float:
            return by_name[name].launch(launcher, deadline)

        measured = one_by_one(launch, LIMITS in by_name, seed)
    return trial(measured, launcher.renew_old, time.monotonic, **effort)


def _taking_turns(
    by_name: Mapping[str, Arm], launcher: Launcher, deadline: float
) -> Callable[[], Round] | None:
    """Return what measures all arms, and the limit if there is one, in turns.

    None where an arm is a program, or has a setting of the machine, which all would share.
    """
    points = {}
    for name, arm in by_name.items():
        if not isinstance(arm.launched, AtPoint) or arm.setting:
            return None
        points[name] = arm.launched
    contestants = {name: point.contestant for name, point in points.items()}

    def measured() -> Round:
        launches = in_turns(contestants, launcher, deadline)
        turns = {name: points[name].turns(launch) for name, launch in launches.items()}
        if LIMITS in turns:
            turns[LIMITS] = [median(turns[LIMITS])]
        return turns

    return measured
