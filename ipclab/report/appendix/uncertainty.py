"""What the uncertainty of a value is made of."""

from collections.abc import Mapping, Sequence
from math import floor, hypot, inf, log, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from ipclab.calibrated.twins import EXCHANGES, STUDY
from ipclab.lab.data import Data
from ipclab.report.appendix.about import spent
from ipclab.stats.compare import NOT_TESTED
from ipclab.stats.intervals import SESSION, VARYING, median_interval
from ipclab.stats.quantity import Quantity
from ipclab.stats.sessions import several
from ipclab.words.catalogue import N_
from ipclab.words.words import DASH

COVERAGE = 0.95  # of the expanded uncertainty
NORMAL = 1.96  # standard deviations in half of a 95 % interval


class Evaluated(NamedTuple):
    """How a source is evaluated: from repeated observation (A) or from what else is known (B).

    A dash as divisor: it is that of the launches, or sessions, which each value has its own of.
    """

    type: str
    distribution: str
    divisor: float | str


TYPES = {
    "launches": Evaluated("A", N_("Student's t"), DASH),
    "session": Evaluated("B", N_("normal"), NORMAL),
    "clock": Evaluated("B", N_("rectangle"), sqrt(3)),
    "quantisation": Evaluated("B", N_("rectangle"), sqrt(12)),
    "forked": Evaluated("A", N_("normal"), 1.0),
    "host": Evaluated("B", N_("rectangle"), sqrt(3)),
}
LEAST = 0.0001  # what is smaller, but not 0, is given as that


def budget(
    lab: Data,
    value: Quantity,
    *timed: Quantity,
) -> dict[str, Quantity]:
    """Return standard uncertainties (shares of `value`) by source, then combined ones.

    These are `combined`, its effective degrees of `freedom` (GUM, G.4.1: Welch-Satterthwaite, cut to
    a whole number), the `factor` of Student's t for `COVERAGE`, `expanded` and `printed`.

    `timed` are the times (ns) that were taken of it: one for a time, both for their ratio.
    `printed` is half of the interval that the reports print. What this run does not know has no
    value, and counts as nothing.

    >>> pd.DataFrame({"past": budget(lab, past, past), "ratio": budget(lab, past / now, past, now)})
    """
    clock = lab.value(lab.points("limits", backend="clock"), op="read", metric="p50")
    resolution = lab.run.facts.get("clock_resolution")
    times = [float(time.value) for time in timed if time]
    parts = [value] if value.launches else timed
    shares = {
        "launches": _between_launches(parts),
        "session": _of_sessions(value, timed),
        "clock": _of_each(times, clock.value, 3) if clock else None,
        "quantisation": _of_each(times, resolution, 12) if resolution else None,
        "forked": _of_twins(lab, len(timed)),
        "host": _of_host(lab),
    }
    if not value:
        shares = dict.fromkeys(shares)
    for name, share in shares.items():
        if share:
            shares[name] = max(share, LEAST)
    components = [share for share in shares.values() if share is not None]
    combined = hypot(*components) if components else None
    known = {
        "launches": min((len(part.launches) - 1 for part in parts), default=0),
        "forked": len(_of_identical(lab)),
    }
    freedom = _freedom(shares, known) if combined else None
    factor = None if freedom is None else _factor(freedom)
    more = {
        "combined": Quantity(combined, "share"),
        "freedom": Quantity(freedom, "count"),
        "factor": Quantity(factor, "1"),
        "expanded": Quantity(factor and combined and factor * combined, "share"),
        "printed": Quantity(_printed(value), "share"),
    }
    return {name: Quantity(share, "share") for name, share in shares.items()} | more


def _factor(freedom: float) -> float:
    """Return the factor of Student's t for `COVERAGE`."""
    return float(stdtrit(freedom, (1 + COVERAGE) / 2))


def _freedom(shares: Mapping[str, float | None], known: Mapping[str, int]) -> float:
    """Return effective degrees of freedom; what is no observation has endlessly many."""
    combined = hypot(*(share for share in shares.values() if share))
    lost = sum((shares[name] or 0.0) ** 4 / max(many, 1) for name, many in known.items())
    return max(1, floor(combined**4 / lost)) if lost else inf


def _between_launches(parts: Sequence[Quantity]) -> float | None:
    """Return the standard uncertainty of medians over launches, before what sessions add.

    It is half of their interval over the factor of Student's t for so many, by which few are
    widened: the expanded uncertainty would widen them a second time.
    """
    widths = []
    for part in parts:
        launches = np.asarray([*part.launches.values()], dtype=np.float64)
        if len(launches) < 2 or not part.value:  # noqa: PLR2004  of one nothing is known
            return None
        low, high = median_interval(launches)
        widths.append(float((high - low) / 2 / _factor(len(launches) - 1) / part.value))
    return hypot(*widths) if np.isfinite(widths).all() else None


def _of_sessions(value: Quantity, timed: Sequence[Quantity]) -> float | None:
    """Return what sessions differ by; sides of a ratio that share their launches share it.

    Between several sessions of a run it is in what launches differ by.
    """
    if all(several(part.launches) for part in ([value] if value.launches else timed)):
        return 0.0
    if value.unit in VARYING:
        return SESSION / NORMAL
    return 0.0 if value.launches else sqrt(len(timed)) * SESSION / NORMAL


def _of_each(times: list[float], width: float, divisor: int) -> float | None:
    """Return what a rectangle of `width` (ns) does to the times."""
    return hypot(*(width / sqrt(divisor) / time for time in times)) if times else None


def _of_identical(lab: Data) -> list[float]:
    """Return the logarithms of ratios between identical programs."""
    contests = lab.contests(STUDY)
    if contests.empty:
        return []
    twins = contests[contests.other.astype(str).str.endswith(f" {EXCHANGES}")]
    return [log(ratio) for ratio in twins[twins.verdict != NOT_TESTED].ratio]


def _of_twins(lab: Data, sides: int) -> float | None:
    """Return how far identical programs lie apart: what they have of their fork server."""
    logs = _of_identical(lab)
    return sqrt(sides / 2) * float(np.sqrt(np.mean(np.square(logs)))) if logs else None


def _of_host(lab: Data) -> float | None:
    """Return the host's share of the CPU time in use, as a rectangle's half-width."""
    busy = spent(lab.run.about, "busy_ns")
    return spent(lab.run.about, "steal_ns") / busy / sqrt(3) if busy > 0 else None


def _printed(value: Quantity) -> float | None:
    if not value or not value.value:
        return None
    low, high = value.ends
    return float((high - low) / 2 / value.value) if np.isfinite(high) else None
