"""An answer for readers of one language: a sentence, and frames that are shown as tables."""

from collections.abc import Iterable
from html import escape
from math import isfinite
from typing import Any

import numpy as np
import pandas as pd

from ipclab.bounds.states import UNSTEADY, disjoint
from ipclab.errors import LabError
from ipclab.frames import tails
from ipclab.lab.data import Data
from ipclab.lab.lab import Lab
from ipclab.lab.shell import Multilingual
from ipclab.paths import checkout, table_beside
from ipclab.stats.compare import UNDECIDED as NOT_TOLD_APART
from ipclab.stats.quantity import Quantity
from ipclab.tables.tabulation import tabulated
from ipclab.words.blocks import join_lines
from ipclab.words.catalogue import N_
from ipclab.words.filling import escaped
from ipclab.words.words import DASH
from ipclab_more.choose import asked
from ipclab_more.choose.answer import NOTHING, UNDECIDED, Answer
from ipclab_more.choose.candidates import EXCLUDED, UNMEASURED, WORSE
from ipclab_more.choose.need import US, Need, need_of
from ipclab_more.choose.windows import advised_window, windows

LEVEL = "level"  # of its contest, which leaves two apart undecided
SHOWN = 8  # mechanisms of which more is told than their time
WORDS: dict[str, dict[str, str]] = table_beside(__file__, "labels.toml")
FORMATS = {"keeps_up": "int,bare,interval", "ratio": "x,interval", "limit": "x", "cpus": ""}


def verdict(lab: Lab, answer: Answer) -> str:
    """Return the answer in a sentence or two, and what it says nothing of, with what measures that."""
    slower = answer.rows[answer.rows.status == WORSE]
    values = {
        "unmeasured": lab.level("backend", answer.unmeasured),
        "demands": _demands(lab, answer.unknown),
        "command": answer.need.command(),
        "names": lab.level("backend", answer.best),
        "first": lab.level("backend", answer.best[:1]),
        "next": _following(lab, slower) if len(slower) else "",
        "launches": lab.words.numbers.number(answer.launches, 0),
        "sessions": lab.words.numbers.number(answer.sessions, 0),
        "seconds": Quantity(answer.seconds * 1e9, "ns"),
    }
    said = [lab.say(WORDS["verdict"][name], **values) for name in _sentences(answer)]
    said[1:1] = _asleep(lab, answer)
    if window := advised_window(lab, answer.need):
        sentence, values = window
        said.append(lab.say(WORDS["spinning"][sentence], **values))
    return join_lines("\n".join(said))


def _asleep(lab: Lab, answer: Answer) -> list[str]:
    """Return which one is first of those that sleep while they wait, where all of the best spin."""
    spinning = {name for name, known in lab.run.questions.mechanisms.items() if known.spins}
    rows = answer.rows[(answer.rows.launches > 0) & (answer.rows.status != EXCLUDED)]
    rows = rows[~rows.backend.isin(spinning)]
    if not answer.best or {*answer.best} - spinning or rows.empty:
        return []
    first: Any = next(rows.itertuples())
    name = lab.level("backend", first.backend)
    said = lab.words.numbers.format(first.value, "interval")
    return [lab.say(WORDS["verdict"]["asleep"], name=name, time=said)]


def _sentences(answer: Answer) -> list[str]:
    """Return the keys of the sentences of a verdict."""
    if answer.state == UNDECIDED and not answer.best:
        sentences = ["unmeasured"]
    elif answer.state == UNDECIDED:
        sentences = ["best", "sessions" if answer.sessions else "more"]
        if answer.unknown:
            sentences[1] = "unknown"
        elif not isfinite(answer.launches + answer.sessions):
            sentences[1] = "never"
    elif answer.state == NOTHING:
        sentences = [NOTHING]
    elif UNSTEADY in set(answer.rows.verdict):
        sentences = ["states"]
    elif len(answer.best) > 1:
        sentences = ["several"]
    else:
        sentences = ["one" if WORSE in set(answer.rows.status) else "alone"]
    if answer.unmeasured:
        sentences.append("missing")
    if answer.unmeasured or answer.unknown:
        sentences.append("adds")
    return sentences


def said(lab: Lab, answer: Answer) -> Multilingual:
    """Return the verdict as a notebook shows it, for the readers of all its languages."""
    return Multilingual({of.words.lang: escaped(verdict(of, answer)) for of in (lab, *lab.others)})


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
    excluded, rows = answer.rows[is_excluded], answer.rows[~is_excluded]
    reasons = [_demands(lab, why) for why in excluded.why]
    by_reason = excluded.assign(why=reasons).groupby("why", sort=False).backend
    measured = rows.status != UNMEASURED
    # undecided though its interval is apart from the first's
    values = rows["value"].tolist()
    lie_apart = [bool(value) and disjoint(value.ends, values[0].ends) for value in values]
    by_level = (rows.verdict == NOT_TOLD_APART) & np.array(lie_apart, dtype=bool)
    launches = rows.launches.astype(object)
    rows = rows.assign(
        evidence=rows.verdict.mask(by_level, LEVEL).where(measured, UNMEASURED),
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
    shown = {}
    for name, frame in frames.items():
        columns = {}
        for column, head in WORDS[name].items():
            cells = [_cell(lab, column, value) for value in frame[column]]
            if any(cell is not None for cell in cells):
                columns[lab.say(head)] = [DASH if cell is None else cell for cell in cells]
        shown[name] = pd.DataFrame(columns, dtype=object)
    return shown


def text(lab: Lab, answer: Answer) -> str:
    """Return the whole answer as text for a terminal."""
    parts = [verdict(lab, answer)]
    for frame in tables(lab, answer).values():
        table = tabulated(lab, frame, "")
        if table.rows:
            heads = [column.label for column in table.columns]
            cells = pd.DataFrame(table.rows, columns=heads)
            parts.append(cells.to_string(index=False, justify="left"))
    return "\n\n".join(parts)


def show_answer(lab: Lab, **sides: Any) -> None:
    """Show the answer to a need with these `sides`, or why it is none, below a notebook's widgets."""
    from IPython.display import HTML, display

    try:
        answer = asked.tell(checkout(), lab.run, need_of(sides))
    except LabError as error:
        print(error)
        return
    parts = [f"<p>{escape(verdict(lab, answer))}</p>"]
    for name, frame in tables(lab, answer).items():
        if name != "asked" and len(frame):
            parts.append(lab.table(frame, "").to_html())
    display(HTML("".join(parts)))  # type: ignore[no-untyped-call]


def _asked(lab: Data, need: Need) -> pd.DataFrame:
    """Return the sides of a need in words, without those that were left open."""
    numbers = lab.words.numbers
    words = WORDS["level"]
    sizes = []
    for size, share in need.size.items():
        shown = numbers.format(Quantity(size, _unit(need)))
        if share < 1:
            shown += f" ({numbers.format(Quantity(share, 'share'))})"
        sizes.append(shown)
    sides: dict[str, Any] = {
        "size": lab.words.joined(sizes),
        "way": lab.say(words[need.way]),
        "rate": numbers.number(need.rate, 0) if need.rate else lab.say(words["closed"]),
        "consumers": need.consumers,
        "sharing": lab.say(words[need.sharing]) if need.consumers > 1 else "",
        "placement": lab.level("placement", need.placement),
        "work_us": need.work_us and numbers.format(Quantity(need.work_us * US, "ns")),
        "deadline_us": need.deadline_us and numbers.format(Quantity(need.deadline_us * US, "ns")),
        "quantile": tails.metric(need.quantile) if need.deadline_us else "",
        "cpus": need.cpus,
        "must": _demands(lab, need.must),
    }
    rows = [
        (lab.say(word), str(sides[name])) for name, word in WORDS["side"].items() if sides[name]
    ]
    return pd.DataFrame(rows, columns=["side", "value"])


def _unit(need: Need) -> str:
    return "B" if need.size_column == "size_bytes" else "count"


def _changes(lab: Data, answer: Answer) -> pd.DataFrame:
    """Return what would change the answer, and how."""
    rows = []
    words = WORDS["change"]
    numbers = lab.words.numbers
    for change, backend, amount in answer.changes.itertuples(index=False):
        kind, _, demands = change.partition(":")
        if demands:
            ratio = numbers.format(amount, FORMATS["ratio"])
            demand = lab.say(words[kind], names=_demands(lab, demands.split(",")))
            rows.append((demand, lab.say(words["gain"], backend=backend, ratio=ratio)))
        else:
            rows.append((lab.say(words[kind]), numbers.format(amount, "interval")))
    unit = _unit(answer.need)
    spec = "scaled" if unit == "B" else ""
    for crossing in answer.crossings.to_dict("records"):
        about = float(f"{crossing['about']:.2g}")
        ends = {"low": crossing["low"], "high": crossing["high"], "about": about}
        shown = {name: numbers.format(Quantity(size, unit), spec) for name, size in ends.items()}
        change = lab.say(words["between"], **shown)
        then = lab.say(words["crossed"], above=crossing["above"], below=crossing["below"])
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


def _demands(lab: Data, names: Iterable[str]) -> str:
    # What is no demand, such as why a point failed, is nobody's text to translate.
    words = WORDS["demand"]
    return lab.words.joined(lab.say(words[name]) if name in words else name for name in names)


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


def _following(lab: Data, slower: pd.DataFrame) -> str:
    """Return who is next after the fastest, in words: several where their ratios look the same."""
    written = [lab.words.numbers.format(ratio, "x") for ratio in slower.ratio]
    names = list(slower.backend[[text == written[0] for text in written]])
    listed, ratio = lab.words.joined(names), slower.ratio.iloc[0]
    return lab.say(N_("next: {names}, {ratio:x} as long"), names=listed, ratio=ratio)
