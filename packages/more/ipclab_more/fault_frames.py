"""What was seen of planted faults, counted over launches: each has one fault."""

from typing import Any

import pandas as pd

from ipclab.stats.intervals import rate_upper

KEYS = ["backend", "fault", "metric"]
GONE = ["end", "half", "error"]  # ends in which a mechanism itself says that a peer is gone


def _counted(launches: pd.DataFrame, op: str) -> Any:
    """Return the counts of `op` in a launch frame of the study of faults, grouped by `KEYS`."""
    columns = launches.reindex(columns=["op", "unit", *KEYS, "value"])
    return columns[(columns.op == op) & (columns.unit == "count")].groupby(KEYS, sort=False).value


def seen(launches: pd.DataFrame, op: str) -> pd.DataFrame:
    """Return a row for each way in which `op` ended, from the launch frame of the study of faults.

    Columns: backend, fault, kind, `hits` of `trials`, and the exact 95 % interval of the share,
    `low` to `high`.
    """
    counts: pd.DataFrame = (
        _counted(launches, op)
        .agg(hits="sum", trials="size")
        .reset_index()
        .rename(columns={"metric": "kind"})
    )
    counts = counts[counts.hits > 0].astype({"hits": int}).reset_index(drop=True)
    pairs = list(zip(counts.hits, counts.trials, strict=True))
    low = [1 - rate_upper(trials - hits, trials) for hits, trials in pairs]
    return counts.assign(low=low, high=[rate_upper(*pair) for pair in pairs])


def telling(ends: pd.DataFrame) -> pd.DataFrame:
    """Return backend and fault of those of whose launches each told that a peer is gone.

    `ends` has rows of `seen`.
    """
    told: Any = ends[ends.kind.isin(GONE)].groupby(["backend", "fault"])
    hits = told.agg(hits=("hits", "sum"), trials=("trials", "max")).reset_index()
    each: pd.DataFrame = hits.loc[hits.hits == hits.trials, ["backend", "fault"]]
    return each


def most(launches: pd.DataFrame, op: str) -> pd.DataFrame:
    """Return the median and the most of each counter of `op` over the launches of a point.

    Columns: backend, fault, metric, median, most.
    """
    counts: pd.DataFrame = _counted(launches, op).agg(median="median", most="max").reset_index()
    return counts
