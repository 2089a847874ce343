"""Results over the limit of the hardware that matches them, and results that no copying mechanism can reach.

What bounds an op of a study stands in its `Study.limits`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ipclab.backends.installed import backends
from ipclab.studies.installed import study as study_of
from ipclab.studies.interface import Bound

TOLERANCE = 0.9  # memcpy's own run-to-run spread
SPINNING = "echo-shm-spin"
IN_PLACE = "view"


def with_limits(points: pd.DataFrame, limits: pd.DataFrame) -> pd.DataFrame:
    """Return p50 rows of one study with the columns `limit` (ns) and `over_limit`, NaN where no limit matches.

    `limits` is the point frame of the study `limits` in the same run. A limit is the lower end of its interval: what
    disturbed it must not make a mechanism look better.
    """
    median = limits[limits.metric == "p50"]
    found = [_limit(row, median) for row in points.to_dict("records")]
    limit = pd.Series(found, index=points.index, dtype="float64")
    times = (points.metric == "p50") & (points.unit == "ns")
    return points.assign(limit=limit, over_limit=(points.value / limit).where(times))


def impossible(points: pd.DataFrame, limits: pd.DataFrame) -> list[str]:
    """Return one line for each median that is shorter than its passes of memcpy (the fastest sample) can be."""
    fastest = limits[(limits.op == "copy") & (limits.metric == "min")].set_index("size_bytes").value
    lines = []
    for row in points[points.metric == "p50"].to_dict("records"):
        bound = _bound(row)
        if not bound or not bound.copies or row["size_bytes"] not in fastest.index or row.get("receive") == IN_PLACE:
            continue
        least = bound.copies * float(fastest[row["size_bytes"]]) * TOLERANCE
        if row["value"] < least:
            what = f"{bound.copies} passes of memcpy over {row['size_bytes']} bytes can take ({least:.0f} ns)"
            lines.append(f"{row['study']} {row['point']}: {row['value']:.0f} ns is less than {what}")
    return lines


def _bound(row: Mapping[Any, Any]) -> Bound | None:
    return getattr(study_of(str(row["study"])), "limits", {}).get(row["op"])


def _limit(row: Mapping[Any, Any], median: pd.DataFrame) -> float:
    bound = _bound(row)
    if bound is None:
        return np.nan
    if bound.echo:
        known = backends().get(str(row["backend"]))
        name = SPINNING if str(row.get("wait", "")).startswith("spin") else known.limit if known else ""
        return _low(median, backend=name, op="round-trip", size_bytes=row["size_bytes"], placement=row["placement"])
    wake = _low(median, backend="futex-wake", op="wake", placement=row["placement"]) if bound.wake else 0.0
    copy = _copy(median, int(row["size_bytes"]))
    return bound.copies * copy + (0.0 if np.isnan(wake) else wake)


def _copy(median: pd.DataFrame, size: int) -> float:
    """Return memcpy's time of `size` bytes: on a line of logarithms between measured sizes, beyond at their speed."""
    of_copy = median[(median.backend == "memcpy") & (median.op == "copy")].sort_values("size_bytes")
    if of_copy.empty or size <= 0:
        return np.nan
    sizes, times = of_copy.size_bytes.to_numpy(float), of_copy.low.to_numpy(float)
    near = float(np.clip(size, sizes[0], sizes[-1]))
    return float(np.exp(np.interp(np.log(near), np.log(sizes), np.log(times)))) * size / near


def _low(median: pd.DataFrame, **levels: object) -> float:
    chosen = np.logical_and.reduce([median[name] == level for name, level in levels.items()])
    found = median.low[chosen]
    return float(found.iloc[0]) if len(found) == 1 else np.nan
