"""The trial of two arms: interleaved rounds, looks at them, and what they show.

A round launches A, B and A again once each, in random order, and a limit of the machine before each of them. A again
over A, and the limits of the second half over the first, are negative controls: where either differs, something else
than A and B changes the times, and nothing is decided.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ipclab.errors import LabError
from ipclab.measure.progress import Progress
from ipclab.stats.compare import FASTER, SAME, SLOWER, UNDECIDED, Comparison, Side, compare
from ipclab.stats.family import LOOKS

A, B, AGAIN = ARMS = "A", "B", "A again"
LIMITS = "limits"
EXIT = {FASTER: 0, SAME: 0, SLOWER: 1, UNDECIDED: 3}
CHANGED = {
    AGAIN: "A again differs from A: something other than A and B changes the times",
    LIMITS: "the machine's limits differ between the first and the second half: the machine changed meanwhile",
}
REASONS = {
    "no-variance": "all launches of an arm gave the same number, which no test of scatter can judge",
    "wide-interval": "the interval holds 1 and leaves the bound",
}


@dataclass
class Taken:
    """What was measured: a time (or another number of which less is better) for each round by arm, and the limits."""

    values: Mapping[str, list[float]] = field(default_factory=lambda: {arm: [] for arm in ARMS})
    limits: list[float] = field(default_factory=list)

    @property
    def rounds(self) -> int:
        """Return how many rounds are whole."""
        return min(map(len, self.values.values()))


@dataclass(frozen=True)
class Answer:
    """What a trial showed: `verdict` of B over A (faster, slower, same, undecided) and, if undecided, the `reason`.

    `found` compares B with all launches of A, `controls` A again with A and the halves of the limits.
    """

    verdict: str
    reason: str
    found: Comparison
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
) -> Answer:
    """Make rounds until a look decides, or `seconds` are over, and return the answer.

    `launch` measures an arm once, `limit` the machine (None: it has none), `begin` makes ready for a round; `clock`
    gives seconds. A `LabError` of theirs ends the trial undecided. `bound` (a share) is how much counts as the same.
    """
    taken, start, shuffle = Taken(), clock(), random.Random(seed)
    progress.start("rounds", LOOKS[-1])
    try:
        while taken.rounds < LOOKS[-1] and clock() - start < seconds:
            begin()
            for arm in shuffle.sample(ARMS, len(ARMS)):
                taken.limits += [limit()] if limit else []
                taken.values[arm].append(launch(arm))
            progress.step()
            if taken.rounds in LOOKS and (answer := judged(taken, bound, clock() - start)).verdict != UNDECIDED:
                return answer
    except LabError as error:
        return judged(taken, bound, clock() - start, str(error))
    finally:
        progress.end()
    return judged(taken, bound, clock() - start)


def judged(taken: Taken, bound: float, seconds: float = 0.0, failure: str = "") -> Answer:
    """Return what the whole rounds of `taken` show; with a `failure` they decide nothing."""
    rounds = range(taken.rounds)
    a, b, again = (Side(taken.values[arm][: len(rounds)], rounds=rounds) for arm in ARMS)
    every = Side([*a.medians, *again.medians], rounds=[*rounds, *rounds])
    half = len(taken.limits) // 2
    controls = {AGAIN: compare(a, again, len(ARMS), bound)}
    if half:
        controls[LIMITS] = compare(Side(taken.limits[:half]), Side(taken.limits[half:]), len(ARMS), bound)
    found = compare(every, b, equivalence=bound)
    reason = failure or _doubt(found, controls)
    return Answer(UNDECIDED if reason else found.verdict, reason, found, controls, taken, bound, seconds)


def _doubt(found: Comparison, controls: Mapping[str, Comparison]) -> str:
    """Return why nothing is decided, or nothing."""
    changed: Sequence[str] = [CHANGED[name] for name, each in controls.items() if each.verdict in (FASTER, SLOWER)]
    if changed or found.verdict in (FASTER, SLOWER, SAME):
        return "; ".join(changed)
    return REASONS.get(found.reason, "there are too few launches for a test")
