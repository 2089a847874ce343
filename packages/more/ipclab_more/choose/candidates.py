"""What a run tells of each mechanism that may fit a need: times, load, limit, promises. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, nan
from operator import attrgetter

import numpy as np
import pandas as pd

from ipclab.bounds.states import UNSTEADY
from ipclab.frames import tails
from ipclab.frames.contests import side_of
from ipclab.frames.metrics import ROUND
from ipclab.stats import judge
from ipclab.stats.compare import SAME, Comparison, Side
from ipclab.stats.enough import factor
from ipclab.stats.intervals import mean_of
from ipclab.stats.quantity import Quantity, missing, of, total
from ipclab.store.launch import BUSY
from ipclab_more.choose.known import ABSENT, KnownRows, Offer, promise_kept, promised
from ipclab_more.choose.need import ONE_WAY, US, Need

BEST, WORSE, EXCLUDED, UNMEASURED = "best", "slower", "excluded", "not measured"
STATUSES = BEST, WORSE, EXCLUDED, UNMEASURED
MEASURED_DEMANDS = {"rate", "deadline", "cpus"}  # which more launches can show


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
    slow: float = inf  # its median in its slower state
    value: Quantity = ABSENT
    estimate: Quantity = ABSENT
    quantile: Quantity = ABSENT
    cpus: Quantity = ABSENT  # absent where a run does not tell them
    keeps_up: Quantity = ABSENT
    limit: Quantity = ABSENT
    compared: Comparison | None = None  # with the fastest
    ratio: Quantity = ABSENT
    verdict: str = ""
    launches: int = 0
    times_more: float = 1.0  # of its launches would show what is open

    @property
    def middle(self) -> float:
        """Return the mean of its launches in ns, infinite without any."""
        return mean_of(self.side.medians) if self.side else inf

    @property
    def settled(self) -> bool:
        """Tell whether all that is asked of it was shown."""
        return not self.open and self.verdict in ("", SAME, UNSTEADY)

    @property
    def untold(self) -> list[str]:
        """Return what is open and more launches of its points cannot show."""
        shown = MEASURED_DEMANDS if self.cpus else MEASURED_DEMANDS - {"cpus"}
        return [demand for demand in self.open if demand not in shown]

    def require(self, demand: str, quantities: Sequence[Quantity], bound: float) -> None:
        """Note under `demand` what was shown of `quantities`, which must all lie below `bound`."""
        verdicts = {judge.within(shown, -inf, bound) for shown in quantities}
        if judge.ABOVE in verdicts:
            self.why.append(demand)
        elif verdicts != {judge.INSIDE}:
            self.open.append(demand)
            factors = [_launches_factor(shown, bound) for shown in quantities]
            self.times_more = max(self.times_more, *factors)


def candidate_of(need: Need, known: KnownRows, offer: Offer) -> Candidate:
    """Return what is known of one mechanism; it is not compared yet."""
    name = offer.name
    counts, faults, times = (
        rows[rows.backend == name] for rows in (known.counts, known.faults, known.times)
    )
    promises = promised(counts, faults)
    candidate = Candidate(name, **promises)
    for must in need.must:
        holds = promise_kept(must, offer, promises)
        if holds is None:
            candidate.open.append(must)
        elif not holds:
            candidate.why.append(must)
    candidate.lacking = sorted(need.size.keys() - set(times[need.size_column]))
    if offer.refused:
        candidate.why.append(offer.refused)
    elif not candidate.lacking:
        candidate.side = _launches_of(need, times)
    candidate.value = _mixed(need, known.values(name, need.op, "p50"))
    candidate.slow = known.mean(name, "slow")
    candidate.cpus = _busy(need, known, name)
    candidate.limit = candidate.value / of(known.mean(name, "limit")).as_unit("ns")
    rates = known.values(name, "launch", "closed_per_second")
    took = _mixed(need, [1e9 / rate.as_unit("1") for rate in rates])
    if not took:
        took = _mixed(need, known.values(name, need.closed.op, "p50", closed=True))
    candidate.keeps_up = (1e9 / took.as_unit("1")).as_unit("1/s")
    if need.deadline_us:
        quantiles = known.values(name, need.op, tails.metric(need.quantile))
        measured = filter(None, quantiles)
        candidate.quantile = max(measured, key=attrgetter("value"), default=ABSENT)
        candidate.require("deadline", quantiles, need.deadline_us * US)
    if need.rate:
        candidate.require("rate", [took], 1e9 / need.rate)
    if need.cpus:
        candidate.require("cpus", [candidate.cpus], need.cpus)
    if candidate.side is None:
        candidate.estimate = _estimate(need, times)
    if candidate.why:
        candidate.status = EXCLUDED
    return candidate


def most_launched(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the point that has most launches."""
    ((point, _),) = Counter(rows.point).most_common(1)
    most: pd.DataFrame = rows[rows.point == point]
    return most


def _launches_of(need: Need, times: pd.DataFrame) -> Side | None:
    """Return the launches of one mechanism, a mix as one time for each round that all sizes have.

    None where they share no round.
    """
    sizes = times[need.size_column]
    parts = [most_launched(times[sizes == size]) for size in need.size]
    if len(parts) == 1:
        return side_of(parts[0])
    by_round = pd.concat(parts).pivot_table("value", ROUND, need.size_column, aggfunc="last")
    mixed = by_round.dropna() @ pd.Series(need.size)
    if mixed.empty:
        return None
    return Side(list(mixed), rounds=list(mixed.index))


def _estimate(need: Need, times: pd.DataFrame) -> Quantity:
    """Return the time of one mechanism by straight lines between the means of measured sizes' launches.

    Both axes are logarithmic. Nothing is estimated beyond the smallest and the largest size.
    """
    means = times.groupby(need.size_column).value.agg(mean_of).astype(float)
    if means.empty:
        return missing("ns")
    measured = np.log(means.index.astype(float))
    wanted = np.log(list(need.size))
    estimates = np.interp(wanted, measured, np.log(means), left=nan, right=nan)
    time = float(np.exp(estimates) @ list(need.size.values()))
    return missing("ns") if np.isnan(time) else Quantity(time, "ns", kind="estimate")


def _busy(need: Need, known: KnownRows, name: str) -> Quantity:
    """Return how many CPUs both ends keep busy, each over the time in which its CPU time was counted.

    Of a mix each size has its share of the time. A run that does not tell has no such number.
    """
    ops = ["sent", "received"] if need.way == ONE_WAY else [need.closed.op]
    by_op = [known.values(name, op, BUSY) for op in ops]
    of_sizes = [total(ends) for ends in zip(*by_op, strict=True)]
    if need.rate:  # so many messages a second, whatever their size
        return _mixed(need, of_sizes).as_unit("count")
    taken = known.values(name, need.op, "p50")
    if not all(taken):
        return ABSENT
    weights = [time.value * share for time, share in zip(taken, need.size.values(), strict=True)]
    parts = zip(of_sizes, weights, strict=True)
    return total(busy * (weight / sum(weights)) for busy, weight in parts).as_unit("count")


def _launches_factor(shown: Quantity, bound: float) -> float:
    """Return by what to multiply the launches to move the interval of `shown` off a bound."""
    low, high = shown.ends if shown else (0.0, inf)
    if not 0 < low <= high < inf:
        return 2.0
    ratio = shown.value / bound
    return inf if ratio == 1 else factor(low, high, ratio, 0.0)


def _mixed(need: Need, parts: Sequence[Quantity]) -> Quantity:
    """Return the mean of what stands for each size of a need, in their shares."""
    shares = need.size.values()
    return total(part * share for part, share in zip(parts, shares, strict=True))
