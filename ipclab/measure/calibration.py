"""What comparisons are worth on this machine: calibrating launches, what follows from them, the file that keeps it.

Two arms are identical code, the others are slower by a planted share of the round trip. All arms are launched once in a
round, in a seeded random order; every second round runs the order of the one before backwards (A B B A), which takes
out a drift that goes one way.
"""

import datetime as dt
import random
import secrets
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ipclab.errors import UsageError
from ipclab.machine import Source, Topology, collect
from ipclab.machine.placement import Placement, placements
from ipclab.measure.progress import Progress
from ipclab.paths import Paths
from ipclab.spawn.launcher import Launcher
from ipclab.stats.compare import FASTER, SLOWER, Side, by_round, compare
from ipclab.stats.intervals import rate_upper
from ipclab.store.archive import CALIBRATION
from ipclab.store.files import dump_json, write_whole
from ipclab.store.schema import versioned
from ipclab.studies.calibration import EXCHANGES, OP, SIZE, roles
from ipclab.studies.profile import profile

SCHEMA = 1
FIRST, SECOND = "first", "second"
ARMS: Mapping[str, float] = {FIRST: 0.0, SECOND: 0.0, "0.10": 0.10, "0.20": 0.20, "0.50": 0.50}
ROUNDS = 20  # of a trial: as many launches of each side are compared, below 1 s on one CPU
FEW = 3  # one in so many launches against the others: unequal numbers
FOUND = 0.95
PLACEMENTS = ("same", "cross")
EFFORT = "quick"  # the profile of which a launch is one
LAUNCH_SECONDS = 10.0
FIRST_LAUNCHES = 15  # they give the time of a launch
OVERRUN = 1.25
SEED_BITS = 31

Medians = dict[str, list[float]]
Launch = Callable[[int], float]


class Tally(Struct, frozen=True):
    """What the trials of one placement gave: `found` counts trials by planted share."""

    trials: int
    comparisons: Annotated[int, Meta(ge=1)]
    false_alarms: int
    found: dict[str, int]
    smallest: float | None


class Alarms(Struct, frozen=True):
    """False alarms over all placements: their number, share, and the 95 % upper bound of the share."""

    comparisons: int
    flagged: int
    share: float
    upper: float


class Placed(Struct):
    """One placement: its undelayed round trip in ns, what was found, all medians by arm, and the rounds' orders."""

    base_ns: float
    tally: Tally
    medians_ns: Medians
    relation: str
    cpus: list[int]
    orders: list[list[str]] = []


class Calibration(Struct):
    """The file `calibration.json`."""

    schema: int
    machine: str
    made: str
    false_alarms: Alarms
    placements: dict[str, Placed]
    seed: int = 0
    seconds: float = 0.0
    size_bytes: int = SIZE
    planted: dict[str, float] = {}


def file(paths: Paths, machine: str) -> Path:
    """Return where the calibration of `machine` (a digest) lies."""
    return paths.runs / machine / CALIBRATION


def read(path: Path) -> Calibration | None:
    """Return the calibration in file `path`, None when there is none; raises `LabError` for a file that is not one."""
    return versioned(path, Calibration, SCHEMA, "calibrate again: ipclab calibrate") if path.is_file() else None


def calibrate(paths: Paths, seconds: float, seed: int | None, progress: Progress) -> Calibration:
    """Measure for about `seconds`, write `calibration.json` beside the machine's runs and return its content.

    Raises `UsageError` when the time is too short for one trial in each placement.
    """
    seed = secrets.randbits(SEED_BITS) if seed is None else seed
    placed = placements(Topology.read(Source()))
    chosen = [placed[name] for name in PLACEMENTS if name in placed]
    machine = collect(Source(), root=paths.root).digest
    with Launcher(paths.ledger) as launcher:
        found = {
            each.name: measure(launching(launcher, each), each, seconds / len(chosen), seed, progress)
            for each in chosen
        }
    alarms, made = false_alarms([each.tally for each in found.values()]), dt.datetime.now(dt.UTC)
    told = Calibration(SCHEMA, machine, made.isoformat(timespec="seconds"), alarms, found, seed, seconds)
    told.planted = dict(ARMS)
    write_whole(file(paths, machine), dump_json(msgspec.to_builtins(told)))
    return told


def launching(launcher: Launcher, placement: Placement) -> Launch:
    """Return what makes one launch of operations of so many exchanges, and returns their median in ns."""
    effort = profile(EFFORT)

    def launch(exchanges: int) -> float:
        outcomes = launcher.launch(roles(exchanges, effort, placement), LAUNCH_SECONDS)
        return float(statistics.median(outcomes["client"].samples[OP]))

    return launch


def measure(
    launch: Launch,
    placement: Placement,
    seconds: float,
    seed: int,
    progress: Progress,
    clock: Callable[[], float] = time.monotonic,
) -> Placed:
    """Make as many rounds of launches in `placement` as fit into `seconds`; return them with what follows from them.

    `launch` gets a number of exchanges. Raises `UsageError` when not even one trial fits.
    """
    start = clock()
    base = statistics.median(launch(EXCHANGES) for _ in range(FIRST_LAUNCHES))
    each = (clock() - start) / FIRST_LAUNCHES
    rounds = int((seconds - (clock() - start)) / (each * len(ARMS))) // ROUNDS * ROUNDS
    if rounds < ROUNDS:
        least = each * (FIRST_LAUNCHES + len(ARMS) * ROUNDS)
        raise UsageError(f"{seconds:.0f} s are too short", "", f"one placement needs at least {least:.0f} s here")
    medians: Medians = {arm: [] for arm in ARMS}
    ordered: list[list[str]] = []
    progress.start("calibrate", rounds * len(ARMS))
    try:
        for order in orders(rounds, seed):
            if clock() - start > OVERRUN * seconds:
                break  # the machine became slower: whole trials of what there is
            ordered.append(order)
            for arm in order:
                medians[arm].append(launch(round((1 + ARMS[arm]) * EXCHANGES)))
                progress.step()
    finally:
        progress.end()
    cpus = [min(placement.role(place)) for place in (0, 1)]
    return Placed(base, tally(medians), medians, placement.relation, cpus, ordered)


def orders(rounds: int, seed: int) -> Iterator[list[str]]:
    """Yield the order of the arms in each of `rounds` rounds."""
    shuffle, order = random.Random(seed), list(ARMS)
    for number in range(rounds):
        if number % 2:
            order.reverse()
        else:
            shuffle.shuffle(order)
        yield list(order)


def tally(medians: Medians) -> Tally:
    """Return how often identical code was called different, and how often each planted slow-down was found.

    Only whole trials of consecutive rounds count. Identical code is compared between the two arms without a delay, and
    within every arm: each third launch against the others, which are unequal numbers.
    """
    alarms: list[bool] = []
    counts = {arm: 0 for arm, share in ARMS.items() if share}
    number = min(map(len, medians.values())) // ROUNDS
    for start in range(0, number * ROUNDS, ROUNDS):
        trial = {arm: values[start : start + ROUNDS] for arm, values in medians.items()}
        same = [by_round(Side(trial[FIRST]), Side(trial[SECOND]))]
        for values in trial.values():
            rest = [value for place, value in enumerate(values) if place % FEW]
            same.append((Side(values[::FEW]), Side(rest)))
        alarms += [compare(*sides).verdict in (FASTER, SLOWER) for sides in same]
        for arm in counts:
            counts[arm] += compare(*by_round(Side(trial[FIRST]), Side(trial[arm]))).verdict == SLOWER
    return Tally(number, len(alarms), sum(alarms), counts, smallest(counts, number))


def smallest(found: Mapping[str, int], number: int) -> float | None:
    """Return the smallest planted share from which on every one was found in at least 95 % of `number` trials."""
    missed = max((ARMS[arm] for arm in found if not number or found[arm] < FOUND * number), default=0.0)
    return min((ARMS[arm] for arm in found if ARMS[arm] > missed), default=None)


def false_alarms(tallies: Sequence[Tally]) -> Alarms:
    """Return the false alarms over all placements."""
    comparisons, flagged = sum(each.comparisons for each in tallies), sum(each.false_alarms for each in tallies)
    return Alarms(comparisons, flagged, flagged / comparisons, rate_upper(flagged, comparisons))


def rows(found: Calibration | None) -> list[dict[str, Any]]:
    """Return a row for each placement of a calibration, none when there is none.

    Of the `comparisons` of identical code, `false_alarms` were called different: a share of at most `upper` with 95 %
    confidence. `found` gives for each planted share how many of the `trials` found it, `smallest` the least share that
    at least 95 % of them found, None where none was.
    """
    told = {name: placed.tally for name, placed in sorted(found.placements.items())} if found else {}
    return [
        {"placement": name, **msgspec.to_builtins(each), "upper": rate_upper(each.false_alarms, each.comparisons)}
        for name, each in told.items()
    ]
