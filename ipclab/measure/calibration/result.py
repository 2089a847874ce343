"""What calibrating launches say of comparisons: the plan, what follows from the medians, and the file that keeps it.

Two arms are identical code, the others are slower by a planted share of the round trip. All arms are launched once in a
round, in a seeded random order; every second round runs the order of the one before backwards (A B B A), which takes
out a drift that goes one way.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypedDict

import msgspec
from msgspec import Meta, Struct

from ipclab.errors import LabError
from ipclab.paths import Paths
from ipclab.stats.compare import FASTER, SLOWER, Side, by_round, compare
from ipclab.stats.intervals import rate_upper
from ipclab.store.archive import CALIBRATION

SCHEMA = 1
FIRST, SECOND = "first", "second"
ARMS: Mapping[str, float] = {FIRST: 0.0, SECOND: 0.0, "0.10": 0.10, "0.20": 0.20, "0.50": 0.50}
ROUNDS = 20  # of a trial: as many launches of each side are compared, below 1 s on one CPU
FEW = 3  # one in so many launches against the others: unequal numbers
FOUND = 0.95

Medians = dict[str, list[float]]


class Tally(Struct, frozen=True):
    """What the trials of one placement gave: `found` counts trials by planted share."""

    trials: int
    comparisons: Annotated[int, Meta(ge=1)]
    false_alarms: int
    found: dict[str, int]
    smallest: float | None


class Alarms(TypedDict):
    """False alarms over all placements: their number, share, and the 95 % upper bound of the share."""

    comparisons: int
    flagged: int
    share: float
    upper: float


class Placed(Struct):
    """One placement: its undelayed round trip in ns, what was found, and all medians by arm."""

    base_ns: float
    tally: Tally
    medians_ns: Medians
    relation: str
    cpus: list[int]


class Calibration(Struct):
    """The file `calibration.json`."""

    schema: int
    machine: str
    made: str
    false_alarms: Alarms
    placements: dict[str, Placed]


def orders(rounds: int, seed: int) -> Iterator[list[str]]:
    """Yield the order of the arms in each of `rounds` rounds."""
    shuffle, order = random.Random(seed), list(ARMS)
    for number in range(rounds):
        if number % 2:
            order.reverse()
        else:
            shuffle.shuffle(order)
        yield list(order)


def trials(medians: Medians) -> Iterator[Medians]:
    """Yield the launches of each whole trial: arm -> medians in ns of its consecutive rounds."""
    for start in range(0, min(map(len, medians.values())) // ROUNDS * ROUNDS, ROUNDS):
        yield {arm: values[start : start + ROUNDS] for arm, values in medians.items()}


def tally(medians: Medians) -> Tally:
    """Return how often identical code was called different, and how often each planted slow-down was found.

    Identical code is compared between the two arms without a delay, and within every arm: each third launch against
    the others, which are unequal numbers.
    """
    alarms: list[bool] = []
    counts = {arm: 0 for arm, share in ARMS.items() if share}
    every = list(trials(medians))
    for trial in every:
        same = [by_round(Side(trial[FIRST]), Side(trial[SECOND]))]
        for values in trial.values():
            rest = [value for place, value in enumerate(values) if place % FEW]
            same.append((Side(values[::FEW]), Side(rest)))
        alarms += [compare(*sides).verdict in (FASTER, SLOWER) for sides in same]
        for arm in counts:
            counts[arm] += compare(*by_round(Side(trial[FIRST]), Side(trial[arm]))).verdict == SLOWER
    return Tally(len(every), len(alarms), sum(alarms), counts, smallest(counts, len(every)))


def smallest(found: Mapping[str, int], number: int) -> float | None:
    """Return the smallest planted share from which on every one was found in at least 95 % of `number` trials."""
    missed = max((ARMS[arm] for arm in found if not number or found[arm] < FOUND * number), default=0.0)
    return min((ARMS[arm] for arm in found if ARMS[arm] > missed), default=None)


def false_alarms(tallies: Sequence[Tally]) -> Alarms:
    """Return the false alarms over all placements."""
    comparisons, flagged = sum(each.comparisons for each in tallies), sum(each.false_alarms for each in tallies)
    upper = rate_upper(flagged, comparisons)
    return {"comparisons": comparisons, "flagged": flagged, "share": flagged / comparisons, "upper": upper}


def file(paths: Paths, machine: str) -> Path:
    """Return where the calibration of `machine` (a digest) lies."""
    return paths.runs / machine / CALIBRATION


def read(path: Path) -> dict[str, Any]:
    """Return the calibration in file `path`, empty when there is none; raises `LabError` for a file that is not one."""
    if not path.is_file():
        return {}
    try:
        content = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
        if msgspec.convert(content, Calibration).schema != SCHEMA:
            raise ValueError(f"it has schema {content['schema']}, this ipclab knows {SCHEMA}")
    except (OSError, ValueError, RecursionError) as error:
        raise LabError(f"{path} cannot be read", str(error), "calibrate again: ipclab calibrate") from error
    return content


def rows(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each placement of a calibration, none when it is empty.

    Of the `comparisons` of identical code, `false_alarms` were called different: a share of at most `upper` with 95 %
    confidence. `found` gives for each planted share how many of the `trials` found it, `smallest` the least share that
    at least 95 % of them found, None where none was.
    """
    table = []
    for name, placed in sorted(found.get("placements", {}).items()):
        told = dict(placed["tally"])
        upper = rate_upper(told["false_alarms"], told["comparisons"])
        table.append({"placement": name, **told, "upper": upper})
    return table
