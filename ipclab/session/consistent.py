"""Can a run have been measured as it tells? What it says is checked against itself.

A forger who makes all digests fit can still scale every time by a little: that no check finds, and
`ipclab bundle --sign` is for it. What contradicts itself is refused: dates, the machine's digest,
the profile, and the order, the time and the samples of launches.
"""

import datetime as dt
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from ipclab.errors import LabError
from ipclab.machine.facts import digest_of
from ipclab.machine.table import FACTS
from ipclab.session.whole import last_session
from ipclab.store import MOST_LAUNCHES
from ipclab.store.launch import Launch, Samples
from ipclab.store.record import samples_of
from ipclab.store.run import RunFolder
from ipclab.store.samples import Measured
from ipclab.studies.installed import ALWAYS
from ipclab.studies.profile import PROFILES

EARLIEST = dt.datetime(2026, 11, 1, tzinfo=dt.UTC)  # before which there was no ipclab
CLOCKS = dt.timedelta(days=1)  # by which the clocks of two machines may differ
SLACK_NS = 60 * 10**9  # by which a clock may be set while a run is measured
# What lasts longer cannot have been seen in a launch: ops overlap, and a launch has but its share of
# a heat's time. The largest seen are a tenth of each.
LONGEST_SAMPLE, LONGEST_SUM = 2_500, 5_000  # of a launch's time
# Launches of a point above twice its most: a heat is made again for all where one of them failed, or
# the run was killed.
SURPLUS = 10
DISTINCT = 8  # different times: fewer may come twice


# Of all points in a byte that tells them: equal times shrink to a twentieth of one, and a thinned
# run in a bundle takes 13 for a value.
SAMPLES_PER_BYTE, MORE_SAMPLES = 50, 1 << 22
VALUES_PER_BYTE, MORE_VALUES = 1 / 8, 1 << 16
OF_LAUNCH, OF_POINT = 4, 9  # rows that frames have of an op


def without_contradiction(
    run: RunFolder, points: Iterable[Measured], size: int
) -> Iterator[Measured]:
    """Give the `points` of `run` on, which `size` bytes tell.

    Raises `LabError` for what contradicts itself in them, and for more than so many bytes can hold:
    it would take memory without bound.
    """
    why = next(_of_index(run), "")
    launches = _Launches(run)
    samples = values = 0
    for point in points:
        samples += sum(map(samples_of, point.launches))
        values += _values(point)
        why = why or more_than(size, samples, values) or next(launches.wrong(point), "")
        if why:
            fix = "get it again from who measured it, or measure anew"
            raise LabError(f"{run.id} contradicts itself", why, fix)
        yield point


def more_than(size: int, samples: int, values: int = 0) -> str:
    """Return in which respect `size` bytes cannot hold so many samples and values, if they cannot."""
    if samples > SAMPLES_PER_BYTE * size + MORE_SAMPLES:
        return f"its points hold {samples:,} samples in {size:,} bytes"
    if values > VALUES_PER_BYTE * size + MORE_VALUES:
        return f"its points hold {values:,} values in {size:,} bytes"
    return ""


def _values(point: Measured) -> int:
    """Return how many rows of frames a point makes with its launches, at most."""
    first = point.launches[0]
    ops, counters = len(first.samples), sum(map(len, first.counters.values()))
    of_launches = len(point.launches) * (OF_LAUNCH * ops + counters)
    return of_launches + OF_POINT * ops + counters + len(first.facts)


def _of_index(run: RunFolder) -> Iterator[str]:
    """Yield what of `run.json` cannot be."""
    about = run.about
    known = [fact.name for fact in FACTS if fact.identifies]
    # a table of facts of another version cannot be recomputed
    if run.facts.keys() >= {*known} and digest_of(run.facts) != run.machine:
        yield f"its machine's facts have the digest {digest_of(run.facts)}, not {run.machine}"
    profile = PROFILES.get(run.profile)
    if profile and about.get("questions") and run.questions.same not in (0.0, profile.same):
        yield f"it is called {run.profile}, and asks with the bound of another profile"
    if not run.finished:
        return
    times = [("begun", about["begun"])]
    for session in about["sessions"]:
        times += [("a session's begin", session["begun"])]
        times += [("a session's end", session["ended"])] if session.get("ended") else []
    times += [("finished", about["finished"])]
    dates = [(name, dt.datetime.fromisoformat(text)) for name, text in times]
    if dates[0][1] < EARLIEST or dates[-1][1] > dt.datetime.now(dt.UTC) + CLOCKS:
        yield f"it was measured from {dates[0][1]:%Y-%m-%d} to {dates[-1][1]:%Y-%m-%d}"
    for (before, first), (after, second) in pairwise(dates):
        if second < first:
            yield f"{after} ({second.isoformat()}) is before {before} ({first.isoformat()})"


def _span_ns(run: RunFolder) -> float:
    """Return for how long at most a finished `run` was measured."""
    if not run.finished:
        return float("inf")
    ended = dt.datetime.fromisoformat(run.about["finished"])
    return (ended - run.date) / dt.timedelta(microseconds=1) * 1000 + SLACK_NS


@dataclass
class _Launches:
    """The launches of a run so far."""

    run: RunFolder
    orders: set[int] = field(default_factory=set)
    seen: set[tuple[str, str, bytes]] = field(default_factory=set)
    spent_ns: int = 0

    def wrong(self, measured: Measured) -> Iterator[str]:
        """Yield what of the launches of a point cannot be, beside those before."""
        point, parameters = measured.point, self.run.about["parameters"]
        profile = PROFILES.get(self.run.profile)
        most = parameters.get("launches") or (profile.most_launches if profile else MOST_LAUNCHES)
        most = (2 * most + SURPLUS) * last_session(self.run)
        if len(measured.launches) > most and point.study not in ALWAYS:
            yield f"{point.id} has {len(measured.launches)} launches, of {most} at most"
        for number, launch in enumerate(measured.launches):
            for why in (*self._of_time(launch), *self._of_samples(point.study, launch)):
                yield f"launch {number} of {point.id} {why}"

    def _of_time(self, launch: Launch) -> Iterator[str]:
        span = _span_ns(self.run)
        self.spent_ns += launch.elapsed_ns
        if launch.order in self.orders:
            yield f"has the order {launch.order} of another one"
        self.orders.add(launch.order)
        if launch.elapsed_ns == 0:
            yield "took no time"
        if launch.started_ns + launch.elapsed_ns > span:
            yield f"ended {launch.started_ns / 1e9:,.0f} s after the run began, which had ended"
        if self.spent_ns > span:
            yield "and those before it took longer than the run"

    def _of_samples(self, study: str, launch: Launch) -> Iterator[str]:
        thinned = self.run.about.get("thinned", 0)
        for op, samples in launch.samples.items():
            longest, total = float(samples.max()), float(samples.sum(dtype=float))
            if told := launch.whole.get(op):
                per = launch.per.get(op, 1)
                longest, total = told["max"] * per, told["mean"] * told["samples"] * per
            if longest > LONGEST_SAMPLE * launch.elapsed_ns:
                yield f"took {launch.elapsed_ns / 1e6:,.1f} ms, and one {op} {longest / 1e6:,.1f} ms"
            if total > LONGEST_SUM * launch.elapsed_ns:
                yield f"took {launch.elapsed_ns / 1e6:,.1f} ms, and all {op} {total / 1e6:,.1f} ms"
            if (told and not thinned) or (thinned and len(samples) > thinned):
                yield f"keeps {len(samples)} samples of {op}, as no run does that is " + (
                    f"thinned to {thinned}" if thinned else "not thinned"
                )
            if self._repeated(study, op, samples):
                yield f"has the times of {op} of another launch"

    def _repeated(self, study: str, op: str, samples: Samples) -> bool:
        if len(np.unique(samples[: 4 * DISTINCT])) < DISTINCT:
            return False
        key = study, op, hashlib.sha256(samples.data).digest()  # all samples may be many
        again = key in self.seen
        self.seen.add(key)
        return again
