"""The values of a study's points with their intervals, the scatter of all of them steadying each."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ipclab.frames.points import BY_HEAT, HEATS
from ipclab.stats.intervals import (
    SESSION_ERROR,
    UNKNOWN,
    VARYING,
    Estimate,
    Scatter,
    prior,
    statistic_estimate,
)
from ipclab.stats.sessions import several

NOT_NEGATIVE = (*VARYING, "count", "share", "B")  # units of what is nothing at the least
COLUMNS = ("value", "low", "high", "error", "freedom")
Kind = tuple[str, bool]  # of what scatters alike: its metric, and whether sessions or launches do


def estimated(points: pd.DataFrame) -> pd.DataFrame:
    """Return a study's point frame with the estimates of its launches, or sessions (`COLUMNS`).

    What has no value by launch, such as a quantile of all samples, keeps its own interval, wider by
    what sessions add where it is a time.
    """
    kinds = [*zip(points.metric, map(several, points[HEATS]), strict=True)]
    by_kind: dict[Kind, list[tuple[float, ...]]] = {}
    for unit, kind, values in zip(points.unit, kinds, points[BY_HEAT], strict=True):
        if unit in VARYING and values:
            by_kind.setdefault(kind, []).append(values)
    priors = {kind: prior(every) for kind, every in by_kind.items()}
    made = [
        _estimate(row, kind, priors.get(kind, UNKNOWN))
        for row, kind in zip(points.itertuples(index=False), kinds, strict=True)
    ]
    columns = {name: [getattr(each, name) for each in made] for name in COLUMNS}
    return points.assign(**columns)


def _estimate(row: Any, kind: Kind, scatter: Scatter) -> Estimate:
    unit, values = str(row.unit), row.by_heat
    found = Estimate(float(row.value), float(row.low), float(row.high), 0, 0)
    logs = unit in VARYING
    if values:
        _, is_between = kind
        session = SESSION_ERROR if logs and not is_between else 0.0
        found = statistic_estimate(values, 0, scatter, session, logs)
    elif logs:
        found = found.for_sessions()
    if unit in NOT_NEGATIVE and np.isfinite(found.low) and found.value >= 0 > found.low:
        return replace(found, low=0.0)
    return found
