"""The trial of two arms: interleaved rounds, looks at them, and what they show.

A round is one heat of A, B, A again and a limit of the machine, which take turns; programs, which
cannot, are launched next to each other, in random order, with a limit before each of them. B over A
is taken round by round. A again over A, and the limits of the second half over the first, are
negative controls: where either differs, something else than A and B changes the times, and nothing
is decided.
"""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from statistics import median
from typing import Any, TypeVar

import numpy as np

from ipclab.backends.native_shm import native_missing
from ipclab.errors import LabError, UsageError
from ipclab.session.progress import Progress
from ipclab.spawn.failures import LostError
from ipclab.spawn.launcher import Launcher
from ipclab.stats.compare import FASTER, SAME, SLOWER, UNDECIDED, Comparison, Side, compare
from ipclab.stats.family import HEAT_LOOKS
from ipclab_more.ab.arms import Arm
from ipclab_more.ab.point import AtPoint, at_point, in_turns

# Of the scheduler and the CPU alone; its mean, since a busy neighbour lengthens a few round trips.
LIMIT = "echo-pipe"
T = TypeVar("T")
A, B, AGAIN = ARMS = "A", "B", "A again"
LIMITS = "limits"
# The exit codes of verdicts.
EXIT = {FASTER: 0, SAME: 0, SLOWER: 1, UNDECIDED: 3}
CHANGED = {
    AGAIN: "A again differs from A: something other than A and B changes the times",
    LIMITS: "the machine's limits differ between the first and the second half: "
    "the machine changed meanwhile",
}
REASONS = {
    "no-variance": "all launches of an arm gave the same number, "
    "which no test of scatter can judge",
    "wide-interval": "the interval holds 1 and leaves the bound",
}
# What a round measured of each arm, one number for each of its turns, and of the limits, if any:
# less is better. What takes no turns has one number.
Round = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class TrialAnswer:
    """What a trial showed: `verdict` of B over A and, if undecided, the `reason`.

    `compared` compares B with all launches of A, `controls` A again with A and the halves of the
    limits.
    """

    verdict: str
    reason: str
    compared: Comparison
    controls: Mapping[str, Comparison]
    rounds: Sequence[Round]
    bound: float
    seconds: float = 0.0


def trial(
    measured: Callable[[], Round],
    begin: Callable[[], None],
    clock: Callable[[], float],
    *,
    seconds: float,
    bound: float,
    progress: Progress,
) -> TrialAnswer:
    """Make rounds until a look decides, or `seconds` are over, and return the answer.

    `begin` makes ready for a round, `measured` returns what it gave; `clock` gives seconds. A
    `LabError` of theirs ends the trial undecided. `bound` (a share) is how much counts as the same.
    """
    rounds = list[Round]()
    start = clock()
    failure = ""
    progress.start("rounds", HEAT_LOOKS[-1])
    try:
        while len(rounds) < HEAT_LOOKS[-1] and clock() - start < seconds:
            begin()
            rounds.append(measured())
            progress.step()
            if len(rounds) in HEAT_LOOKS:
                answer = trial_judged(rounds, bound, clock() - start)
                if answer.verdict != UNDECIDED:
                    return answer
    except LabError as error:
        failure = str(error)
    finally:
        progress.end()
    return trial_judged(rounds, bound, clock() - start, failure)


def one_by_one(launches: Mapping[str, Callable[[], float]], shuffle: random.Random) -> Round:
    """Return what a round of arms gave that cannot take turns, in random order.

    `launches` measure each of them once, and the limits, if any, before each of them.
    """
    numbers: dict[str, list[float]] = {LIMITS: []}
    for arm in shuffle.sample(ARMS, len(ARMS)):
        if LIMITS in launches:
            numbers[LIMITS].append(launches[LIMITS]())
        numbers[arm] = [launches[arm]()]
    return numbers


def trial_judged(
    rounds: Sequence[Round], bound: float, seconds: float = 0.0, failure: str = ""
) -> TrialAnswer:
    """Return what `rounds` show; with a `failure` they decide nothing."""
    a, b, again = ([measured[arm] for measured in rounds] for arm in (A, B, AGAIN))
    # A with A again: in each round the geometric mean of both, turn by turn.
    both = [np.sqrt(np.multiply(*pair)).tolist() for pair in zip(a, again, strict=True)]
    controls = {AGAIN: compare(_side(a), _side(again), len(ARMS), bound)}
    limits = list(chain.from_iterable(measured.get(LIMITS, ()) for measured in rounds))
    if half := len(limits) // 2:
        controls[LIMITS] = compare(Side(limits[:half]), Side(limits[half:]), len(ARMS), bound)
    compared = compare(_side(both), _side(b), equivalence=bound)
    reason = failure or _doubt(compared, controls)
    verdict = UNDECIDED if reason else compared.verdict
    return TrialAnswer(verdict, reason, compared, controls, rounds, bound, seconds)


def _side(turns: Sequence[Sequence[float]]) -> Side:
    """Return what is compared round by round, by the medians of turns alone."""
    return Side([], heats={number: median(each) for number, each in enumerate(turns)})


def _doubt(compared: Comparison, controls: Mapping[str, Comparison]) -> str:
    """Return why nothing is decided, or nothing."""
    changed = [CHANGED[name] for name in controls if controls[name].verdict in (FASTER, SLOWER)]
    if changed or compared.verdict in (FASTER, SLOWER, SAME):
        return "; ".join(changed)
    return REASONS.get(compared.reason, "there are too few launches for a test")


def tried(
    arms: Sequence[Arm], launcher: Launcher, placement: str, deadline: float, **allowed: Any
) -> TrialAnswer:
    """Return the answer of a `trial` of two `arms`; every launch ends within `deadline` seconds.

    `allowed` is what `trial` is given. Raises `UsageError` for an arm that cannot be launched at
    all; the launch that shows this warms it up.
    """
    for arm in arms:
        try:
            _insisting(partial(arm.launch, launcher, deadline))
        except LabError as error:
            what = f"{arm.label} cannot be launched"
            raise UsageError(what, str(error), "see that it works by itself") from error
    by_name = {A: arms[0], B: arms[1], AGAIN: arms[0]}
    if not native_missing():
        placed = "cross" if placement == "cross" else "same"
        limit = at_point("limits", LIMIT, placement=placed)
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
        measured = partial(one_by_one, launches, random.Random())
    return trial(partial(_insisting, measured), launcher.renew_old, time.monotonic, **allowed)


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
