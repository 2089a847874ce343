"""An answer for readers of one language: a sentence, and frames that a notebook or a terminal shows as tables."""

import tomllib
from html import escape
from math import isfinite
from pathlib import Path
from typing import Any

import pandas as pd

from ipclab.choose.answer import EXCLUDED, GUESS, NOTHING, UNDECIDED, UNMEASURED, Answer
from ipclab.choose.need import US, Need
from ipclab.lab.data import DASH, Data
from ipclab.lab.prose import join_lines
from ipclab.stats.quantity import Quantity

SHOWN = 8  # mechanisms of which more is told than their time
WORDS: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("labels.toml").read_text("utf-8"))
FORMATS = {"keeps_up": "int,bare,interval", "ratio": "x,interval", "limit": "x", "cpus": ""}


def verdict(lab: Data, found: Answer) -> str:
    """Return the answer in a sentence or two."""
    names = lab.joined([lab.level("backend", name) for name in found.best])
    seconds = lab.numbers.format(Quantity(found.seconds * 1e9, "ns"))
    told = {"names": names, "launches": lab.numbers.number(found.launches, 0), "seconds": seconds}
    if found.state == UNDECIDED:
        parts = ["best" if found.best else "unmeasured", "more" if isfinite(found.launches) else "never"]
    else:
        parts = [NOTHING if found.state == NOTHING else "one" if len(found.best) == 1 else "several"]
    return join_lines("\n".join(lab.say(WORDS["verdict"][part], **told) for part in parts))


def tables(lab: Data, found: Answer) -> dict[str, pd.DataFrame]:
    """Return what is known as frames by name, their heads translated; columns that are empty throughout are left out.

    `asked`: the need, without what was left open. `ranking`: the mechanisms that were not excluded, the best first,
    with time, ratio to the fastest, load and evidence. `promises`: what was measured of them beside their time.
    `excluded`: those that do not fit, and why. `changes`: relaxed demands, limits of the first, and sizes from which
    another wins. `missing`: the points that the run lacks, and what measuring them costs.
    """
    fits = found.rows.status != EXCLUDED
    rows, gone = found.rows[fits], found.rows[~fits]
    known, launches = rows.status != UNMEASURED, rows.launches.astype(object)
    ranking = rows.assign(
        evidence=rows.verdict.where(known, UNMEASURED),
        time=rows.value.where(known, rows.estimate),
        launches=launches.where(launches > 0, None),
    )
    gone = gone.assign(why=[_cell(lab, "why", why) for why in gone.why])
    parts = [(name, part) for name, part in found.missing.groupby("backend")]
    lacking = {
        "backend": [name for name, _ in parts],
        "size": [lab.joined(map(str, part["size"])) for _, part in parts],
        "launches": [part.launches.sum() for _, part in parts],
        "seconds": [Quantity(part.seconds.sum() * 1e9, "ns") for _, part in parts],
    }
    made = {
        "asked": _asked(lab, found.need),
        "ranking": ranking,
        "promises": rows.head(SHOWN),
        "excluded": gone.groupby("why", sort=False).backend.agg(lab.joined).reset_index(),
        "changes": _changes(lab, found),
        "missing": pd.DataFrame(lacking),
    }
    return {name: _headed(lab, each, WORDS[name]) for name, each in made.items()}


def text(lab: Any, found: Answer) -> str:
    """Return the whole answer as text for a terminal."""
    shown = [lab.table(each, "").to_frame() for each in tables(lab, found).values()]
    told = [table.to_string(index=False, justify="left") for table in shown if len(table)]
    return "\n\n".join([verdict(lab, found), *told])


def paragraph(told: str) -> str:
    """Return a sentence as HTML."""
    return f"<p>{escape(told)}</p>"


def _asked(lab: Data, need: Need) -> pd.DataFrame:
    unit, sizes = "B" if need.sized == "size_bytes" else "count", []
    for size, share in need.size.items():
        part = f" ({lab.numbers.format(Quantity(share, 'share'))})" if share < 1 else ""
        sizes.append(f"{lab.numbers.format(Quantity(size, unit))}{part}")
    times = {name: Quantity(getattr(need, name) * US, "ns") for name in ("deadline_us", "work_us")}
    told = need.told() | {name: lab.numbers.format(time) if time.value else None for name, time in times.items()}
    told |= {"size": lab.joined(sizes), "way": lab.say(WORDS["level"][need.way])}
    told |= {"rate": lab.numbers.number(need.rate, 0) if need.rate else lab.say(WORDS["level"]["closed"])}
    told |= {"sharing": lab.say(WORDS["level"][need.sharing]) if need.consumers > 1 else None}
    told |= {"placement": lab.level("placement", need.placement), "must": _cell(lab, "must", list(need.must))}
    told |= {"quantile": f"p{need.quantile * 100:g}" if need.deadline_us else None}
    rows = [(lab.say(word), str(told[name])) for name, word in WORDS["side"].items() if told[name]]
    return pd.DataFrame(rows, columns=["side", "value"])


def _changes(lab: Data, found: Answer) -> pd.DataFrame:
    rows, words = [], WORDS["change"]
    for row in found.changes.to_dict("records"):
        kind, _, names = row["change"].partition(":")
        if names:
            change = lab.say(words["without"], names=_cell(lab, "why", names.split(",")))
            gain = {"backend": row["backend"], "ratio": _cell(lab, "ratio", row["amount"])}
            rows.append((change, lab.say(words["gain"], **gain)))
        else:
            rows.append((lab.say(words[kind]), lab.numbers.format(row["amount"], "interval")))
    unit, spec = ("B", "scaled") if found.need.sized == "size_bytes" else ("count", "")
    for row in found.crossings.to_dict("records"):
        ends = {"low": row["low"], "high": row["high"], "about": float(f"{row['about']:.2g}")}
        told = {name: lab.numbers.format(Quantity(size, unit), spec) for name, size in ends.items()}
        crossed = lab.say(words["crossed"], above=row["above"], below=row["below"])
        rows.append((lab.say(words["between"], **told), crossed))
    return pd.DataFrame(rows, columns=["change", "then"])


def _headed(lab: Data, rows: pd.DataFrame, heads: dict[str, str]) -> pd.DataFrame:
    """Return the columns of `rows` that have heads and cells, both in the reader's language."""
    made = {name: [_cell(lab, name, value) for value in rows[name]] for name in heads}
    kept = {lab.say(heads[name]): cells for name, cells in made.items() if any(cell is not None for cell in cells)}
    return pd.DataFrame(kept, dtype=object).fillna(DASH)


def _cell(lab: Data, column: str, value: Any) -> Any:
    """Return a value of an answer in words; an estimate is marked and has no interval, what is absent is None."""
    if isinstance(value, list):
        known = WORDS["demand"]  # what else stands there, such as why a point failed, is nobody's text to translate
        return lab.joined(lab.say(known[name]) if name in known else str(name) for name in value) or None
    if isinstance(value, Quantity):
        spec = "marked" if value.kind == GUESS else FORMATS.get(column, "interval")
        return (value if column == "seconds" else lab.numbers.format(value, spec)) if value else None
    if value in WORDS.get(column, {}):
        return lab.say(WORDS[column][value])
    if value == "" or pd.isna(value):
        return None
    return int(value) if isinstance(value, float) else value
