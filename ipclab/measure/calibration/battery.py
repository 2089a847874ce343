"""The plan of a calibration and what follows from its launches; no I/O.

Two arms are identical code, the others are slower by a planted share of the round trip. All arms are launched once in a
round, in a seeded random order; every second round runs the order of the one before backwards (A B B A), which takes
out a drift that goes one way.
"""

import random
from collections.abc import Iterator, Mapping, Sequence

from ipclab.measure.calibration.result import Alarms, Tally
from ipclab.stats.compare import FASTER, SLOWER, Side, by_round, compare
from ipclab.stats.rates import rate_interval

PLANTED = (0.10, 0.20, 0.50)
FIRST, SECOND = "first", "second"
ARMS: Mapping[str, float] = {FIRST: 0.0, SECOND: 0.0, **{f"{share:.2f}": share for share in PLANTED}}
ROUNDS = 20  # of a trial: as many launches of each side are compared, below 1 s on one CPU
FEW = 3  # one in so many launches against the others: unequal numbers
FOUND = 0.95

Medians = dict[str, list[float]]


def orders(rounds: int, seed: int) -> Iterator[list[str]]:
    """Yield the order of the arms in each of `rounds` rounds."""
    shuffle = random.Random(seed)
    order = list(ARMS)
    for number in range(rounds):
        if number % 2:
            order = order[::-1]
        else:
            shuffle.shuffle(order)
        yield list(order)


def trials(medians: Medians) -> Iterator[Medians]:
    """Yield the launches of each whole trial: arm -> medians in ns of its consecutive rounds."""
    whole = min(len(values) for values in medians.values()) // ROUNDS
    for number in range(whole):
        yield {arm: values[number * ROUNDS : (number + 1) * ROUNDS] for arm, values in medians.items()}


def tally(medians: Medians) -> Tally:
    """Return how often identical code was called different, and how often each planted slow-down was found.

    Identical code is compared between the two arms without a delay, and within every arm: each third launch against
    the others, which are unequal numbers.
    """
    alarms: list[bool] = []
    hits: dict[str, list[bool]] = {arm: [] for arm, share in ARMS.items() if share}
    for trial in trials(medians):
        alarms.append(_verdict(trial[FIRST], trial[SECOND]) in (FASTER, SLOWER))
        for values in trial.values():
            rest = [value for place, value in enumerate(values) if place % FEW]
            alarms.append(compare(Side(values[::FEW]), Side(rest)).verdict in (FASTER, SLOWER))
        for arm, found in hits.items():
            found.append(_verdict(trial[FIRST], trial[arm]) == SLOWER)
    counts = {arm: sum(found) for arm, found in hits.items()}
    number = len(next(iter(hits.values())))
    return Tally(number, len(alarms), sum(alarms), counts, smallest(counts, number))


def _verdict(first: Sequence[float], second: Sequence[float]) -> str:
    return compare(*by_round(Side(first), Side(second))).verdict


def smallest(found: Mapping[str, int], number: int) -> float | None:
    """Return the smallest planted share from which on every one was found in at least 95 % of `number` trials."""
    result = None
    for arm in sorted(found, key=lambda arm: ARMS[arm], reverse=True):
        if not number or found[arm] < FOUND * number:
            break
        result = ARMS[arm]
    return result


def false_alarms(tallies: Sequence[Tally]) -> Alarms:
    """Return the false alarms over all placements."""
    comparisons, flagged = sum(each.comparisons for each in tallies), sum(each.false_alarms for each in tallies)
    upper = rate_interval(flagged, comparisons)[1]
    return {"comparisons": comparisons, "flagged": flagged, "share": flagged / comparisons, "upper": upper}
