"""What was seen of planted faults, counted over launches: each has one fault."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from ipclab.stats.intervals import rate_upper

COLUMNS = ("backend", "fault", "kind", "hits", "trials", "low", "high")


def seen(launches: pd.DataFrame, op: str) -> pd.DataFrame:
    """Return a row for each way in which `op` ended, from the launch frame of the study of faults.

    Columns: backend, fault, kind, `hits` of `trials`, and the exact 95 % interval of the share, `low` to `high`.
    """
    counted = launches[(launches.op == op) & (launches.unit == "count")] if len(launches) else launches
    return pd.DataFrame(_rows(counted), columns=[*COLUMNS])


def _rows(counted: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    if counted.empty:
        return
    for (backend, fault, kind), found in counted.groupby(["backend", "fault", "metric"], sort=False):
        hits, trials = int(found.value.sum()), len(found)
        if hits:
            yield backend, fault, kind, hits, trials, 1 - rate_upper(trials - hits, trials), rate_upper(hits, trials)


def mostly(found: pd.DataFrame, kinds: Sequence[str]) -> set[tuple[str, str]]:
    """Return the backend and fault of which more than half of the trials ended in `kinds`: their median is of these.

    `found` has rows of `seen`.
    """
    ended: Any = found[found.kind.isin(kinds)].groupby(["backend", "fault"])
    hits, trials = ended.hits.sum(), ended.trials.max()
    return set(hits.index[2 * hits > trials])


def most(launches: pd.DataFrame, op: str) -> pd.DataFrame:
    """Return the median and the most of each counter of `op` over the launches of a point.

    Columns: backend, fault, metric, median, most.
    """
    if launches.empty:
        return pd.DataFrame(columns=["backend", "fault", "metric", "median", "most"])
    counted = launches[(launches.op == op) & (launches.unit == "count")]
    grouped = counted.groupby(["backend", "fault", "metric"], sort=False).value
    return grouped.agg(median="median", most="max").reset_index()
