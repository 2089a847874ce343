"""An answer for readers of one language: a sentence, and frames that are shown as tables."""

from collections.abc import Iterable, Mapping
from html import escape
from math import isfinite
from typing import Any

import pandas as pd

from ipclab.bounds.states import UNSTEADY, apart
from ipclab.frames import tails
from ipclab.lab.data import Data
from ipclab.lab.lab import Lab
from ipclab.lab.shell import Text
from ipclab.paths import table_beside
from ipclab.report.sheet import as_frame
from ipclab.stats.compare import UNDECIDED as NOT_TOLD_APART
from ipclab.stats.quantity import Quantity
from ipclab.tables.tabulation import tabulated
from ipclab.words.blocks import join_lines
from ipclab.words.catalogue import N_
from ipclab.words.filling import escaped
from ipclab.words.words import DASH
from ipclab_more.choose.answer import NOTHING, UNDECIDED, Answer
from ipclab_more.choose.candidates import EXCLUDED, UNMEASURED, WORSE
from ipclab_more.choose.need import US, Need
from ipclab_more.choose.windows import advised_window, windows

LEVEL = "level"  # of its contest, which leaves two apart undecided
SHOWN = 8  # mechanisms of which more is told than their time
WORDS: dict[str, dict[str, str]] = table_beside(__file__, "labels.toml")
FORMATS = {"keeps_up": "int,bare,interval", "ratio": "x,interval", "limit": "x", "cpus": ""}


def _what_decides(answer: Answer) -> str:
    """Return the key of the sentence that says what would decide what is open."""
    if answer.unknown:
        return "unknown"
    if not isfinite(answer.launches + answer.sessions):
        return "never"
    return "sessions" if answer.sessions else "more"


def verdict(lab: Lab, answer: Answer) -> str:
    """Return the answer in a sentence or two, and what it says nothing of, with what measures that."""
    worse = answer.rows[answer.rows.status == WORSE]
    slower = dict(zip(worse.backend, worse.ratio, strict=True))
    if answer.state == UNDECIDED:
        sentences = ["best", _what_decides(answer)] if answer.best else ["unmeasured"]
    elif answer.state == NOTHING:
        sentences = [NOTHING]
    elif UNSTEADY in set(answer.rows.verdict):
        sentences = ["states"]
    elif len(answer.best) > 1:
        sentences = ["several"]
    else:
        sentences = ["one" if slower else "alone"]
    if answer.unmeasured:
        sentences.append("missing")
    if answer.unmeasured or answer.unknown:
        sentences.append("adds")
    values = {
        "unmeasured": lab.level("backend", answer.unmeasured),
        "demands": _demands(lab, answer.unknown),
        "command": answer.need.command(),
        "names": lab.level("backend", answer.best),
        "first": lab.level("backend", answer.best[0]) if answer.best else "",
        "next": following(lab, slower) if slower else "",
        "launches": lab.words.numbers.number(answer.launches, 0),
        "sessions": lab.words.numbers.number(answer.sessions, 0),
        "seconds": Quantity(answer.seconds * 1e9, "ns"),
    }
    said = [lab.say(WORDS["verdict"][sentence], **values) for sentence in sentences]
    if spun := advised_window(lab, answer.need):
        sentence, windowed = spun
        said.append(lab.say(WORDS["spinning"][sentence], **windowed))
    return join_lines("\n".join(said))


def said(lab: Lab, answer: Answer) -> Text:
    """Return the verdict as a notebook shows it, for the readers of all its languages."""
    return Text({of.words.lang: escaped(verdict(of, answer)) for of in (lab, *lab.others)})


def times(answer: Answer) -> pd.DataFrame:
    """Return the time of each mechanism that fits and was measured, the best first."""
    rows = answer.rows[answer.rows.launches > 0]
    ends = [(time.value, time.low, time.high) for time in rows.value]
    made = pd.DataFrame(ends, columns=["value", "low", "high"])
    return made.assign(backend=[*rows.backend], unit="ns", study=answer.need.study)


def tables(lab: Lab, answer: Answer) -> dict[str, pd.DataFrame]:
    """Return what is known as frames by name, their heads translated, without empty columns.

    `asked`: the need, without what was left open. `ranking`: the mechanisms that were not excluded,
    the best first, with time, ratio to the fastest, load and evidence. `promises`: what was
    measured of them beside their time. `excluded`: those that do not fit, and why. `changes`:
    relaxed demands, limits of the first, and sizes from which another wins. `missing`: the points
    that the run lacks, and what measuring them costs. `windows`: how long to spin before a sleep.
    """
    is_excluded = answer.rows.status == EXCLUDED
    excluded = answer.rows[is_excluded]
    reasons = [_demands(lab, why) for why in excluded.why]
    by_reason = excluded.assign(why=reasons).groupby("why", sort=False).backend
    rows = answer.rows[~is_excluded]
    measured = rows.status != UNMEASURED
    launches = rows.launches.astype(object)
    verdicts = rows.verdict.mask(_by_level(rows), LEVEL)
    rows = rows.assign(
        evidence=verdicts.where(measured, UNMEASURED),
        time=rows.value.where(measured, rows.estimate),
        launches=launches.where(launches > 0, None),
    )
    frames = {
        "asked": _asked(lab, answer.need),
        "ranking": rows,
        "promises": rows.head(SHOWN),
        "excluded": by_reason.agg(lab.words.joined).reset_index(),
        "changes": _changes(lab, answer),
        "missing": _missing(lab, answer),
        "windows": windows(lab, answer.need),
    }
    return {name: _headed(lab, frame, WORDS[name]) for name, frame in frames.items()}


def _by_level(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Tell of each mechanism whether it is undecided though its interval is apart from the first's."""
    values = rows["value"].tolist()
    lie_apart = [bool(value) and apart(value.ends, values[0].ends) for value in values]
    return (rows.verdict == NOT_TOLD_APART) & pd.Series(lie_apart, rows.index, dtype=bool)


def text(lab: Lab, answer: Answer) -> str:
    """Return the whole answer as text for a terminal."""
    parts = [verdict(lab, answer)]
    for frame in tables(lab, answer).values():
        table = as_frame(tabulated(lab, frame, ""))
        if len(table):
            parts.append(table.to_string(index=False, justify="left"))
    return "\n\n".join(parts)


def html(lab: Any, answer: Answer) -> str:
    """Return the answer with its tables as HTML, without what was asked."""
    parts = [f"<p>{escape(verdict(lab, answer))}</p>"]
    for name, frame in tables(lab, answer).items():
        if name != "asked" and len(frame):
            parts.append(lab.table(frame, "").to_html())
    return "".join(parts)


def _asked(lab: Data, need: Need) -> pd.DataFrame:
    """Return the sides of a need in words, without those that were left open."""
    numbers = lab.words.numbers
    words = WORDS["level"]
    sizes = [_size(lab, need, size) for size in need.size]
    rate = lab.say(words["closed"])
    if need.rate:
        rate = numbers.number(need.rate, 0)
    sides: dict[str, Any] = {
        "size": lab.words.joined(sizes),
        "way": lab.say(words[need.way]),
        "rate": rate,
        "consumers": need.consumers,
        "sharing": lab.say(words[need.sharing]) if need.consumers > 1 else "",
        "placement": lab.level("placement", need.placement),
        "work_us": need.work_us and numbers.format(Quantity(need.work_us * US, "ns")),
        "deadline_us": need.deadline_us and numbers.format(Quantity(need.deadline_us * US, "ns")),
        "quantile": tails.metric(need.quantile) if need.deadline_us else "",
        "cpus": need.cpus,
        "must": _demands(lab, need.must),
    }
    rows = []
    for name, word in WORDS["side"].items():
        if sides[name]:
            rows.append((lab.say(word), str(sides[name])))
    return pd.DataFrame(rows, columns=["side", "value"])


def _size(lab: Data, need: Need, size: int) -> str:
    """Return a size, and its share where there are several."""
    numbers = lab.words.numbers
    share = need.size[size]
    shown = numbers.format(Quantity(size, _unit(need)))
    if share < 1:
        shown += f" ({numbers.format(Quantity(share, 'share'))})"
    return shown


def _unit(need: Need) -> str:
    return "B" if need.size_column == "size_bytes" else "count"


def _changes(lab: Data, answer: Answer) -> pd.DataFrame:
    """Return what would change the answer, and how."""
    rows = []
    words = WORDS["change"]
    numbers = lab.words.numbers
    for row in answer.changes.to_dict("records"):
        kind, _, demands = row["change"].partition(":")
        if demands:
            names = _demands(lab, demands.split(","))
            change = lab.say(words[kind], names=names)
            ratio = _cell(lab, "ratio", row["amount"])
            then = lab.say(words["gain"], backend=row["backend"], ratio=ratio)
        else:
            change = lab.say(words[kind])
            then = numbers.format(row["amount"], "interval")
        rows.append((change, then))
    unit = _unit(answer.need)
    spec = "scaled" if unit == "B" else ""
    for crossing in answer.crossings.itertuples():
        ends = {"low": crossing.low, "high": crossing.high}
        ends["about"] = float(f"{crossing.about:.2g}")
        shown = {name: numbers.format(Quantity(size, unit), spec) for name, size in ends.items()}
        change = lab.say(words["between"], **shown)
        then = lab.say(words["crossed"], above=crossing.above, below=crossing.below)
        rows.append((change, then))
    return pd.DataFrame(rows, columns=["change", "then"])


def _missing(lab: Data, answer: Answer) -> pd.DataFrame:
    """Return the points that the run lacks by mechanism, and what measuring them costs."""
    rows = []
    for name, part in answer.missing.groupby("backend"):
        sizes = lab.words.joined(map(str, part["size"]))
        seconds = Quantity(part.seconds.sum() * 1e9, "ns")
        rows.append((name, sizes, part.launches.sum(), seconds))
    return pd.DataFrame(rows, columns=["backend", "size", "launches", "seconds"])


def _headed(lab: Data, rows: pd.DataFrame, heads: dict[str, str]) -> pd.DataFrame:
    """Return the columns of `rows` that have heads and cells, in the reader's language."""
    columns = {}
    for name, head in heads.items():
        cells = [_cell(lab, name, value) for value in rows[name]]
        column = pd.Series(cells, dtype=object)
        if column.notna().any():
            columns[lab.say(head)] = column.where(column.notna(), DASH)
    return pd.DataFrame(columns)


def _demands(lab: Data, names: Iterable[str]) -> str:
    words = []
    for name in names:
        # What is no demand, such as why a point failed, is nobody's text to translate.
        demand = WORDS["demand"].get(name)
        words.append(lab.say(demand) if demand else name)
    return lab.words.joined(words)


def _cell(lab: Data, column: str, value: Any) -> Any:
    """Return a value of an answer in words; an estimate is marked, what is absent is None."""
    if isinstance(value, list):
        return _demands(lab, value) or None
    if isinstance(value, Quantity):
        if not value or column == "seconds":
            return value or None
        spec = "marked" if value.kind == "estimate" else FORMATS.get(column, "interval")
        return lab.words.numbers.format(value, spec)
    if value in WORDS.get(column, {}):
        return lab.say(WORDS[column][value])
    if value == "" or pd.isna(value):
        return None
    return int(value) if isinstance(value, float) else value


def following(lab: Data, slower: Mapping[str, Quantity]) -> str:
    """Return who is next after the fastest, in words: several where their ratios look the same.

    `slower` are how many times as long the others take, by name.
    """
    by_ratio = sorted(slower.items(), key=lambda named: named[1].value)
    written = {name: lab.words.numbers.format(ratio, "x") for name, ratio in by_ratio}
    nearest, ratio = by_ratio[0]
    names = [name for name, text in written.items() if text == written[nearest]]
    has_comma = any("," in name for name in names)  # which would not separate them
    listed = lab.words.joined(names, N_("; ") if has_comma else N_(", "))
    return lab.say(N_("next: {names}, {ratio:x} as long"), names=listed, ratio=ratio)
