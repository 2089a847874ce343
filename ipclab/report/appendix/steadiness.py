"""Medians that are one state of several, said with both of them."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from IPython.display import Markdown

from ipclab.bounds import states
from ipclab.frames.rows import quantity
from ipclab.lab.data import Data
from ipclab.stats.quantity import Quantity
from ipclab.words import labels
from ipclab.words.catalogue import N_

WHY = labels.WORDS["states"]
MOST_TOLD = 3  # that are named
NAMING = ("backend", "size_bytes", "placement")  # what they are called by
SAID = N_(
    "{count} of {all} medians behind the first figure are of points with several states, as shown by"
    " {why}: {which}. None of them is called the fastest unless its slower state still is;"
    " what is faster than its limit never is."
)


def with_states(lab: Data, study: str, points: pd.DataFrame) -> pd.DataFrame:
    """Return median rows of `lab.points(study)` with their states: `fast`, `slow` (ns), `why`.

    See `ipclab.bounds.states`.
    """
    known = states.of_study(lab.run, study).set_index(["point", "op"])
    places = zip(points.point, points.op, strict=True)
    mine = known.reindex(pd.MultiIndex.from_tuples(list(places), names=["point", "op"]))
    return points.assign(**{name: mine[name].to_numpy() for name in states.COLUMNS})


def told(lab: Data, rows: pd.DataFrame) -> str:
    """Return the first of rows `with_states`: its median and interval, or its two states.

    Nothing is said where there is no row.
    """
    for row in rows.head(1).itertuples():
        if not row.why:
            return lab.words.numbers.format(quantity(row), "interval")
        fast, slow = Quantity(row.fast, "ns"), Quantity(row.slow, "ns")
        return lab.say(N_("{fast} or {slow}, by state"), fast=fast, slow=slow)
    return ""


def ranked(ratios: pd.DataFrame) -> pd.DataFrame:
    """Return rows of `lab.over` that have a ratio, the least first."""
    known = ratios[ratios.cell.map(bool).astype(bool)]
    values = pd.Series([float(ratio.value) for ratio in known.cell], known.index)
    return known.loc[values.sort_values(kind="stable").index]


def unsteady(lab: Data, rows: pd.DataFrame, by: Sequence[str] = NAMING) -> Any:
    """Return what the first page must say of rows `with_states` that are not steady, or nothing.

    They are called by their levels of the factors `by`.
    """
    several = rows[rows.why != ""].sort_values("value", kind="stable")
    if several.empty:
        return None
    reasons = dict.fromkeys(reason for why in several.why for reason in why.split())
    named = [_named(lab, row, by) for row in several.head(MOST_TOLD).to_dict("records")]
    which = lab.words.joined(named, N_("; "))
    if more := len(several) - len(named):
        which = lab.say(N_("{which} and {more} more"), which=which, more=more)
    why = lab.words.joined(lab.say(WHY[reason]) for reason in WHY if reason in reasons)
    said = lab.say(SAID, count=len(several), all=len(rows), why=why, which=which)
    return Markdown(said)  # type: ignore[no-untyped-call]


def _named(lab: Data, row: dict[Any, Any], by: Sequence[str]) -> str:
    words = []
    for name in by:
        written = lab.level(name, row[name])
        if name in labels.COUNTED:  # a bare count does not say of what
            factor = lab.words.label(name)
            written = lab.say(N_("{factor}: {count}"), factor=factor, count=written)
        words.append(written)
    fast, slow = Quantity(row["fast"], "ns"), Quantity(row["slow"], "ns")
    which = lab.words.joined(words)
    return lab.say(N_("{which} ({fast} or {slow})"), which=which, fast=fast, slow=slow)
