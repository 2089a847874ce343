"""What the uncertainty of a value is made of, and what stands beside a value that is signed."""

from datetime import datetime
from itertools import pairwise
from math import exp, hypot, inf, isfinite, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from ipclab.calibrated import EXCHANGES, STUDY
from ipclab.frames.ratios import Ratios
from ipclab.lab.data import Data
from ipclab.report.appendix.about import spent
from ipclab.stats.compare import NOT_TESTED
from ipclab.stats.intervals import (
    ENDLESS,
    LEVEL,
    NOMINAL,
    NORMAL,
    SESSION,
    SESSION_ERROR,
    VARYING,
    Standard,
    uncertainty,
)
from ipclab.stats.product import Product, groups
from ipclab.stats.quantity import Quantity, made_of
from ipclab.stats.sessions import several
from ipclab.words.catalogue import N_
from ipclab.words.words import DASH

COVERED = Quantity(LEVEL, "share")  # by the expanded uncertainty: resampling (docs/evidence.md)
NOMINAL_LEVEL = Quantity(NOMINAL, "share")  # of Student's t, by which it covers as much
SESSION_TERM = Quantity(SESSION, "share")  # half of an interval that sessions add


# How each source is evaluated: from repeated observation (A) or from what else is known (B), its
# distribution, and the divisor of a standard uncertainty.
EVALUATED = {
    "launches": (N_("A, Student's t"), None),
    "session": (N_("B, normal, {divisor}"), NORMAL),
    "clock": (N_("B, rectangle, {divisor}"), sqrt(3)),
    "quantisation": (N_("B, rectangle, {divisor}"), sqrt(12)),
    "forked": (N_("A, normal"), None),
    "host": (N_("B, rectangle, {divisor}"), sqrt(3)),
}
ROW = 3  # strokes in the name of a row, study/point/op/metric
LEAST = 0.0001  # what is smaller, but not 0, is given as that
LEAST_SHARE = Quantity(LEAST, "share")


class Expanded(NamedTuple):
    """The standard uncertainty of a logarithm by source, and what expands it."""

    launches: Standard
    session: float
    level: float
    logs: bool = True
    stretch: float = 0.0  # of intervals that were combined: the factor that they were combined to

    @property
    def combined(self) -> Standard:
        """Return both in quadrature."""
        return self.launches.with_term(self.session)

    @property
    def factor(self) -> float:
        """Return the coverage factor."""
        return self.stretch or self.combined.factor(self.level)

    @property
    def half(self) -> float:
        """Return the expanded uncertainty U, a share.

        The interval is y / (1 + U) to y (1 + U), of what can be 0 y (1 - U) to y (1 + U).
        """
        expanded = self.factor * self.combined.error
        return exp(expanded) - 1 if self.logs else expanded


def budget(lab: Data, value: Quantity, *timed: Quantity) -> dict[str, Quantity]:
    """Return standard uncertainties (shares of `value`) by source, and what they end in.

    That is `combined` (of launches and sessions), its effective degrees of `freedom` (GUM, G.4.1:
    Welch-Satterthwaite), the `factor` of Student's t, `expanded`, which is U, and the `value` with
    its interval, y / (1 + U) to y (1 + U). The other sources are in what launches show, since each
    is forked anew and times itself; they are given as bounds of their part in it.

    `timed` are the times (ns) that were taken of it: one for a time, both for their ratio. What
    this run does not know has no value.

    >>> pd.DataFrame({"past": budget(lab, past, past), "ratio": budget(lab, past / now, past, now)})
    """
    clock = lab.value(lab.points("limits", backend="clock"), op="read", metric="p50")
    resolution = lab.run.facts.get("clock_resolution")
    times = [float(time.value) for time in timed if time]
    stolen, busy = spent(lab.run.about, "steal_ns"), spent(lab.run.about, "busy_ns")
    found = expanded(lab, value)
    shares: dict[str, float | None] = {
        "launches": found.launches.error if found else None,
        "session": found.session if found else None,
        "clock": _of_each(times, clock.value, 3) if clock else None,
        "quantisation": _of_each(times, resolution, 12) if resolution else None,
        "forked": _of_twins(lab, len(timed)),
        "host": stolen / busy / sqrt(3) if busy > 0 else None,
    }
    made = {}
    for name, share in shares.items():
        known = max(share, LEAST) if share else share  # what is exactly 0 stays so
        made[name] = Quantity(known if value else None, "share")
    made["combined"] = Quantity(found and found.combined.error, "share")
    return made | ended(found) | {"value": value}


def evaluated(lab: Data, source: str) -> str:
    """Return type, distribution and divisor of a source of uncertainty; a dash for what is none."""
    said, divisor = EVALUATED.get(source, (DASH, None))
    return lab.say(said, divisor=Quantity(divisor))


def ended(found: Expanded | None) -> dict[str, Quantity]:
    """Return what expands a standard uncertainty: its degrees of `freedom`, `factor`, `expanded`."""
    freedom = found and found.combined.freedom
    if freedom is not None:  # cut to a whole number, endless ones as that
        freedom = inf if freedom >= ENDLESS else float(int(freedom))
    return {
        "freedom": Quantity(freedom, "count"),
        "factor": Quantity(found and found.factor, "1"),
        "expanded": Quantity(found and found.half, "share"),
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
    if pair := value.product.pair:
        known = Ratios(lab.run).compared(*(part.name for part in pair))
        if known and known.error is not None and known.freedom is not None:
            return Expanded(Standard(known.error, known.freedom), 0.0, 1 - known.level)
    launches = value.launches
    time = value.product.time
    session = SESSION_ERROR if time and not several(launches) else 0.0
    if len(value.sources) == 1:  # a row's scatter is steadied by that of its study
        for row in rows_of(lab, value):
            if isfinite(row.freedom):
                logs = row.unit in VARYING
                error = row.error if logs else row.error / abs(row.value)
                return Expanded(Standard(error, row.freedom), session * logs, NOMINAL, logs)
    values = np.array([*launches.values()])
    if len(values) > 1 and value.product.logs and values.min() > 0:
        return Expanded(uncertainty(np.log(values)), session, NOMINAL)
    half = log(value.ends[1] / value.ends[0]) / 2
    parts = [expanded(lab, part) for part in _apart(value)]
    decided = [part for part in parts if part and part.logs]
    if len(decided) < len(parts) or not parts:
        return Expanded(Standard(half / NORMAL, ENDLESS), 0.0, LEVEL)
    session = hypot(*(part.session for part in decided))
    shown = _together([part.launches for part in decided])
    return Expanded(shown, session, NOMINAL, stretch=half / hypot(shown.error, session))


def _apart(value: Quantity) -> list[Quantity]:
    """Return the parts of a product that share no launches, each of the rows that it names."""
    every = groups(value.product.factors)
    parts = []
    for group in every if len(every) > 1 else ():
        names = [part.name for part, _ in group]
        rows = [Quantity(None, sources=(name,)) for name in names if name.count("/") == ROW]
        parts.append(made_of(Product(1.0, frozenset(group)), value.unit, *rows))
    return parts


def _together(parts: list[Standard]) -> Standard:
    """Return independent uncertainties in quadrature (GUM, G.4.1: Welch-Satterthwaite)."""
    error = hypot(*(part.error for part in parts))
    shares = sum(part.error**4 / part.freedom for part in parts)
    return Standard(error, min(error**4 / shares, ENDLESS) if shares else ENDLESS)


def rows_of(lab: Data, value: Quantity) -> list[Any]:
    """Return the rows of point frames that a value follows from."""
    rows: list[Any] = []
    for source in value.sources:
        study, point, op, metric = source.split("/")
        frame = lab.points(study, op=op, metric=metric)
        rows += frame[frame.point == point].itertuples(index=False)
    return rows


def _of_each(times: list[float], width: float, divisor: int) -> float | None:
    """Return what a rectangle of `width` (ns) does to the times."""
    return hypot(*(width / sqrt(divisor) / time for time in times)) if times else None


def _of_twins(lab: Data, sides: int) -> float | None:
    """Return how far identical programs lie apart: what they have of their fork server."""
    contests = lab.contests(STUDY)
    if contests.empty:
        return None
    twins = contests[contests.other.astype(str).str.endswith(f" {EXCHANGES}")]
    logs = [log(ratio) for ratio in twins[twins.verdict != NOT_TESTED].ratio]
    return sqrt(sides / 2) * float(np.sqrt(np.mean(np.square(logs)))) if logs else None
