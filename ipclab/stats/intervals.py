"""Values and intervals from launches: one estimator for launches, heats and sessions; quantiles.

Samples within a launch share its luck (page placement, the scheduler's choices): they are never
pooled as independent. A launch gives one number. A value is their geometric mean with Student's t
on logarithms, its variance steadied by that of the study's points (Smyth, Stat. Appl. Genet. Mol.
Biol. 3, 2004, article 3, equation 3); what can be 0 or negative has the arithmetic mean. So values
that stand side by side can be divided. `benchmarks/coverage.py` chose the prior and the level.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil, hypot, inf, isfinite, log, nan, sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaincinv, stdtrit

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
Samples = np.ndarray[tuple[Any, ...], np.dtype[np.number[Any]]]
LEVEL = 0.95
# of an interval by itself: at 0.965 it held the values of skewed and two-state points in 95 %
NOMINAL = 0.965
# the study's scatter counts as so many degrees of freedom, at this quantile of its points' variances
PRIOR_FREEDOM, PRIOR_QUANTILE = 2.0, 0.75
FEWEST_POINTS = 6  # whose quartile says something
FEWEST = 3  # launches that have an interval: two leave one degree of freedom, and say nothing
VARYING = ("ns", "1/s", "B/s")  # units of what differs from session to session, and is above 0
# an interval whose ends are further apart says only that there were too few launches
WIDEST = 100.0
LEAST_BEYOND = 10  # samples beyond a quantile; fewer make it a guess
# share by which sessions differ more than launches of one can show (docs/evidence.md#sessions):
# half of an interval, and as a standard uncertainty
SESSION = 0.06
NORMAL = 1.96  # standard deviations in half of a 95 % interval
SESSION_ERROR = SESSION / NORMAL
ENDLESS = 1e9  # degrees of freedom


class Scatter(NamedTuple):
    """The scatter that others show: `variance` (of logs), degrees of `freedom`, of `contestants`.

    `apart` is the share of the heats that count, where each resembles the one before.
    """

    freedom: float = 0.0
    variance: float = 0.0
    contestants: int = 0
    apart: float = 1.0


UNKNOWN = Scatter()


class Standard(NamedTuple):
    """A standard uncertainty and its degrees of freedom."""

    error: float
    freedom: float

    def with_term(self, term: float) -> "Standard":
        """Return it with a term that is known, in quadrature (GUM, G.4.1: Welch-Satterthwaite)."""
        combined = hypot(self.error, term)
        if not self.error:
            return Standard(combined, ENDLESS)
        freedom = self.freedom * (combined / self.error) ** 4
        return Standard(combined, min(freedom, ENDLESS))

    def factor(self, level: float = NOMINAL) -> float:
        """Return the factor of Student's t by which it is expanded."""
        return float(stdtrit(self.freedom, (1 + level) / 2))


@dataclass(frozen=True)
class Estimate:
    """A value with its interval, and of how many launches and samples it is.

    `error` is the standard uncertainty that launches show (of logarithms where all are above 0),
    before what sessions add, and `freedom` its degrees of freedom; NaN where there are none.
    """

    value: float
    low: float
    high: float
    launches: int
    samples: int
    error: float = nan
    freedom: float = nan

    def for_sessions(self) -> "Estimate":
        """Return a time or rate above 0 with an interval for any session: `SESSION` in quadrature."""
        if not 0 < self.low <= self.value <= self.high < inf:
            return self
        low = self.value * exp(-hypot(log(self.value / self.low), SESSION))
        high = self.value * exp(hypot(log(self.high / self.value), SESSION))
        return replace(self, low=low, high=high)


def exp(x: float) -> float:
    """Return e to the power of `x`, infinite where that is beyond all floats."""
    try:
        return math.exp(x)
    except OverflowError:
        return inf


def says_nothing(low: float, high: float) -> bool:
    """Tell whether an interval shows only that there were too few launches.

    It has no end, or is wider than a factor of `WIDEST`; what begins at 0 is left to who knows
    whether the value can be 0.
    """
    return not (isfinite(low) and isfinite(high)) or (low > 0 and high > WIDEST * low)


def rank(count: int, q: float) -> int:
    """Return the index of the `q` quantile among `count` sorted values.

    It is the inverse of the empirical distribution.
    """
    return min(count - 1, max(0, ceil(q * count) - 1))


def prior(points: Iterable[Sequence[float]]) -> Scatter:
    """Return what the launches of all `points` of a study say of the scatter of any one of them.

    It is the upper quartile of the variances of their logarithms, so that who scatters much is not
    narrowed by the many that do not. `UNKNOWN` for fewer than `FEWEST_POINTS`.
    """
    variances = []
    for values in points:
        if len(values) > 1 and min(values) > 0:
            variances.append(float(np.log(values).var(ddof=1)))
    if len(variances) < FEWEST_POINTS:
        return UNKNOWN
    return Scatter(PRIOR_FREEDOM, float(np.quantile(variances, PRIOR_QUANTILE)))


def uncertainty(values: Floats, scatter: Scatter = UNKNOWN) -> Standard:
    """Return the standard uncertainty of the mean of two values or more, steadied by `scatter`."""
    own = len(values) - 1
    freedom = own + scatter.freedom
    squares = own * float(values.var(ddof=1)) + scatter.freedom * scatter.variance
    return Standard(sqrt(squares / freedom / len(values)), freedom)


def statistic_estimate(
    per_launch: Sequence[float],
    samples: int,
    scatter: Scatter = UNKNOWN,
    session: float = 0.0,
    logs: bool = True,
) -> Estimate:
    """Return the mean over launches of a number that each launch has, with its interval.

    With `logs` it is the geometric mean, if all are above 0, steadied by the `scatter` of the
    study, else the arithmetic one. `session` is a relative standard uncertainty for what launches
    cannot show. Fewer than `FEWEST` have no interval, that is an infinite one, and neither
    have those whose interval would say nothing (`WIDEST`).
    """
    values = np.asarray(per_launch, dtype=np.float64)
    value = mean_of(values, logs)
    count = len(values)
    if count < FEWEST:
        return Estimate(value, -inf, inf, count, samples)
    if are_logs(values, logs):
        shown = uncertainty(np.log(values), scatter)
        known = shown.with_term(session)
        factor = exp(known.factor() * known.error)
        low, high = value / factor, value * factor
    else:
        shown = uncertainty(values)
        known = shown.with_term(session * abs(value))
        half = known.factor() * known.error
        low, high = value - half, value + half
    if says_nothing(low, high):
        low, high = -inf, inf
    return Estimate(value, low, high, count, samples, *shown)


def are_logs(values: Floats, logs: bool = True) -> bool:
    """Tell whether `values` are taken by their logarithms."""
    return logs and bool((values > 0).all())


def mean_of(values: Floats | Sequence[float], logs: bool = True) -> float:
    """Return the geometric mean of values that are all above 0, else the arithmetic one."""
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.size and numbers.min() == numbers.max():
        return float(numbers[0])  # as it is, without rounding
    return exp(float(np.log(numbers).mean())) if are_logs(numbers, logs) else float(numbers.mean())


def pooled(launches: Sequence[Samples | Any], q: float) -> Estimate | None:
    """Return the `q` quantile of all launches' samples; None with under ten beyond it.

    The ends of its interval are infinite where launches are too few for one.
    The interval is Woodruff's (J. Am. Statist. Assoc. 47, 1952, 635-646): the share of samples
    below the quantile has the variance between launches, whose samples share their luck, and the
    ends are the quantiles at the ends of that share.
    """
    counts = np.array([len(samples) for samples in launches], np.float64)
    total = int(counts.sum())
    if total == 0 or total - 1 - rank(total, q) < LEAST_BEYOND:
        return None
    ordered = np.sort(np.concatenate(launches))
    value = float(ordered[rank(total, q)])
    if len(launches) < FEWEST:
        return Estimate(value, -inf, inf, len(launches), total)
    shares_below = np.array([np.mean(samples <= value) for samples in launches])
    off = counts / total * (shares_below - np.average(shares_below, weights=counts))
    between = len(launches) / (len(launches) - 1) * float((off**2).sum())
    error = sqrt(max(between, q * (1 - q) / total))
    half = float(stdtrit(len(launches) - 1, (1 + LEVEL) / 2)) * error
    low = float(ordered[rank(total, q - half)]) if q > half else -inf
    high = float(ordered[rank(total, q + half)]) if q + half < 1 else inf
    return Estimate(value, low, high, len(launches), total)


def rate_upper(hits: int, trials: int, level: float = (1 + LEVEL) / 2) -> float:
    """Return the upper bound of a rate at a one-sided `level`; the end of a 95 % interval.

    Clopper and Pearson, Biometrika 26, 1934, 404-413.
    """
    if hits == trials:
        return 1.0
    return float(betaincinv(hits + 1, trials - hits, level))
