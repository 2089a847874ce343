"""What was seen of planted faults, counted over launches: each has one fault."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ipclab.calibrated.twins import rate_upper

KEYS = ["backend", "fault", "metric"]


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


def mostly(counts: pd.DataFrame, kinds: Sequence[str]) -> set[tuple[str, str]]:
    """Return backend and fault whose trials mostly ended in `kinds`: medians are of these.

    `counts` has rows of `seen`.
    """
    ended: Any = counts[counts.kind.isin(kinds)].groupby(["backend", "fault"])
    hits = ended.hits.sum()
    trials = ended.trials.max()
    return set(hits.index[2 * hits > trials])


def most(launches: pd.DataFrame, op: str) -> pd.DataFrame:
    """Return the median and the most of each counter of `op` over the launches of a point.

    Columns: backend, fault, metric, median, most.
    """
    counts: pd.DataFrame = _counted(launches, op).agg(median="median", most="max").reset_index()
    return counts
