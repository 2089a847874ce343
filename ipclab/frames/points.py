"""The tidy frame of a study: one row for each point, op and metric, one column for each factor."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pandas.api.types import infer_dtype

from ipclab.frames.metrics import COUNTER_UNITS, HEAT, ROUND, crowded, metrics, summary
from ipclab.stats.intervals import VARYING
from ipclab.stats.sessions import by_session
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.store.samples import Measured

# the heats (launches, or sessions) that a value is of, and its value in each
HEATS, BY_HEAT = "heats", "by_heat"
VALUES = (
    "op", "metric", "unit", "value", "low", "high", "launches", "samples", "error", "freedom", "flags",
    HEATS, BY_HEAT,
)  # fmt: skip
KEY = ("study", "point", "backend", "size_bytes", "placement")
Row = dict[str, Any]
ROWS = 20_000  # that are held as dictionaries
# Whether there were more ranks than CPUs, whose launches the scheduler compares
CROWDED = "crowded"
NO_HEAT = 0  # of a launch that was made before there were heats


@dataclass(frozen=True)
class LaunchMedians:
    """What contests need of a launch: round, heat, and by op the medians (ns).

    `crowded` tells that its processes were more than their CPUs by intent.
    """

    round: int
    heat: int
    medians: Mapping[str, float]
    crowded: bool = False

    @classmethod
    def of(cls, launch: Launch, number: int) -> "LaunchMedians":
        """Return that of `launch`, number `number` of its point."""
        medians = {op: launch.median(op) for op in launch.op_names()}
        round_of = launch.facts.get(ROUND, number)
        heat = launch.facts.get(HEAT, NO_HEAT)
        by_intent = bool(heat) and crowded(launch)
        return cls(int(str(round_of)), int(str(heat)), medians, by_intent)


def head(point: Point) -> Row:
    """Return what each row says of its point: study, name, levels."""
    return {"study": point.study, "point": point.id, **point.key()}


def point_rows(measured: Measured) -> Iterator[Row]:
    """Yield the rows of one point: its levels, then the columns `VALUES`."""
    about = head(measured.point)
    # of each launch, or its place in the run where it has none
    heats = [
        int(str(launch.facts.get(HEAT) or launch.order or number))
        for number, launch in enumerate(measured.launches)
    ]
    for row in metrics(measured):
        by_launch = dict(zip(heats, row.by_launch, strict=True)) if row.by_launch else {}
        by_heat = by_session(by_launch, row.unit in VARYING)  # if there are several sessions
        yield about | {
            "op": row.op,
            "metric": row.metric,
            "unit": row.unit,
            **vars(row.estimate),
            "flags": ";".join(row.flags),
            HEATS: tuple(by_heat),
            BY_HEAT: tuple(by_heat.values()),
        }


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
        }
        for op in launch.op_names():
            of_op = summary(launch, op)
            about_op = about | {"op": op, "unit": "ns"}
            yield about_op | {"metric": "p50", "value": taken.medians[op]}
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
