"""Results over the limit of the hardware that matches them, and results that no copying mechanism can reach."""

import numpy as np
import pandas as pd

from ipclab.studies.installed import study as study_of
from ipclab.studies.limits.floors import IN_PLACE, Floors

TOLERANCE = 0.9  # memcpy's own run-to-run spread
LEAST = 0.95  # of its limit: what is faster shows that the limit is none


def with_limits(points: pd.DataFrame, limits: pd.DataFrame, place: int = 0) -> pd.DataFrame:
    """Return p50 rows of one study with the columns `limit` (ns) and `over_limit`, NaN where no limit matches.

    `limits` is the launch frame of the study `limits` in the same run. A limit is the median of its best launch
    (`place` 0) or of the second best (1): what disturbed the others must not make a mechanism look better.
    """
    known = floors(limits)
    found = [known.under(row["study"], row["op"], row, place) for row in points.to_dict("records")]
    limit = pd.Series([floor.ns if floor else np.nan for floor in found], index=points.index, dtype="float64")
    times = (points.metric == "p50") & (points.unit == "ns")
    return points.assign(limit=limit, over_limit=(points.value / limit).where(times))


def floors(limits: pd.DataFrame) -> Floors:
    """Return the floors of a launch frame of the study `limits`."""
    medians = limits[limits.metric == "p50"].groupby(["backend", "size_bytes", "placement"]).value
    return Floors({key: list(part) for key, part in medians})  # type: ignore[misc]


def beaten(points: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `with_limits` that lie below `LEAST` of their limit, or below it with their whole interval."""
    return points[(points.over_limit < LEAST) | ((points.over_limit < 1) & (points.high < points.limit))]


def lines(found: pd.DataFrame) -> list[str]:
    """Return one line for each row of `beaten`, the lowest first: how far below, study, op, point."""
    rows = found.sort_values("over_limit").to_dict("records")
    return [f"x {row['over_limit']:.2f} of its limit: {row['study']} {row['op']} {row['point']}" for row in rows]


def impossible(points: pd.DataFrame, limits: pd.DataFrame) -> list[str]:
    """Return one line for each median that is shorter than its passes of memcpy (the fastest sample) can be.

    `limits` is the launch frame of the study `limits` in the same run.
    """
    fastest = limits[(limits.op == "copy") & (limits.metric == "min")].groupby("size_bytes").value.min()
    lines = []
    copied = points[(points.metric == "p50") & points.size_bytes.isin(fastest.index)]
    for row in copied.to_dict("records"):
        bound = study_of(str(row["study"])).bound(row["op"], row)
        copies = bound.copies if bound and row.get("receive") != IN_PLACE else 0
        least = copies * float(fastest[row["size_bytes"]]) * TOLERANCE
        if row["value"] < least:
            what = f"{copies} passes of memcpy over {row['size_bytes']} bytes can take ({least:.0f} ns)"
            lines.append(f"{row['study']} {row['point']}: {row['value']:.0f} ns is less than {what}")
    return lines
