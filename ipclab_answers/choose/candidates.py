"""What a run tells of each mechanism that may fit a need: times, load, limit, promises. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, isfinite, log
from statistics import median

import pandas as pd

from ipclab.frames.address import narrowed, quantity
from ipclab.frames.contests import side_of
from ipclab.frames.limits import with_limits
from ipclab.stats import judge
from ipclab.stats.compare import (
    EQUIVALENCE,
    SAME,
    Comparison,
    Side,
)
from ipclab.stats.quantity import Quantity, missing, total
from ipclab_answers.choose.crossings import estimate, most_launched, timed
from ipclab_answers.choose.need import Need
from ipclab_answers.choose.promises import Offer, Promises, kept

BEST, WORSE, EXCLUDED, UNMEASURED = STATUSES = (
    "best",
    "slower",
    "excluded",
    "not measured",
)
BOUNDS = {"rate", "deadline", "cpus"}  # demands that more launches can show


@dataclass(frozen=True)
class Frames:
    """What a run holds that bears on a need.

    Frames of its study, launch frames of the limits and of faults, if any. `seconds` is what a
    launch took in it on average, `bound` (a share) what counts as the same.
    """

    points: pd.DataFrame
    launches: pd.DataFrame
    limits: pd.DataFrame = field(default_factory=pd.DataFrame)
    faults: pd.DataFrame = field(default_factory=pd.DataFrame)
    seconds: float = 0.1
    bound: float = EQUIVALENCE


@dataclass
class Candidate:
    """What is known of one mechanism: in ns, ratios, CPUs (1) or messages per second."""

    backend: str
    lost: float | None
    full: str | None
    crash: str | None
    status: str = UNMEASURED
    why: list[str] = field(default_factory=list)  # what excludes it
    open: list[str] = field(default_factory=list)  # what was not shown either way
    lacking: list[int] = field(default_factory=list)  # sizes that were not measured
    side: Side | None = None  # its launches, a mix of sizes as one time
    value: Quantity = field(default_factory=missing)
    estimate: Quantity | None = None
    quantile: Quantity = field(default_factory=missing)
    cpus: Quantity = field(default_factory=missing)
    keeps_up: Quantity = field(default_factory=missing)
    limit: Quantity | None = None
    compared: Comparison | None = None  # with the fastest
    ratio: Quantity | None = None
    verdict: str = ""
    launches: int = 0
    times_more: float = 1.0  # of its launches would show what is open

    @property
    def median(self) -> float:
        """Return the median of its launches in ns, infinite without any."""
        return median(self.side.medians) if self.side else inf

    @property
    def settled(self) -> bool:
        """Tell whether all that is asked of it was shown."""
        return not self.open and self.verdict in ("", SAME)

    def hold(self, demand: str, quantities: Sequence[Quantity], bound: float) -> None:
        """Note what was shown of `quantities` that must all lie below `bound`."""
        verdicts = {judge.within(shown, -inf, bound) for shown in quantities}
        if judge.ABOVE in verdicts:
            self.why.append(demand)
        elif verdicts != {judge.INSIDE}:
            self.open.append(demand)
            self.times_more = max(self.times_more, *(_nearer(q, bound) for q in quantities))


def narrowed_to(need: Need, frame: pd.DataFrame, rate: float | None = None) -> pd.DataFrame:
    """Return the rows of a frame that have the need's levels, beside size and mechanism.

    No rows where the frame lacks one of these factors.
    """
    levels = need.levels(rate)
    return narrowed(frame, levels) if levels.keys() <= set(frame) else frame.iloc[:0]


def candidate_of(need: Need, frames: Frames, offer: Offer, promises: Promises) -> Candidate:
    """Return what the frames tell of one mechanism; it is not compared yet."""
    made = Candidate(offer.name, **promises)
    for must in need.must:
        holds = kept(must, offer, promises)
        if holds is None:
            made.open.append(must)
        elif not holds:
            made.why.append(must)
    launches = _of(offer.name, narrowed_to(need, frames.launches))
    made.lacking = [size for size in need.size if launches[launches[need.sized] == size].empty]
    refusals = [refusal for size in need.size if (refusal := offer.refuses(size))]
    if refusals:
        made.why.append(refusals[0])
    else:
        made.side = _side(need, timed(need, launches))
    _measure(need, frames, made)
    if made.side is None:
        made.estimate = estimate(need, launches)
    if made.why:
        made.status = EXCLUDED
    return made


def _of(backend: str, frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame.backend == backend]


def _side(need: Need, times: pd.DataFrame) -> Side | None:
    """Return the launches of one mechanism, a mix as one time for each round that all sizes have.

    None when a size was not measured.
    """
    mixed: dict[int, float] | None = None
    for size, share in need.size.items():
        part = times[times[need.sized] == size]
        if part.empty:
            return None
        side = side_of(most_launched(part))
        if share == 1:
            return side
        medians = {k: share * m for k, m in zip(side.rounds, side.medians, strict=True)}
        if mixed is not None:
            medians = {k: mixed[k] + medians[k] for k in mixed.keys() & medians.keys()}
        mixed = medians
    if not mixed:
        return None
    return Side([mixed[number] for number in sorted(mixed)], rounds=sorted(mixed))


def _measure(need: Need, frames: Frames, made: Candidate) -> None:
    """Note the times, load and rate of one mechanism, and what they say of the need."""
    points = _of(made.backend, narrowed_to(need, frames.points))
    made.value = _mixed(need, points, need.op, "p50")
    made.cpus = _busy(need, points, made.value)
    made.limit = _over_limit(need, timed(need, points), frames.limits, made.value)
    took = _mixed(need, points, "launch", "closed_per_second", inverse=True)
    if not took:
        closed = _of(made.backend, narrowed_to(need, frames.points, 0.0))
        took = _mixed(need, closed, need.closed_op, "p50")
    made.keeps_up = (1e9 / took.as_unit("1")).as_unit("1/s") if took else missing("1/s")
    if need.deadline_us:
        tails = [_metric(need, points, size, need.op, need.metric) for size in need.size]
        made.quantile = max(filter(None, tails), key=lambda q: q.value, default=missing("ns"))
        made.hold("deadline", tails, need.deadline_us * 1e3)
    if need.rate:
        made.hold("rate", [took], 1e9 / need.rate)
    if need.cpus:
        made.hold("cpus", [made.cpus], need.cpus)


def _busy(need: Need, points: pd.DataFrame, value: Quantity) -> Quantity:
    """Return how many CPUs both ends keep busy."""
    ops = ["sent", "received"] if need.study == "stream" else [need.closed_op]
    spent = total([_mixed(need, points, op, "cpu_ns") for op in ops])
    return (spent * (need.rate / 1e9) if need.rate else spent / value).as_unit("count")


def _over_limit(
    need: Need, times: pd.DataFrame, limits: pd.DataFrame, value: Quantity
) -> Quantity | None:
    """Return the time over what the hardware allows for the mix; None where that is not known."""
    if not (len(limits) and len(times) and value):
        return None
    bounds = with_limits(times, limits).drop_duplicates(need.sized).set_index(need.sized).limit
    least = sum(share * float(bounds.get(size, inf)) for size, share in need.size.items())
    return value / Quantity(least, "ns") if isfinite(least) else None


def _nearer(shown: Quantity, bound: float) -> float:
    """Return how many times as many launches would move the interval of `shown` off a bound."""
    low, high = shown.ends if shown else (0.0, inf)
    if not 0 < low <= high < inf:
        return 2.0
    half, apart = log(high / low) / 2, abs(log(bound / shown.value))
    return (half / apart) ** 2 if apart else inf


def _mixed(
    need: Need, points: pd.DataFrame, op: str, metric: str, inverse: bool = False
) -> Quantity:
    """Return the mean of a metric over the sizes of a need, in their shares.

    Of rates (`inverse`) that of the times, ns.
    """
    parts = []
    for size, share in need.size.items():
        part = _metric(need, points, size, op, metric)
        if inverse and part:
            part = 1e9 / part.as_unit("1")
        parts.append(part * share)
    return total(parts)


def _metric(need: Need, points: pd.DataFrame, size: int, op: str, metric: str) -> Quantity:
    """Return a metric at one size, of the point that has most launches."""
    if len(points):
        points = points[points[need.sized] == size]
        points = points[(points.op == op) & (points.metric == metric)]
    if points.empty:
        return missing("ns")
    return quantity(next(points.sort_values("launches", ascending=False).itertuples()))
