"""The trial of two arms: interleaved rounds, looks at them, and what they show.

A round is one heat of A, B, A again and a limit of the machine, which take turns; programs, which
cannot, are launched next to each other, in random order, with a limit before each of them. B over A
is taken round by round. A again over A, and the limits of the second half over the first, are
negative controls: where either differs, something else than A and B changes the times, and nothing
is decided.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import median

import numpy as np

from ipclab.errors import LabError
from ipclab.session.progress import Progress
from ipclab.stats.compare import FASTER, SAME, SLOWER, UNDECIDED, Comparison, Side, compare
from ipclab.stats.family import HEAT_LOOKS

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
    a = [measured[A] for measured in rounds]
    b = [measured[B] for measured in rounds]
    again = [measured[AGAIN] for measured in rounds]
    # A with A again: in each round the geometric mean of both, turn by turn.
    both = []
    for first, second in zip(a, again, strict=True):
        both.append(np.sqrt(np.multiply(first, second)).tolist())
    controls = {}
    controls[AGAIN] = compare(_side(a), _side(again), len(ARMS), bound)
    of_rounds = [measured.get(LIMITS, ()) for measured in rounds]
    limits = list(chain.from_iterable(of_rounds))
    half = len(limits) // 2
    if half:
        early = Side(limits[:half])
        late = Side(limits[half:])
        controls[LIMITS] = compare(early, late, len(ARMS), bound)
    compared = compare(_side(both), _side(b), equivalence=bound)
    reason = failure or _doubt(compared, controls)
    verdict = UNDECIDED if reason else compared.verdict
    return TrialAnswer(verdict, reason, compared, controls, rounds, bound, seconds)


def _side(turns: Sequence[Sequence[float]]) -> Side:
    """Return what is compared round by round, by the medians of turns alone."""
    return Side([], heats={number: median(each) for number, each in enumerate(turns)})


def _doubt(compared: Comparison, controls: Mapping[str, Comparison]) -> str:
    """Return why nothing is decided, or nothing."""
    changed = []
    for name, control in controls.items():
        if control.verdict in (FASTER, SLOWER):
            changed.append(CHANGED[name])
    if changed or compared.verdict in (FASTER, SLOWER, SAME):
        return "; ".join(changed)
    return REASONS.get(compared.reason, "there are too few launches for a test")
