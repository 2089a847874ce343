"""Results over the hardware's matching limit, and results beyond any copying mechanism."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ipclab.bounds import cpu_pairs
from ipclab.bounds.floors import IN_PLACE, Floor, Floors, Key, bound_of, limit_called
from ipclab.frames.metrics import HEAT
from ipclab.frames.points import NO_HEAT
from ipclab.stats import paired
from ipclab.stats.intervals import LEVEL, exp
from ipclab.stats.quantity import Quantity
from ipclab.stats.sessions import by_session
from ipclab.store.questions import Questions

TOLERANCE = 0.9  # memcpy's own run-to-run spread
LEAST = 0.995  # of its limit: a quotient that is printed below 1 shows that the limit is none
STATES = "own_low", "own_high", "limit_low", "limit_high"  # of what is below its limit (ns)


def with_limits(points: pd.DataFrame, limits: pd.DataFrame, questions: Questions) -> pd.DataFrame:
    """Return p50 rows of one study with `limit` (ns), `over_limit` and `over`, or empty ones.

    `limits` is the launch frame of the study `limits` in the same run, which asks `questions`. A
    limit is the median of its launches; `limit_low` and `limit_high` are the least and the most,
    its states. `over` is the ratio with its interval (a quantity): to the limit's turns in the same
    heats where it took some there.
    """
    known_floors = floors(limits, questions)
    heats = _by_heat(limits, questions)
    times = (points.metric == "p50") & (points.unit == "ns")
    bounds = np.full((len(points), 3), np.nan)
    over = np.full(len(points), np.nan, dtype=object)
    for number, row in enumerate(points.to_dict("records")):
        if floor := known_floors.under(row["study"], row["op"], row):
            bounds[number] = floor.ns, floor.low, floor.high
            if times.iloc[number]:
                over[number] = _over(row, floor, heats)
    limit, low, high = bounds.T
    over_limit = (points.value / limit).where(times)
    return points.assign(
        limit=limit, limit_low=low, limit_high=high, over_limit=over_limit, over=over
    )


def _over(row: Mapping[Hashable, Any], floor: Floor, heats: Mapping[Key, paired.Heats]) -> Quantity:
    """Return the median of `row` over its limit, heat by heat where they took turns."""
    sources = (f"{row['study']}/{row['point']}/{row['op']}/{row['metric']}",)
    if len(floor.limits) == 1:
        by_heat = zip(row.get("heats", ()), row.get("by_heat", ()), strict=True)
        both = heats.get(floor.limits[0], {}), dict(by_heat)  # of sessions, if there are several
        ratios = paired.log_ratios(*both)
        if len(ratios) >= paired.FEWEST_HEATS:
            low, high = paired.interval(ratios, 1 - LEVEL)
            limit, time = paired.means(*both)
            return Quantity(time / limit, "1", exp(low), exp(high), sources=sources)
    return Quantity(float(row["value"]) / floor.ns, sources=sources)


def _by_heat(limits: pd.DataFrame, questions: Questions) -> dict[Key, paired.Heats]:
    """Return the medians of each limit by heat, or by session."""
    by_limit: dict[Key, dict[int, float]] = defaultdict(dict)
    for key, heat, median in _medians(limits, questions):
        if heat != NO_HEAT:
            by_limit[key][int(heat)] = median
    return {key: by_session(by_heat) for key, by_heat in by_limit.items()}


def floors(limits: pd.DataFrame, questions: Questions) -> Floors:
    """Return the floors of a launch frame of the study `limits`."""
    medians: dict[Key, list[float]] = defaultdict(list)
    bounding = limits[limits.backend != cpu_pairs.NAME]  # which bound nothing
    for key, _, median in _medians(bounding, questions):
        medians[key].append(median)
    return Floors(dict(medians), questions)


def _medians(limits: pd.DataFrame, questions: Questions) -> Iterator[tuple[Key, Any, float]]:
    """Yield the limit of each launch, its heat and its median."""
    rows = limits.loc[limits.metric == "p50"]
    heats = rows[HEAT].tolist() if HEAT in rows else [NO_HEAT] * len(rows)
    columns = (
        rows[name].tolist() for name in ("backend", "op", "size_bytes", "placement", "value")
    )
    for backend, op, size, placement, median, heat in zip(*columns, heats, strict=True):
        yield (limit_called(questions, backend, op), size, placement), heat, median


def below_limit(points: pd.DataFrame) -> pd.DataFrame:
    """Return rows of `with_limits` that took less time than their limit; lowest first.

    That is whoever's quotient is printed below 1, whatever its interval: `lowest` is what `over`
    says. `own_low` and `own_high` are the least and the most of the result's launches (ns).
    """
    lowest = points.over.map(lambda over: over.value, na_action="ignore").astype(float)
    rows = points.assign(lowest=lowest)[lowest < LEAST]
    low, high = ([end(one, default=np.nan) for one in rows.by_heat] for end in (min, max))
    return rows.assign(own_low=low, own_high=high).sort_values("lowest", kind="stable")


def lines_below_limit(beaten_rows: pd.DataFrame) -> list[str]:
    """Return one line for each row `below_limit`: how far, study, op, point, and the states.

    Those are the least and the most of its launches, and of the limit's, in us.
    """
    lines = []
    for row in beaten_rows.to_dict("records"):
        ends = [row[name] / 1000 for name in STATES]
        states = "{:.4g} to {:.4g} us, the limit {:.4g} to {:.4g}".format(*ends)
        of = f"{row['study']} {row['op']} {row['point']}"
        lines.append(f"x {row['lowest']:.2f} of its limit: {of} ({states})")
    return lines


def below_copies(points: pd.DataFrame, limits: pd.DataFrame, questions: Questions) -> list[str]:
    """Return one line for each median shorter than its passes of memcpy can be, by their fastest.

    `limits` is the launch frame of the study `limits` in the same run. Where a size was not copied,
    the next smaller one is what its passes take at least.
    """
    copies_of_all = limits[(limits.op == "copy") & (limits.metric == "min")]
    fastest = copies_of_all.groupby("size_bytes").value.min()
    lines = []
    for row in points[points.metric == "p50"].to_dict("records"):
        bound = bound_of(questions, str(row["study"]), row["op"], row)
        copies = bound.copies if bound and row.get("receive") != IN_PLACE else 0
        if not copies:
            continue
        shorter = fastest[fastest.index <= row["size_bytes"]]
        least = copies * float(shorter.max() if len(shorter) else 0) * TOLERANCE
        if row["value"] < least:
            passes = f"{copies} passes of memcpy over {row['size_bytes']} bytes"
            took = f"{row['value']:.0f} ns is less than {passes} can take ({least:.0f} ns)"
            lines.append(f"{row['study']} {row['point']}: {took}")
    return lines
