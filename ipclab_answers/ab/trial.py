"""The trial of two arms: interleaved rounds, looks at them, and what they show.

A round is one heat of A, B, A again and a limit of the machine, which take turns; programs, which
cannot, are launched next to each other, in random order, with a limit before each of them. B over A
is taken round by round. A again over A, and the limits of the second half over the first, are
negative controls: where either differs, something else than A and B changes the times, and nothing
is decided.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

import numpy as np

from ipclab.errors import LabError
from ipclab.measure.progress import Progress
from ipclab.stats.compare import (
    FASTER,
    SAME,
    SLOWER,
    UNDECIDED,
    Comparison,
    Side,
    compare,
)
from ipclab.stats.looks import HEAT_LOOKS

A, B, AGAIN = ARMS = "A", "B", "A again"
LIMITS = "limits"
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
# What a round measured of each arm, one number for each of its turns, and of the limits, if any.
Round = Mapping[str, Sequence[float]]


@dataclass
class Taken:
    """What was measured, of which less is better: the turns of each round by arm, and the limits.

    What takes no turns has one number for each round.
    """

    turns: Mapping[str, list[Sequence[float]]] = field(
        default_factory=lambda: {arm: [] for arm in ARMS}
    )
    limits: list[float] = field(default_factory=list)

    def add(self, measured: Round) -> None:
        """Take a round into account."""
        for arm in ARMS:
            self.turns[arm].append(measured[arm])
        self.limits.extend(measured.get(LIMITS, ()))

    def values(self, arm: str) -> list[float]:
        """Return the number of an arm in each round."""
        return [median(turns) for turns in self.turns[arm]]

    @property
    def rounds(self) -> int:
        """Return how many rounds there are."""
        return len(self.turns[A])


@dataclass(frozen=True)
class Answer:
    """What a trial showed: `verdict` of B over A and, if undecided, the `reason`.

    `compared` compares B with all launches of A, `controls` A again with A and the halves of the
    limits.
    """

    verdict: str
    reason: str
    compared: Comparison
    controls: Mapping[str, Comparison]
    taken: Taken
    bound: float
    seconds: float = 0.0

    @property
    def exit_code(self) -> int:
        """Return 0 for the same or faster, 1 for slower, 3 for undecided."""
        return EXIT[self.verdict]


def trial(
    measured: Callable[[], Round],
    begin: Callable[[], None],
    clock: Callable[[], float],
    *,
    seconds: float,
    bound: float,
    progress: Progress,
) -> Answer:
    """Make rounds until a look decides, or `seconds` are over, and return the answer.

    `begin` makes ready for a round, `measured` returns what it gave; `clock` gives seconds. A
    `LabError` of theirs ends the trial undecided. `bound` (a share) is how much counts as the same.
    """
    taken = Taken()
    start = clock()
    failure = ""
    progress.start("rounds", HEAT_LOOKS[-1])
    try:
        while taken.rounds < HEAT_LOOKS[-1] and clock() - start < seconds:
            begin()
            taken.add(measured())
            progress.step()
            if taken.rounds in HEAT_LOOKS:
                answer = judged(taken, bound, clock() - start)
                if answer.verdict != UNDECIDED:
                    return answer
    except LabError as error:
        failure = str(error)
    finally:
        progress.end()
    return judged(taken, bound, clock() - start, failure)


def one_by_one(
    launch: Callable[[str], float], limited: bool, seed: int | None
) -> Callable[[], Round]:
    """Return what makes a round of arms that cannot take turns, in a random order from `seed`.

    `launch` measures one of them once; if `limited`, the limits are measured before each of them.
    """
    shuffle = random.Random(seed)

    def measured() -> Round:
        numbers: dict[str, list[float]] = {LIMITS: []}
        for arm in shuffle.sample(ARMS, len(ARMS)):
            if limited:
                numbers[LIMITS].append(launch(LIMITS))
            numbers[arm] = [launch(arm)]
        return numbers

    return measured


def judged(taken: Taken, bound: float, seconds: float = 0.0, failure: str = "") -> Answer:
    """Return what the rounds of `taken` show; with a `failure` they decide nothing."""
    a, b, again = (taken.turns[arm] for arm in ARMS)
    # A with A again: in each round the geometric mean of both, turn by turn.
    both = []
    for first, second in zip(a, again, strict=True):
        both.append(np.sqrt(np.multiply(first, second)).tolist())
    controls = {AGAIN: compare(_side(a), _side(again), len(ARMS), bound)}
    half = len(taken.limits) // 2
    if half:
        halves = Side(taken.limits[:half]), Side(taken.limits[half:])
        controls[LIMITS] = compare(*halves, len(ARMS), bound)
    compared = compare(_side(both), _side(b), equivalence=bound)
    reason = failure or _doubt(compared, controls)
    verdict = UNDECIDED if reason else compared.verdict
    return Answer(verdict, reason, compared, controls, taken, bound, seconds)


def _side(rounds: Sequence[Sequence[float]]) -> Side:
    """Return what is compared round by round, by the medians of turns alone."""
    return Side([], heats=dict(enumerate(rounds)))


def _doubt(compared: Comparison, controls: Mapping[str, Comparison]) -> str:
    """Return why nothing is decided, or nothing."""
    changed = []
    for name, control in controls.items():
        if control.verdict in (FASTER, SLOWER):
            changed.append(CHANGED[name])
    if changed or compared.verdict in (FASTER, SLOWER, SAME):
        return "; ".join(changed)
    return REASONS.get(compared.reason, "there are too few launches for a test")
