"""Rows of tidy frames: chosen by their levels, and as quantities."""

from collections.abc import Iterable, Mapping
from math import inf, isclose
from typing import Any

import numpy as np
import pandas as pd

from ipclab.errors import LabError, UsageError, hint
from ipclab.stats.intervals import VARYING, mean_of
from ipclab.stats.product import Run
from ipclab.stats.quantity import FEW_SAMPLES, Quantity, measured

ID = "row"  # the column with the name of a row, study/point/op/metric, which no one changes


def check_columns(frame: pd.DataFrame, names: Iterable[str]) -> None:
    """Raise `UsageError`, with the nearest column, for a name that is none."""
    for name in names:
        if name not in frame:
            raise UsageError(f"no column {name!r}", "", hint(name, map(str, frame)))


def narrowed(frame: pd.DataFrame, levels: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows with all `levels`; a list means any of them, NA the absence of one.

    Raises `UsageError` for a column that the frame has not.
    """
    check_columns(frame, levels)
    kept = np.ones(len(frame), dtype=bool)
    for name, level in levels.items():
        wanted = list(level) if pd.api.types.is_list_like(level) else [level]
        kept &= frame[name].isin(wanted).to_numpy()
    return frame[kept]


def quantity(row: Any, run: Run | None = None) -> Quantity:
    """Return a row of a point frame of `run`, or of a text's table, as a quantity.

    A notebook may have put another value into the row, such as a rate: that is not the mean of
    the row's launches. A bandwidth is the bytes over the mean of the times.
    """
    if not hasattr(row, "launches"):
        return Quantity(float(row.value), str(row.unit), kind=str(row.kind))
    n = f"{int(row.launches)} x {int(row.samples)}"
    names = ("study", "point", "op", "metric")
    # the row's own name, where it has one: a notebook may have changed the columns that make it
    source = getattr(row, ID, "") or "/".join(str(getattr(row, name, "")) for name in names)
    if row.value != row.value:
        return Quantity(None, str(row.unit), kind=FEW_SAMPLES, sources=(source,))
    launches = dict(zip(getattr(row, "heats", ()), getattr(row, "by_heat", ()), strict=True))
    ends = float(row.low), float(row.high)
    value = Quantity(float(row.value), str(row.unit), *ends, n, sources=(source,))
    if not launches:
        return measured(value, launches, f"{source}={value.value!r}", run)
    if str(row.metric) == "bandwidth":
        return _bandwidth(value, launches, float(row.size_bytes), run)
    logs = str(row.unit) in VARYING
    if not isclose(mean_of([*launches.values()], logs), value.value):
        return value
    return measured(value, launches, source, run)


def _bandwidth(
    value: Quantity, rates: Mapping[int, float], size: float, run: Run | None
) -> Quantity:
    """Return a bandwidth as `size` bytes over the mean of the times of which it is."""
    per_ns = size * 1e9
    times = {launch: per_ns / rate for launch, rate in rates.items()}
    (source,) = value.sources
    median_row = f"{source.removesuffix('bandwidth')}p50"
    low, high = sorted(per_ns / end for end in value.ends) if value.ends[0] > 0 else (-inf, inf)
    time = Quantity(per_ns / value.value, "ns", low, high, value.n, sources=value.sources)
    if not isclose(mean_of([*times.values()]), time.value):
        return value
    return (per_ns / measured(time, times, median_row, run).as_unit("1")).as_unit("B/s")


def ambiguous(rows: pd.DataFrame, levels: object) -> LabError:
    """Return the error for rows of which one is asked for: in which columns they differ."""
    columns = rows.drop(columns=["point", "flags"], errors="ignore")
    differ = [str(name) for name in columns if columns[name].nunique(dropna=False) > 1]
    why = f"they differ in {', '.join(differ[:6])}"
    return LabError(f"{len(rows)} rows have {levels}", why, "name one level")
