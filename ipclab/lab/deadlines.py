"""Deadlines in words: what a run was measured to state of each point, or why it cannot be stated."""

from collections.abc import Mapping
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

import pandas as pd
from IPython.display import Markdown

from ipclab.frames.deadlines import LEAST_SAMPLES, VALUES, asked, deadlines
from ipclab.lab.catalogue import N_
from ipclab.lab.data import DASH
from ipclab.lab.numbers import trimmed
from ipclab.lab.table import tabulated
from ipclab.stats import tolerance
from ipclab.stats.quantity import Quantity

if TYPE_CHECKING:
    from ipclab.lab.lab import Lab

DIGITS = 3  # that are shown of a bound, the last rounded up
STATED = N_("{point}: {coverage} of launches have their p99.9 below {bound} with {confidence} confidence ({launches}).")
REFUSED = N_("{point}: no deadline is stated, since {why} ({launches}).")
WHY = {
    tolerance.FEW: N_("there are too few launches"),
    tolerance.DRIFTS: N_("the launches drift (p = {drift})"),
    tolerance.FOLLOWS: N_("launches resemble the one before (p = {follows})"),
    tolerance.FAILED: N_("some launches failed and have no p99.9"),
    tolerance.NO_TIMES: N_("some times are not positive"),
}
LAUNCHES = N_("launches: {count}, samples of each: {samples} or more")
LARGEST = N_("launches: {count}, samples of each: {samples} or more, too few: p99.9 is the largest of them")


def statements(lab: "Lab") -> list[str]:
    """Return one sentence for each point and op that the run was measured to state a deadline of."""
    wanted, found = asked(lab.run), deadlines(lab.run)
    if wanted is None:
        return []
    shares = {"coverage": wanted.coverage, "confidence": wanted.confidence}
    told = {name: _share(lab, share) for name, share in shares.items()}
    return [lab.say(_sentence(row), **told, **_words(lab, found, row)) for row in found.to_dict("records")]


def shown(lab: "Lab") -> list[Any]:
    """Return the statements and the table that they rest on, to be displayed; nothing without any."""
    found = deadlines(lab.run)
    if found.empty:
        return []
    rows = [_row(lab, found, row) for row in found.to_dict("records")]
    about = N_(
        "Deadlines (Wilks; one-sided, of no assumed shape): the number of launches was fixed before. A p of "
        "launches without drift, or without resemblance to the one before, below {p} refuses the statement"
    )
    caption = lab.say(about, p=lab.numbers.number(tolerance.ERROR / 2))
    lines = "\n".join(f"- {line}" for line in statements(lab))
    return [Markdown(lines), tabulated(lab, pd.DataFrame(rows), caption, "", [], "deadlines")]  # type: ignore[no-untyped-call]


def _sentence(row: Mapping[Any, Any]) -> str:
    return STATED if row["state"] == tolerance.HOLDS else REFUSED


def _words(lab: "Lab", found: pd.DataFrame, row: Mapping[Any, Any]) -> dict[str, str]:
    why = WHY.get(row["state"], "")
    p = {name: lab.numbers.number(row[name]) for name in ("drift", "follows")}
    launches = LAUNCHES if row["samples"] > LEAST_SAMPLES else LARGEST
    count = {"count": Quantity(row["launches"], "count"), "samples": Quantity(row["samples"], "count")}
    told = {"point": _point(lab, found, row), "why": lab.say(why, **p), "launches": lab.say(launches, **count)}
    return {**told, "bound": _bound(lab, row)}


def _row(lab: "Lab", found: pd.DataFrame, row: Mapping[Any, Any]) -> dict[str, Any]:
    told = {name: lab.numbers.number(row[name]) for name in ("drift", "follows")}
    return {
        lab.translate(N_("Point")): _point(lab, found, row),
        lab.translate(N_("Launches")): Quantity(row["launches"], "count"),
        lab.translate(N_("Samples of each, at least")): Quantity(row["samples"], "count"),
        lab.translate(N_("p, no drift")): told["drift"],
        lab.translate(N_("p, no resemblance")): told["follows"],
        lab.translate(N_("p99.9 below")): _bound(lab, row),
    }


def _point(lab: "Lab", found: pd.DataFrame, row: Mapping[Any, Any]) -> str:
    """Return what a point is called: its op, mechanism, size and placement, and what else the points differ in."""
    usual = ["op", "backend", "size_bytes", "placement"]
    others = [name for name in found.columns if name not in (*usual, "study", "point", *VALUES)]
    named = [*usual, *(name for name in others if found[name].nunique(dropna=False) > 1)]
    return lab.joined(lab.level(name, row[name]) for name in named)


def _bound(lab: "Lab", row: Mapping[Any, Any]) -> str:
    """Return the bound (ns), rounded up: a bound that was rounded down would be none."""
    if row["state"] != tolerance.HOLDS:
        return DASH
    step = 10.0 ** (floor(log10(row["value"])) - DIGITS + 1)
    return lab.numbers.format(Quantity(ceil(row["value"] / step) * step, "ns"))


def _share(lab: "Lab", share: float) -> str:
    return trimmed(lab.numbers.format(Quantity(share, "share"), "fine"))
