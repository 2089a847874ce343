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
from ipclab.stats.family import HEAT_LOOKS

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


@dataclass
class Taken:
    """What was measured: a number of which less is better for each round by arm, and the limits.

    `turns` are the medians of its turns for each round by arm; none of programs.
    """

    values: Mapping[str, list[float]] = field(default_factory=lambda: {arm: [] for arm in ARMS})
    limits: list[float] = field(default_factory=list)
    turns: Mapping[str, list[Sequence[float]]] = field(
        default_factory=lambda: {arm: [] for arm in ARMS}
    )

    def add(self, heat: Mapping[str, Sequence[float]]) -> None:
        """Take a heat into account: of each arm, and of the limit, the medians of its turns."""
        for arm in ARMS:
            self.values[arm].append(median(heat[arm]))
            self.turns[arm].append(heat[arm])
        if LIMITS in heat:
            self.limits.append(median(heat[LIMITS]))

    def side(self, arm: str) -> Side:
        """Return an arm's whole rounds, which are compared round by round."""
        values, turns = self.values[arm][: self.rounds], self.turns[arm]
        heats = {}
        for number, value in enumerate(values):
            heats[number] = turns[number] if turns else [value]
        return Side(values, heats=heats)

    @property
    def rounds(self) -> int:
        """Return how many rounds are whole."""
        return min(map(len, self.values.values()))


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
    launch: Callable[[str], float],
    limit: Callable[[], float] | None,
    begin: Callable[[], None],
    clock: Callable[[], float],
    *,
    seconds: float,
    bound: float,
    seed: int,
    progress: Progress,
    heat: Callable[[], Mapping[str, Sequence[float]]] | None = None,
) -> Answer:
    """Make rounds until a look decides, or `seconds` are over, and return the answer.

    `launch` measures an arm once, `limit` the machine (None: it has none), `begin` makes ready for
    a round; `clock` gives seconds. `heat` measures all arms and the limit in turns, where they can
    take turns, and is called in their place. A `LabError` of theirs ends the trial undecided.
    `bound` (a share) is how much counts as the same.
    """
    taken, start, shuffle = Taken(), clock(), random.Random(seed)
    failure = ""
    progress.start("rounds", HEAT_LOOKS[-1])
    try:
        while taken.rounds < HEAT_LOOKS[-1] and clock() - start < seconds:
            begin()
            if heat:
                taken.add(heat())
            for arm in () if heat else shuffle.sample(ARMS, len(ARMS)):
                if limit:
                    taken.limits.append(limit())
                taken.values[arm].append(launch(arm))
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


def judged(taken: Taken, bound: float, seconds: float = 0.0, failure: str = "") -> Answer:
    """Return what the whole rounds of `taken` show; with a `failure` they decide nothing."""
    a, b, again = (taken.side(arm) for arm in ARMS)
    both = _together(a, again)
    half = len(taken.limits) // 2
    controls = {AGAIN: compare(a, again, len(ARMS), bound)}
    if half:
        halves = Side(taken.limits[:half]), Side(taken.limits[half:])
        controls[LIMITS] = compare(*halves, len(ARMS), bound)
    compared = compare(both, b, equivalence=bound)
    reason = failure or _doubt(compared, controls)
    verdict = UNDECIDED if reason else compared.verdict
    return Answer(verdict, reason, compared, controls, taken, bound, seconds)


def _together(a: Side, again: Side) -> Side:
    """Return A with A again: in each round the geometric mean of both, turn by turn."""
    heats = {
        number: np.sqrt(np.multiply(a.heats[number], again.heats[number])).tolist()
        for number in a.heats
    }
    return Side([*a.medians, *again.medians], heats=heats)


def _doubt(compared: Comparison, controls: Mapping[str, Comparison]) -> str:
    """Return why nothing is decided, or nothing."""
    changed = []
    for name, control in controls.items():
        if control.verdict in (FASTER, SLOWER):
            changed.append(CHANGED[name])
    if changed or compared.verdict in (FASTER, SLOWER, SAME):
        return "; ".join(changed)
    return REASONS.get(compared.reason, "there are too few launches for a test")
