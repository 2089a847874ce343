"""The nodes of an index that differ from their equals, and what they have that these have not.

Equals are nodes with one machine digest. One differs where two rules agree: it lies more than six
median absolute deviations (MAD) from the median of its equals, as checkers of clusters have it, and
its interval, which holds the luck of a session, leaves that median, widened for the number of ops
and nodes that are looked at. Neither is enough: the MAD of three nodes is luck, and of a hundred
intervals of 95 % five leave by chance.
"""

import json
from collections import Counter
from collections.abc import Iterator
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

from ipclab.frames.run_table import Row
from ipclab.report.facts import affects
from ipclab.stats import judge
from ipclab.stats.intervals import LEVEL, statistic_estimate
from ipclab.stats.quantity import Quantity
from ipclab_more.gather.index import Index
from ipclab_more.gather.nodes import NODE, nodes
from ipclab_more.gather.reading import DISTURBED

K = 6  # median absolute deviations
LEAST_EQUALS, LEAST_OPS = 3, 2
ALL = "all"  # of the ops of a node together
SHARED = 0.8  # of the equals have a fact, so that another value is told
LOADS = ("load_1", "running", "pressure_cpu_percent", "pressure_io_percent")
LEAST_LOAD = 1.0  # above the median of the equals, of what varies anyway
DIFFERS = [*NODE, "point", "op", "ratio", "low", "high", "mads", "fact"]


def differing(index: Index) -> pd.DataFrame:
    """Return the columns `DIFFERS` of each node that differs, over the median of its equals.

    One row for a node whose ops differ together (`point` is `ALL`), else one for each op that does.
    """
    rows = []
    every = nodes(index).set_index("file", drop=False)
    counts = every.machine.map(every.machine.value_counts())
    for _, equals in every[counts >= LEAST_EQUALS].groupby("machine"):
        for row in _of_equals(equals, index.values):
            file = row["file"]
            node = equals.loc[file, NODE].to_dict()
            rows.append(row | node | {"fact": facts_apart(equals, file)})
    return pd.DataFrame(rows, columns=DIFFERS)


def _of_equals(equals: pd.DataFrame, values: pd.DataFrame) -> Iterator[dict[Any, Any]]:
    """Yield a row for each of the nodes `equals`, or for each op of one, that differs."""
    mine = values[values.file.isin(equals.file)]
    mine = mine.astype({"file": str, "point": str, "op": str})
    times = mine.pivot(index=["point", "op"], columns="file", values="ns")
    times = times[times.notna().sum(axis=1) >= LEAST_EQUALS]
    logs = times.map(np.log)
    ratios = logs.sub(logs.median(axis=1), axis=0)
    whole = []
    for row in _together(ratios):
        whole.append(row["file"])
        yield row
    alone = _alone(ratios, mine)
    alone = alone[~alone.file.isin(whole)]
    for op in alone.to_dict("records"):
        if _leaves(op["ratio"], op["low"], op["high"]):
            yield op


def _together(ratios: pd.DataFrame) -> Iterator[Row]:
    """Yield the nodes whose ops differ together; `ratios` are logarithms, by op and file."""
    middles = ratios.median()
    away = (middles - middles.median()).abs()
    mad = away.median()
    for file in away.index[away > K * mad]:
        own = np.exp(ratios[file].dropna())
        if len(own) < LEAST_OPS:
            continue
        ratio = statistic_estimate(list(own), len(own)).for_sessions()
        if _leaves(ratio.value, ratio.low, ratio.high):
            yield {
                "file": file,
                "point": ALL,
                "op": ALL,
                "ratio": ratio.value,
                "low": ratio.low,
                "high": ratio.high,
                "mads": away[file] / (mad or np.nan),
            }


def _alone(ratios: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """Return each op that lies far from the equals, its interval widened for all that are looked
    at.
    """
    looked_at = int(ratios.notna().sum().sum())
    wider = _wider(looked_at)
    logs = ratios.melt(value_name="log", ignore_index=False)
    logs = logs.dropna().reset_index()
    mads = ratios.abs().median(axis=1).rename("mad")
    times = values[["file", "point", "op", "ns", "low", "high"]]
    ops = logs.merge(mads.reset_index())
    ops = ops.merge(times)
    far = ops[ops.log.abs() > K * ops.mad]
    ratio = np.exp(far.log)
    # one launch has no ends: its low end is nothing, however much wider
    below = (far.low / far.ns).clip(lower=0)
    above = far.high / far.ns
    low = below**wider * ratio
    high = above**wider * ratio
    mads = far.log.abs() / far.mad.replace(0, np.nan)
    return far.assign(ratio=ratio, low=low, high=high, mads=mads)


def _leaves(ratio: float, low: float, high: float) -> bool:
    """Tell whether a ratio is shown to be another than one."""
    shown = Quantity(ratio, "1", low, high)
    return judge.side(shown, 1) in (judge.ABOVE, judge.BELOW)


def _wider(tests: int) -> float:
    """Return how much wider an interval is that holds in `tests` tests together."""
    normal = NormalDist()
    beyond = (1 - LEVEL) / 2
    return normal.inv_cdf(beyond / max(1, tests)) / normal.inv_cdf(beyond)


def facts_apart(equals: pd.DataFrame, file: str) -> str:
    """Return what is known of the node of `file` and not of its equals: facts, and its load."""
    every = equals.facts.map(json.loads)
    loads = equals.conditions.map(json.loads)
    odd = _odd(every[file], list(every.drop(file)))
    loaded = _loads(loads[file], list(loads.drop(file)))
    return "; ".join([*odd, *loaded])


def _odd(own: Row, others: list[Row]) -> Iterator[str]:
    """Yield the facts that most of the others share, and that are not a node's own."""
    for names in affects().values():
        for name in names:
            mine = str(own.get(name))
            values = Counter(str(other.get(name)) for other in others)
            usual, count = values.most_common(1)[0]
            if count >= SHARED * len(others) and mine != usual:
                yield f"{name} {mine} (others {usual})"


def _loads(own: Row, others: list[Row]) -> Iterator[str]:
    """Yield what of a node's load lies beyond that of the others by the same rule."""
    for name in (*LOADS, DISTURBED):
        mine = own.get(name)
        loads = [load[name] for load in others if load.get(name) is not None]
        if not loads or mine is None:
            continue
        middle = np.median(loads)
        mad = np.median(np.abs(np.array(loads) - middle))
        least = SHARED if name == DISTURBED else LEAST_LOAD
        if mine - middle > max(K * mad, least):
            yield f"{name} {mine:.3g} (others {middle:.3g})"
