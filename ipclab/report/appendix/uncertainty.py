"""What the uncertainty of a value is made of, and what stands beside a value that is signed."""

from datetime import datetime
from itertools import pairwise
from math import exp, hypot, isfinite, log, sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from ipclab.bounds.points import CUT
from ipclab.calibrated.twins import EXCHANGES, STUDY
from ipclab.frames.ratios import Ratios
from ipclab.lab.data import Data
from ipclab.report.appendix.about import spent
from ipclab.stats.compare import NOT_TESTED
from ipclab.stats.intervals import (
    ENDLESS,
    LEVEL,
    NOMINAL,
    NORMAL,
    SESSION_ERROR,
    VARYING,
    Standard,
    uncertainty,
)
from ipclab.stats.quantity import Quantity
from ipclab.stats.sessions import several
from ipclab.words.catalogue import N_
from ipclab.words.words import DASH

COVERAGE = LEVEL  # of the expanded uncertainty, which resampling held (docs/evidence.md)


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
COMBINED = "launches", "session"  # what launches do not show but these is bounded by the others
LEAST = 0.0001  # what is smaller, but not 0, is given as that
# What a flag of a signed value means, and what was done about it.
DISPOSITIONS = {
    "modes": N_("samples have several modes: the value is over all of them"),
    "drift": N_("launches drift: the value is their mean, the interval holds the drift"),
    "disturbed": N_("launches were disturbed: kept, and repeated where there was time"),
    "oversubscribed": N_("more processes than CPUs, by intent: in no contest"),
    "failed-launches": N_("launches failed: repeated"),
    "few-samples": N_("too few samples: no value"),
    CUT: N_("launches do not rule out less than the limit: the interval begins there"),
}


class Expanded(NamedTuple):
    """The standard uncertainty of a logarithm by source, and what expands it."""

    launches: Standard
    session: float
    level: float
    logs: bool = True

    @property
    def combined(self) -> Standard:
        """Return both in quadrature."""
        return self.launches.with_term(self.session)

    @property
    def factor(self) -> float:
        """Return the coverage factor."""
        return float(stdtrit(self.combined.freedom, (1 + self.level) / 2))

    @property
    def half(self) -> float:
        """Return the expanded uncertainty U, a share.

        The interval is y / (1 + U) to y (1 + U), of what can be 0 y (1 - U) to y (1 + U).
        """
        expanded = self.factor * self.combined.error
        return exp(expanded) - 1 if self.logs else expanded


def budget(lab: Data, value: Quantity, *timed: Quantity) -> dict[str, Quantity]:
    """Return standard uncertainties (shares of `value`) by source, and what is signed with it.

    Then come `combined` (of `COMBINED`), its effective degrees of `freedom` (GUM, G.4.1:
    Welch-Satterthwaite), the `factor` of Student's t, and `expanded`, which is U: the printed
    interval is y / (1 + U) to y (1 + U); then the `value`, of how many launches (`of`) and
    `samples` it is, how far sessions lie `apart`, its `flags`, and what was done about them
    (`disposition`). The other sources are in what launches show, since each is forked anew and
    times itself; they are given as bounds of their part in it.

    `timed` are the times (ns) that were taken of it: one for a time, both for their ratio. What
    this run does not know has no value.

    >>> pd.DataFrame({"past": budget(lab, past, past), "ratio": budget(lab, past / now, past, now)})
    """
    clock = lab.value(lab.points("limits", backend="clock"), op="read", metric="p50")
    resolution = lab.run.facts.get("clock_resolution")
    times = [float(time.value) for time in timed if time]
    found = expanded(lab, value)
    shares: dict[str, float | None] = {
        "launches": found.launches.error if found else None,
        "session": found.session if found else None,
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
    more = {
        "combined": Quantity(found and found.combined.error, "share"),
        "freedom": Quantity(found and _whole(found.combined.freedom), "count"),
        "factor": Quantity(found and found.factor, "1"),
        "expanded": Quantity(found and found.half, "share"),
    }
    shares_by_source = {name: Quantity(share, "share") for name, share in shares.items()}
    return shares_by_source | more | _signed(lab, value)


def _signed(lab: Data, value: Quantity) -> dict[str, Quantity]:
    """Return what else stands beside a value that is signed: of how many, flags, what was done."""
    launches, _, samples = value.n.partition(" x ")
    rows = _rows(lab, value)
    flags = {flag for row in rows for flag in str(row.flags).split(";")}
    if len(rows) > 1:  # what is made of several is not cut where one of them is
        flags.discard(CUT)
    known = sorted(flag for flag in flags if flag.partition(":")[0] in DISPOSITIONS)
    done = dict.fromkeys(DISPOSITIONS[flag.partition(":")[0]] for flag in known)
    return {
        "value": value,
        "of": Quantity(int(launches) if launches else None, "count"),
        "samples": Quantity(int(samples) if samples else None, "count"),
        "apart": apart(lab),
        "flags": Quantity(", ".join(known) or DASH, "text"),
        "disposition": Quantity(lab.words.joined(map(lab.say, done), N_("; ")) or DASH, "text"),
    }


def apart(lab: Data) -> Quantity:
    """Return the least time (ns) from the end of a session to the beginning of the next one."""
    told = lab.run.about.get("sessions") or []
    gaps = [
        datetime.fromisoformat(later["begun"]) - datetime.fromisoformat(earlier["ended"])
        for earlier, later in pairwise(told)
        if "ended" in earlier
    ]
    return Quantity(min(gaps).total_seconds() * 1e9 if gaps else None, "ns")


def expanded(lab: Data, value: Quantity) -> Expanded | None:
    """Return what the interval of `value` is made of; None for an exact one and one without ends.

    A ratio that a contest judged has the level of the contest; what is computed of launches has
    their own scatter alone.
    """
    if not value or value.low is None or not all(map(isfinite, value.ends)) or value.ends[0] <= 0:
        return None
    factors = value.product.factors
    if pair := value.product.pair:
        known = Ratios(lab.run).compared(*(part.name for part in pair))
        if known and known.error is not None and known.freedom is not None:
            return Expanded(Standard(known.error, known.freedom), 0.0, 1 - known.level)
    launches = value.launches
    time = value.product.time
    session = SESSION_ERROR if time and not several(launches) else 0.0
    if len(factors) == 1:
        for row in _rows(lab, value):
            if isfinite(row.freedom):
                term = session if row.unit in VARYING else 0.0
                logs = row.unit in VARYING
                error = row.error if logs else row.error / abs(row.value)
                return Expanded(Standard(error, row.freedom), term, NOMINAL, logs)
    if len(launches) > 1 and min(launches.values()) > 0:
        return Expanded(uncertainty(np.log([*launches.values()])), session, NOMINAL)
    half = log(value.ends[1] / value.ends[0]) / 2
    return Expanded(Standard(half / NORMAL, ENDLESS), 0.0, LEVEL)


def _rows(lab: Data, value: Quantity) -> list[Any]:
    """Return the rows of point frames that a value follows from."""
    rows: list[Any] = []
    for source in value.sources:
        study, point, op, metric = source.split("/")
        frame = lab.points(study, op=op, metric=metric)
        rows += frame[frame.point == point].itertuples(index=False)
    return rows


def _whole(freedom: float) -> float:
    """Return degrees of freedom cut to a whole number, endless ones as that."""
    return float("inf") if freedom >= ENDLESS else float(int(freedom))


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
