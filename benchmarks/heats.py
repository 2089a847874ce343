"""What is measured in turns, against launches of their own, planted slow-downs, and the same alone.

usage: python benchmarks/heats.py scatter|planted|alone [seconds] [study ...]

* scatter: the standard deviation of log ratios, of launches of their own, shuffled, and of heats
  turn by turn, for the same time of sampling; by study (round_trip and calibration unless others
  are named), placement and mechanism.
* planted: how often twins are called different, and slow-downs of 2, 5 and 10 % are found, within
  3 s of their heats.
* alone: the medians of points in a heat over those alone and steady, launched in turn; which differ
  by more than 3 % on one CPU, or 10 % across CPUs.

Each measures on an idle machine for so many seconds (300), but every pair or point twice at least,
and prints a table.
"""

import math
import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from parts.heat_fields import SECONDS, SEED, Field, Turns, fields, rounds

from ipclab.errors import LabError
from ipclab.machine import Source, Topology
from ipclab.machine.placement import Placement, placements
from ipclab.session.session import SAME_CPU, WARM_TURNS
from ipclab.spawn.heat import Contestant, Heat, Schedule
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.loops import LEAST_LONG
from ipclab.stats import paired
from ipclab.stats.compare import FASTER, SLOWER, Side, compare
from ipclab.stats.looks import HEAT_LOOKS
from ipclab.studies.calibration import OP, roles
from ipclab.studies.installed import study as study_of
from ipclab.studies.interface import Point, Profile
from ipclab.studies.profile import profile

SCATTERED = ("round_trip", "calibration")
FEW = {"round_trip": ("pipe", "unix", "tcp", "posix-mq", "posix-shm", "zmq-ipc")}
# share: exchanges of one, of the slower one
PLANTED = {0.0: (10, 10), 0.02: (50, 51), 0.05: (20, 21), 0.10: (10, 11)}
TURN_EXCHANGES = 100  # that a turn has at least, as the calibration of a run does
MEASURED_SECONDS = 3.0
ALONE = ("round_trip", "payload", "stream", "shared_dict", "multiplexer")
PINNED = ("same", "cross")
WITHIN, WITHIN_APART = 0.03, 0.10  # on one CPU, and on several
LEVEL = 0.05
POINTS = 6  # of each study and placement, or as many as one heat has


def scatter(seconds: float, names: Sequence[str]) -> pd.DataFrame:
    """Return the deviation of log ratios to the first contestant of each heat, in both designs."""
    own, together = (
        defaultdict[tuple[str, str], list[float]](list),
        defaultdict[tuple[str, str], list[Turns]](list),
    )
    with fields(names or SCATTERED, FEW) as (launcher, studies):
        work: list[Callable[[], None]] = []
        for field in studies:
            whole = replace(
                field.effort, turns=1, turn_ns=field.effort.turns * field.effort.turn_ns
            )

            def launch(field: Field, whole: Profile, name: str) -> None:
                for key, turns in field.run([name], whole, 0).items():
                    own[key].append(turns[0])

            def heat(field: Field, names: Sequence[str]) -> None:
                together[names[0], field.study.name].append(field.in_heat(names))

            for group in field.heats():
                work.append(partial(heat, field, group))
                work += [partial(launch, field, whole, name) for name in group]
        rounds(seconds, launcher, work)
        rows = [row for field in studies for row in _deviations(field, own, together)]
    return pd.DataFrame(rows).round(3)


def _deviations(
    field: Field,
    own: Mapping[tuple[str, str], list[float]],
    together: Mapping[tuple[str, str], list[Turns]],
) -> Iterator[dict[str, object]]:
    for group in field.heats():
        made = together[group[0], field.study.name]
        for op in field.points[group[0]].primary:
            for name in group[1:]:
                by_heat = [_by_heat(made, (each, op)) for each in (group[0], name)]
                before = [np.log(own.get((each, op), [])) for each in (group[0], name)]
                count = min(map(len, before))
                if not count:
                    continue
                point = field.points[name]
                first, second = (values[:count] for values in before)
                after = paired.log_ratios(*by_heat)
                deviations = {
                    "before": float(np.std(second - first, ddof=1)),
                    "after": float(np.std(after, ddof=1)),
                }
                less = (deviations["before"] / deviations["after"]) ** 2
                head = {
                    "study": point.study,
                    "placement": point.placement,
                    "point": name,
                    "op": op,
                    "heats": count,
                }
                yield {**head, **deviations, "times less variance": less}


def _by_heat(made: Sequence[Turns], key: tuple[str, str]) -> dict[int, list[float]]:
    return {number: turns[key] for number, turns in enumerate(made) if key in turns}


def planted(seconds: float, _names: Sequence[str]) -> pd.DataFrame:
    """Return how often each planted share was found, or twins were called different, within 3 s of
    heats.

    It is the exchange of the calibration, through each of six mechanisms. `turns differ` names those
    that have several modes by themselves: how many times as long the slowest turn of a launch takes
    as its fastest, in the median.
    """
    placed = placements(Topology.read(Source()))
    trials = defaultdict[tuple[str, str, float], list[tuple[float, float]]](list)
    with tempfile.TemporaryDirectory() as folder, Launcher(Path(folder) / "ledger") as launcher:

        def trial(backend: str, placement: str, share: float) -> None:
            told = _seconds_to_tell(launcher, placed[placement], backend, share)
            trials[placement, backend, share].append(told)

        pinned = [placement for placement in PINNED if placement in placed]
        rounds(
            seconds,
            launcher,
            [partial(trial, *asked) for asked in product(FEW["round_trip"], pinned, PLANTED)],
        )
    rows = []
    for (placement, backend, share), found in sorted(trials.items()):
        seconds_taken, differences = zip(*found, strict=True)
        told = [taken for taken in seconds_taken if taken < math.inf]
        middle = float(np.median(told)) if told else math.nan
        head = {
            "placement": placement,
            "backend": backend,
            "planted": share,
            "trials": len(found),
            "called different": len(told),
        }
        row = {**head, "share": len(told) / len(found), "median seconds": middle}
        rows.append({**row, "turns differ": float(np.median(differences))})
    return pd.DataFrame(rows).round(3)


def _seconds_to_tell(
    launcher: Launcher, placed: Placement, backend: str, share: float
) -> tuple[float, float]:
    """Return after how many seconds of heats a look calls the two different, infinite when none
    does in time, and how many times as long a launch's slowest turn takes as its fastest.
    """
    effort, spent, taken = profile("quick"), 0.0, math.inf
    sides: dict[str, dict[int, list[float]]] = {"one": {}, "other": {}}
    contestants = {}
    for name, exchanges in zip(sides, PLANTED[share], strict=True):
        least = max(LEAST_LONG, TURN_EXCHANGES // exchanges)
        wanted = replace(effort, least_samples=least)
        point = Point(
            "calibration", name, 100, placed.name, {"exchanges": exchanges}, "calibration", (OP,)
        )
        contestants[name] = Contestant(point, roles(exchanges, wanted, placed, backend))
    for number in range(1, HEAT_LOOKS[-1] + 1):
        warm_ns = 0 if placed.name == SAME_CPU else effort.warm_ns
        schedule = Schedule(
            effort.turns, WARM_TURNS, warm_ns, time.monotonic_ns(), effort.launch_seconds
        )
        began = time.monotonic()
        ends = Heat(launcher, schedule).run(contestants)
        spent += time.monotonic() - began
        if spent > MEASURED_SECONDS:
            break
        for name, ended in ends.items():
            if isinstance(ended, LabError):
                raise ended
            launch = study_of("calibration").collect(contestants[name].point, ended, SEED)
            sides[name][number] = launch.turn_medians(OP)
        one, other = (Side([], heats=side) for side in sides.values())
        if number in HEAT_LOOKS and compare(one, other, equivalence=0).verdict in (FASTER, SLOWER):
            taken = spent
            break
    differences = [max(turns) / min(turns) for turns in sides["one"].values()]
    return taken, float(np.median(differences))


def alone(seconds: float, names: Sequence[str]) -> pd.DataFrame:
    """Return the median of each point in its heat over that alone and steady, with its interval
    over rounds.
    """
    ratios = defaultdict[tuple[str, str], list[float]](list)
    about: dict[str, Point] = {}
    with fields(names or ALONE, {}) as (launcher, studies):
        work: list[Callable[[], None]] = []
        for field in studies:
            about |= field.points

            def both(field: Field, group: Sequence[str]) -> None:
                apart: Turns = {}
                heat_first = random.random() < 1 / 2
                together = field.in_heat(group) if heat_first else {}
                for name in random.sample(group, len(group)):
                    apart |= field.run([name], field.effort, field.effort.warm_ns)
                together = together if heat_first else field.in_heat(group)
                for key in together.keys() & apart.keys():
                    ratios[key].append(
                        float(np.log(np.median(together[key]) / np.median(apart[key])))
                    )

            work += [partial(both, field, group) for group in _some(field)]
        rounds(seconds, launcher, work)
    rows = []
    for (name, op), logs in ratios.items():
        point, middle = about[name], math.exp(float(np.median(logs)))
        low, high = (
            map(math.exp, paired.interval(np.array(logs), LEVEL))
            if len(logs) > 1
            else (0.0, math.inf)
        )
        head = {
            "study": point.study,
            "placement": point.placement,
            "point": name,
            "op": op,
            "rounds": len(logs),
        }
        near = abs(math.log(middle)) <= math.log1p(
            WITHIN if point.placement == SAME_CPU else WITHIN_APART
        )
        rows.append({**head, "heat over alone": middle, "low": low, "high": high, "near": near})
    return pd.DataFrame(rows).round(3)


def _some(field: Field) -> list[list[str]]:
    """Return some heats of a study, the same ones each time: of each placement as many as have
    `POINTS` together.
    """
    found = []
    for placement in field.placed:
        groups = [group for group in field.heats() if field.points[group[0]].placement == placement]
        random.Random(SEED).shuffle(groups)
        count = 0
        for group in groups:
            if count < POINTS:
                found.append(group)
                count += len(group)
    return found


def main(words: Sequence[str]) -> None:
    """Measure and print."""
    what, seconds = words[0], float(words[1]) if len(words) > 1 else SECONDS
    found = {"scatter": scatter, "planted": planted, "alone": alone}[what](seconds, words[2:])
    print(found.to_string(index=False))
    if what == "planted":
        print(
            found.groupby(["placement", "planted"])[["trials", "called different"]]
            .sum()
            .to_string()
        )
    if what == "scatter":
        print(
            found.groupby(["study", "placement"])[["before", "after", "times less variance"]]
            .median()
            .to_string()
        )
    if what == "alone":
        print(found.groupby(["study", "placement"]).near.agg(["sum", "size"]).to_string())
        print(found.groupby("placement").near.mean().to_string())


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in ("scatter", "planted", "alone"):  # noqa: PLR2004
        sys.exit("".join((__doc__ or "").splitlines(keepends=True)[2]))
    main(sys.argv[1:])
