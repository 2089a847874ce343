"""The tidy frame of a study: one row for each point, op and metric, one column for each factor."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype

from ipclab.frames.metrics import COUNTER_UNITS, HEAT, ROUND, Metric, crowded, metrics, summary
from ipclab.stats.intervals import VARYING, Estimate, statistic_estimate
from ipclab.stats.sessions import by_session, several
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.store.samples import Measured

# the heats (launches, or sessions) that a value is of, and its value in each
HEATS, BY_HEAT = "heats", "by_heat"
VALUES = (
    "op",
    "metric",
    "unit",
    "value",
    "low",
    "high",
    "launches",
    "samples",
    "flags",
    HEATS,
    BY_HEAT,
)
KEY = ("study", "point", "backend", "size_bytes", "placement")
Row = dict[str, Any]
ROWS = 20_000  # that are held as dictionaries
TURNS = "turns"  # the medians of a launch's turns
# Whether there were more ranks than CPUs, whose launches the scheduler compares
CROWDED = "crowded"
NOT_NEGATIVE = ("ns", "count", "share")  # units whose intervals end at nothing at the latest
NO_HEAT = 0  # of a launch that was made before there were heats


@dataclass(frozen=True)
class LaunchMedians:
    """What contests need of a launch: round, heat, and by op the medians (ns), turns' too.

    `crowded` tells that its processes were more than their CPUs by intent.
    """

    round: int
    heat: int
    medians: Mapping[str, float]
    turns: Mapping[str, Sequence[float]]
    crowded: bool = False

    @classmethod
    def of(cls, launch: Launch, number: int) -> "LaunchMedians":
        """Return that of `launch`, number `number` of its point."""
        medians = {}
        turns = {}
        for op in launch.op_names():
            medians[op] = launch.median(op)
            turns[op] = launch.turn_medians(op) or [medians[op]]
        round_of = launch.facts.get(ROUND, number)
        heat = launch.facts.get(HEAT, NO_HEAT)
        by_intent = bool(heat) and crowded(launch)
        return cls(int(str(round_of)), int(str(heat)), medians, turns, by_intent)


def head(point: Point) -> Row:
    """Return what each row says of its point: study, name, levels."""
    return {"study": point.study, "point": point.id, **point.key()}


def point_rows(measured: Measured) -> Iterator[Row]:
    """Yield the rows of one point: its levels, then the columns `VALUES`."""
    about = head(measured.point)
    heats = heats_of(measured.launches)
    for row in metrics(measured):
        estimate, of_heats, by_heat = between_heats(row, heats)
        yield about | {
            "op": row.op,
            "metric": row.metric,
            "unit": row.unit,
            **vars(estimate),
            "low": _low(estimate, row.unit),
            "flags": ";".join(row.flags),
            HEATS: of_heats,
            BY_HEAT: by_heat,
        }


def heats_of(launches: Sequence[Launch]) -> tuple[int, ...]:
    """Return the heat of each launch, or its place in the run where it has none."""
    return tuple(
        int(str(launch.facts.get(HEAT) or launch.order or number))
        for number, launch in enumerate(launches)
    )


def between_heats(
    row: Metric, heats: tuple[int, ...]
) -> tuple[Estimate, tuple[int, ...], tuple[float, ...]]:
    """Return a metric's estimate between launches, or sessions where there are several.

    With it come the heats, or the sessions' first ones, and the value in each. A rate is that of
    the median of times.
    """
    if not (row.by_launch and several(heats)):
        estimate = row.estimate.for_sessions() if row.unit in VARYING else row.estimate
        return estimate, heats if row.by_launch else (), tuple(row.by_launch)
    power = -1 if row.unit == "B/s" else 1
    values = by_session(
        {heat: value**power for heat, value in zip(heats, row.by_launch, strict=True)}
    )
    between = statistic_estimate(list(values.values()), row.estimate.samples)
    estimate = replace(between.inverse(1.0) if power < 0 else between, launches=len(heats))
    return estimate, tuple(values), tuple(value**power for value in values.values())


def _low(estimate: Estimate, unit: str) -> float:
    """Return an interval's lower end; a range that was stretched must not go below nothing."""
    stretched = unit in NOT_NEGATIVE and np.isfinite(estimate.low) and estimate.value >= 0
    return max(estimate.low, 0.0) if stretched else estimate.low


def launch_rows(measured: Measured) -> Iterator[Row]:
    """Yield a row for each launch, op and metric: median, mean, ends, counters, conditions."""
    for number, launch in enumerate(measured.launches):
        taken = LaunchMedians.of(launch, number)
        about = head(measured.point) | {
            "launch": number,
            "order": launch.order,
            "flags": ";".join(launch.flags),
            "relation": str(launch.facts.get("relation", "")),
            ROUND: taken.round,
            HEAT: taken.heat,
            CROWDED: taken.crowded,
            TURNS: None,
        }
        for op in launch.op_names():
            of_op = summary(launch, op)
            about_op = about | {"op": op, "unit": "ns"}
            yield about_op | {"metric": "p50", "value": of_op["median"], TURNS: taken.turns[op]}
            for metric in ("mean", "min", "max"):
                yield about_op | {"metric": metric, "value": of_op[metric]}
        for op, counted in launch.counters.items():
            for name, number_of in counted.items():
                unit = COUNTER_UNITS.get(name, "count")
                yield about | {"op": op, "metric": name, "unit": unit, "value": float(number_of)}


class Frame:
    """Rows as they come: keys, further factors by name, `columns`."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = columns
        self.parts = list[pd.DataFrame]()
        self.rows = list[Row]()

    def add(self, rows: Iterable[Row]) -> None:
        """Take rows; in a frame they take a fifth of the memory."""
        self.rows += rows
        if len(self.rows) >= ROWS:
            self.parts.append(pd.DataFrame(self.rows))
            self.rows.clear()

    def whole(self) -> pd.DataFrame:
        """Return all of them; integers stay so."""
        made = pd.concat([*self.parts, pd.DataFrame(self.rows)], ignore_index=True)
        factors = sorted(set(made.columns) - set(KEY) - set(self.columns))
        made = made.reindex(columns=[*KEY, *factors, *self.columns])
        for name in (*factors, "size_bytes"):
            levels = made[name]
            if infer_dtype(levels, skipna=True) == "integer":
                made[name] = levels.astype("Int64" if levels.isna().any() else "int64")
        return made
