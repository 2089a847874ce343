"""The launches of a run as they followed one another: their order, times, CPUs and samples."""

import datetime as dt
import hashlib
from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np

from ipclab.store.identity import identity_of
from ipclab.store.launch import Launch, Samples, Times
from ipclab.store.overlap import overlap
from ipclab.store.point import Point
from ipclab.store.questions import ALWAYS, PLACED_TOO, PLACEMENTS, RUN_PROFILES
from ipclab.store.run import RunFolder
from ipclab.store.samples import Measured

SLACK_NS = 60 * 10**9  # by which a clock may be set while a run is measured
# Launches of a point above twice its most: a heat is made again for all where one of them failed, or
# the run was killed.
SURPLUS = 10
DISTINCT = 8  # different times: fewer may come twice
SPREAD = 4_096  # the least distance (ns) of times whose distances tell one launch from all others
ROUNDING = 1.05  # of a heat's time, which its contestants share to whole ns
ROUNDED_NS = 1_000_000  # of when a heat begins and of how long it takes, both together
TOLD_ROUNDING = 1e-5  # of what a thinned launch tells of all its samples, to seven digits
LOST = 4.0  # of a heat's time, where a contestant that failed has taken its share with it


class Sequence:
    """The launches of `run`, whose profile is one, so far: points are given in any order."""

    def __init__(self, run: RunFolder) -> None:
        self.cpus = identity_of(run.facts).cpus()
        self.thinned = run.about.get("thinned") or 0
        asked = run.about["parameters"].get("launches") or RUN_PROFILES[run.profile].most_launches
        self.most = (2 * asked + SURPLUS) * run.last_session
        self.clocks = len(run.about["sessions"])
        self.studies = len(run.about["parameters"]["studies"])
        self.span = float("inf")  # for how long at most it was measured, ns
        if run.finished:
            took = dt.datetime.fromisoformat(run.about["finished"]) - run.date
            self.span = took / dt.timedelta(microseconds=1) * 1000 + SLACK_NS
        self.spent_ns = 0
        self.lost = bool(run.about["failures"])
        self.orders: set[int] = set()
        self.seen: set[tuple[str, str, bytes, str]] = set()
        self.kinds: dict[tuple[str, str], type] = {}
        # of each heat: its first order and start, and how long it took
        self.heats: dict[int, list[int]] = {}
        # of each heat: what a launch of it needs, of the heat's time
        self.needs: dict[int, tuple[float, str]] = {}

    def wrong(self, measured: Measured) -> Iterator[str]:
        """Yield what of the launches of a point cannot be, beside those before."""
        point = measured.point
        self.lost |= bool(measured.failures)
        if point.placement not in PLACEMENTS + PLACED_TOO:
            yield f"{point.id} has the placement {point.placement!r}"
        for factor, level in point.levels.items():
            if self.kinds.setdefault((point.study, factor), type(level)) is not type(level):
                kind = "a text" if isinstance(level, str) else "a number"
                yield f"{factor} of {point.study} is {kind} in {point.id}, and not elsewhere"
        if len(measured.launches) > self.most and point.study not in ALWAYS:
            yield f"{point.id} has {len(measured.launches)} launches, of {self.most} at most"
        for number, launch in enumerate(measured.launches):
            for why in (
                *self._of_time(point, launch),
                *self._of_cpus(point.placement, launch),
                *self._of_samples(point.study, launch),
            ):
                yield f"launch {number} of {point.id} {why}"

    def wrong_together(self) -> Iterator[str]:
        """Yield what of all launches together cannot be, once every point was given."""
        slack = LOST if self.lost else ROUNDING
        for number, (need, what) in self.needs.items():
            took = self.heats[number][2]
            if need > slack * took:
                yield f"{what} takes {need / 1e6:,.1f} ms of a heat of {took / 1e6:,.1f} ms"
        restarts = 0
        for (_, start, took), (order, after, _) in pairwise(sorted(self.heats.values())):
            if after < start:
                restarts += 1
            elif after < start + took - ROUNDED_NS:
                yield f"launch {order} of the run begins while the one before it goes on"
        # the clock begins anew with each session; of runs of old, which have no heats, with each study
        if restarts >= max(1, self.clocks if max(self.heats, default=0) > 0 else self.studies):
            yield f"its launches start {restarts} times before those that came first"

    def _of_time(self, point: Point, launch: Launch) -> Iterator[str]:
        self.spent_ns += launch.elapsed_ns
        if launch.order in self.orders:
            yield f"has the order {launch.order} of another one"
        self.orders.add(launch.order)
        if launch.elapsed_ns == 0:
            yield "took no time"
        if launch.started_ns + launch.elapsed_ns > self.span:
            yield f"ended {launch.started_ns / 1e9:,.0f} s after the run began, which had ended"
        if self.spent_ns > self.span:
            yield "and those before it took longer than the run"
        told = launch.facts.get("heat")
        number = told if isinstance(told, int) and told else -1 - launch.order
        heat = self.heats.setdefault(number, [launch.order, launch.started_ns, 0])
        heat[0] = min(heat[0], launch.order)
        heat[1] = min(heat[1], launch.started_ns)
        heat[2] += launch.elapsed_ns
        for op in launch.samples:
            need = _needed(point, launch, op)
            if need > self.needs.get(number, (0.0, ""))[0]:
                self.needs[number] = need, f"{op} of {point.id}"

    def _of_cpus(self, placement: str, launch: Launch) -> Iterator[str]:
        used = {cpu for cpus in launch.cpus.values() for cpu in cpus}
        if self.cpus is not None and (odd := used - self.cpus):
            yield f"ran on CPU {min(odd)}, which its machine has not"
        if placement == "same" and len(used) > 1:
            yield f"is placed on one CPU, and ran on {len(used)}"
        if placement.startswith("cross") and len(launch.cpus) > 1 and len(used) == 1:
            yield "is placed on several CPUs, and ran on one"
        near = launch.facts.get("relation")
        wanted = placement.removeprefix("cross-")
        fits = near != "same" if wanted in ("cross", "free") else near == wanted
        if used and near is not None and not fits:
            yield f"is placed {placement}, and its CPUs are called {near}"

    def _of_samples(self, study: str, launch: Launch) -> Iterator[str]:
        for op, samples in launch.samples.items():
            told = launch.whole.get(op)
            if (told and not self.thinned) or (self.thinned and len(samples) > self.thinned):
                yield f"keeps {len(samples)} samples of {op}, as no run does that is " + (
                    f"thinned to {self.thinned}" if self.thinned else "not thinned"
                )
            elif told and (name := _refuted(launch.times(op), told)):
                yield f"keeps samples of {op} that have another {name}"
            if self._repeated(study, op, samples, told["sd"] if told else None):
                yield f"has the times of {op} of another launch"

    def _repeated(self, study: str, op: str, samples: Samples, sd: float | None) -> bool:
        """Tell whether another launch had these times: in another order or shifted, too.

        Of short times the middles of equal shares may come twice, in steps of the clock: those that
        are kept of a launch are of another one only if the `sd` of all its samples is, too.
        """
        if len(np.unique(samples[: 4 * DISTINCT])) < DISTINCT:
            return False
        ordered = np.sort(samples)
        if ordered[-1] - ordered[0] >= SPREAD:
            ordered -= ordered[0]
        digest = hashlib.sha256(ordered.data).digest()  # all samples may be many
        key = study, op, digest, "" if sd is None else f"{sd:.6g}"
        again = key in self.seen
        self.seen.add(key)
        return again


def _needed(point: Point, launch: Launch, op: str) -> float:
    """Return how much of its heat's time (ns) the samples of `op` need."""
    if told := launch.whole.get(op):
        per = launch.per.get(op, 1)
        most, total = told["max"] * per, told["mean"] * told["samples"] * per
    else:
        samples = launch.samples[op]
        most, total = float(samples.max()), float(samples.sum(dtype=float))
    one, together = overlap(point, op)
    return max(most / one, total / together)


def _refuted(kept: Samples | Times, told: Mapping[str, float]) -> str:
    """Return which of median, mean and sd (ns) that are `told` those `kept` cannot have, or "".

    Those kept of a thinned launch are the middles of equal shares of ranks, in ascending order:
    what lies in a share lies between the two kept beside it.
    """
    low = np.concatenate([[told["min"]], kept[:-1]]).astype(float)
    high = np.concatenate([kept[1:], [told["max"]]]).astype(float)
    middle = slice((len(kept) - 1) // 2, len(kept) // 2 + 1)
    mean = told["mean"]
    square = told["sd"] ** 2 + mean**2
    ends = {
        "median": (told["median"], low[middle].min(), high[middle].max()),
        "mean": (mean, low.mean(), high.mean()),
        # with one below the number of samples as divisor, the sd is larger
        "sd": (square, (low**2).mean(), (high**2).mean() + told["sd"] ** 2 / max(1, len(kept) - 1)),
    }
    for name, (value, least, most) in ends.items():
        if not least * (1 - TOLD_ROUNDING) <= value <= most * (1 + TOLD_ROUNDING):
            return name
    return ""
