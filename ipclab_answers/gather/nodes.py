"""The nodes of an index, those that differ from their equals, and what each answers.

A node is a machine with a label, and equals are nodes with one machine digest. One differs where
two rules agree: it lies more than six median absolute deviations (MAD) from the median of its
equals, as checkers of clusters have it, and its interval, which holds the luck of a session,
leaves that median, widened for the number of ops and nodes that are looked at. Neither is enough:
the MAD of three nodes is luck, and of a hundred intervals of 95 % five leave by chance.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

from ipclab.lab.runs import COARSE
from ipclab.machine import affects
from ipclab.stats import judge
from ipclab.stats.intervals import LEVEL, statistic_estimate
from ipclab.stats.quantity import Quantity
from ipclab.studies.profile import PROFILES
from ipclab_answers.gather.index import Index
from ipclab_answers.gather.reading import DISTURBED

K = 6  # median absolute deviations
LEAST_EQUALS, LEAST_OPS = 3, 2
ALL = "all"  # of the ops of a node together
SHARED = 0.8  # of the equals have a fact, so that another value is told
LOADS = ("load_1", "running", "pressure_cpu_percent", "pressure_io_percent")
LEAST_LOAD = 1.0  # above the median of the equals, of what varies anyway
NODE = ("machine", "label", "file")
DIFFERS = (*NODE, "point", "op", "ratio", "low", "high", "mads", "fact")
ASKED = ("study", "op", "size_bytes", "placement", "levels")
ANSWERS = (*NODE, *ASKED, "fastest", "ns", "alike")


def nodes(index: Index) -> pd.DataFrame:
    """Return the bundle that stands for each node, in the order of machines and labels.

    It is the one of any profile but the coarsest, with most ops, of the highest profile, the
    newest.
    """
    whole = index.whole
    places = {name: place for place, name in enumerate(PROFILES)}
    ops = index.values.groupby("file", observed=True).size()
    ranked = whole.assign(
        fine=whole.profile != COARSE,
        ops=whole.file.map(ops.to_dict()).fillna(0),
        place=whole.profile.map(places).fillna(-1),
    ).sort_values(["fine", "ops", "place", "begun", "file"])
    last = ranked.drop_duplicates(["machine", "label"], keep="last")
    last = last.sort_values(["machine", "label"], ignore_index=True)
    return last.drop(columns=["fine", "ops", "place"])


def differing(index: Index) -> pd.DataFrame:
    """Return the columns `DIFFERS` of each node that differs, over the median of its equals.

    One row for a node whose ops differ together (`point` is `ALL`), else one for each op that does.
    """
    rows = []
    for _, equals in nodes(index).groupby("machine"):
        if len(equals) >= LEAST_EQUALS:
            rows += list(_apart(equals.set_index("file"), index.values))
    return pd.DataFrame(rows, columns=list(DIFFERS))


def _apart(equals: pd.DataFrame, values: pd.DataFrame) -> Iterator[dict[str, Any]]:
    held = values[values.file.isin(equals.index)]
    held = held.astype({"file": str, "point": str, "op": str})
    log = held.pivot(index=["point", "op"], columns="file", values="ns").map(np.log)
    log = log[log.notna().sum(axis=1) >= LEAST_EQUALS]
    ratios = log.sub(log.median(axis=1), axis=0)
    whole = _together(ratios)
    for file, told in whole.items():
        yield _row(equals, file, ALL, ALL, *told)
    wider = _wider(int(ratios.notna().sum().sum()))
    shown = ratios.melt(value_name="ratio", ignore_index=False).dropna().reset_index()
    mads = ratios.abs().median(axis=1).rename("mad").reset_index()
    shown = shown.merge(mads).merge(held[["file", "point", "op", "ns", "low", "high"]])
    far = shown[(shown.ratio.abs() > K * shown.mad) & ~shown.file.isin(whole)]
    for row in far.to_dict("records"):
        ratio, ns = float(np.exp(row["ratio"])), row["ns"]
        ends = [(row[end] / ns) ** wider * ratio for end in ("low", "high")]
        found = Quantity(ratio, "1", *ends)
        if judge.side(found, 1) in (judge.ABOVE, judge.BELOW):
            away = abs(row["ratio"]) / (row["mad"] or np.nan)
            yield _row(equals, row["file"], row["point"], row["op"], found, away)


def _wider(tests: int) -> float:
    """Return how much wider an interval is that holds in `tests` tests together."""
    normal = NormalDist()
    alone, together = ((1 - LEVEL) / 2 / number for number in (1, max(1, tests)))
    return normal.inv_cdf(together) / normal.inv_cdf(alone)


def _together(ratios: pd.DataFrame) -> dict[str, tuple[Quantity, float]]:
    """Return the nodes whose ops differ together: their ratio, and how many MADs it lies away."""
    found: dict[str, tuple[Quantity, float]] = {}
    middles = ratios.median()
    away = (middles - middles.median()).abs()
    mad = float(away.median())
    for file in away.index[away > K * mad]:
        own = np.exp(ratios[file].dropna())
        if len(own) < LEAST_OPS:
            continue
        told = statistic_estimate(list(own), len(own)).for_sessions()
        ratio = Quantity(told.value, "1", told.low, told.high)
        if judge.side(ratio, 1) in (judge.ABOVE, judge.BELOW):
            found[str(file)] = ratio, float(away[file]) / (mad or np.nan)
    return found


def _row(
    equals: pd.DataFrame, file: str, point: Any, op: Any, ratio: Quantity, mads: float
) -> dict[str, Any]:
    low, high = ratio.ends
    named = {"machine": equals.machine[file], "label": equals.label[file], "file": file}
    told = {"point": point, "op": op, "ratio": ratio.value, "low": low, "high": high}
    return named | told | {"mads": mads, "fact": facts(equals, file)}


def facts(equals: pd.DataFrame, file: str) -> str:
    """Return what is known of the node of `file` and not of its equals: facts, and its load."""
    others = [json.loads(text) for text in equals.facts.drop(file)]
    own, told = json.loads(equals.facts[file]), []
    for names in affects().values():
        for name in names:
            known = Counter(str(each.get(name)) for each in others)
            usual, count = known.most_common(1)[0]
            if count >= SHARED * len(others) and str(own.get(name)) != usual:
                told.append(f"{name} {own.get(name)} (others {usual})")
    loads = [json.loads(text) for text in equals.conditions.drop(file)]
    return "; ".join([*told, *_loads(json.loads(equals.conditions[file]), loads)])


def _loads(own: Mapping[str, Any], others: list[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what of a node's load lies beyond that of the others by the same rule."""
    for name in (*LOADS, DISTURBED):
        known = [each[name] for each in others if each.get(name) is not None]
        if not known or own.get(name) is None:
            continue
        middle = float(np.median(known))
        room = K * float(np.median(np.abs(np.array(known) - middle)))
        least = SHARED if name == DISTURBED else LEAST_LOAD
        if own[name] - middle > max(room, least):
            yield f"{name} {own[name]:.3g} (others {middle:.3g})"


def answers(index: Index) -> pd.DataFrame:
    """Return the columns `ANSWERS`: the fastest mechanism of each node by question.

    It is so by its median; `alike` are those whose interval reaches that median. Round trips are
    those of each mechanism at its plainest.
    """
    chosen = nodes(index)[list(NODE)]
    held = index.values[index.values.file.isin(chosen.file)]
    plain = held.plain.astype(bool) | (held.study != "round_trip")
    held = held[plain].astype({"file": str, "levels": str, "backend": str})
    held = held.assign(levels=held.levels.where(held.study != "round_trip", "{}"))
    question = ["file", *ASKED]
    held = held.sort_values([*question, "ns", "backend"], ignore_index=True)
    groups = held.groupby(question, observed=True)
    first = groups.ns.transform("first")
    best = groups.backend.transform("first")
    rivals = held[(held.low <= first) & (held.backend != best)]
    alike = rivals.groupby(question, observed=True).backend.agg(" ".join)
    found = held.drop_duplicates(question).rename(columns={"backend": "fastest"})
    found = found.merge(alike.rename("alike"), "left", on=question)
    return found.fillna({"alike": ""}).merge(chosen, on="file")[list(ANSWERS)]


def matrix(found: pd.DataFrame) -> pd.DataFrame:
    """Return `answers` as a matrix: nodes by questions, the fastest mechanism in each cell."""
    size = found.size_bytes.astype(str)
    levels = found.levels.where(found.levels != "{}", "")
    asked = found.op.astype(str) + " " + size + " " + found.placement.astype(str) + levels
    named = found.assign(question=asked)
    wide = named.pivot_table(
        index=list(NODE), columns="question", values="fastest", aggfunc="first"
    )
    return wide.reset_index().rename_axis(columns=None)
