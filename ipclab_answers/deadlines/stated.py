"""What a run states of deadlines: a tolerance limit of the launches' p99.9 for each point."""

from dataclasses import asdict
from math import ceil, floor, log10
from typing import Any

import pandas as pd
from IPython.display import Markdown

from ipclab.errors import LabError
from ipclab.frames.derived import measured
from ipclab.frames.metrics import QUANTILES, summary
from ipclab.frames.points import Row, frame, head
from ipclab.lab.catalogue import N_
from ipclab.lab.lab import Lab
from ipclab.lab.numbers import trimmed
from ipclab.lab.words import DASH
from ipclab.paths import table_beside
from ipclab.stats.quantity import Quantity
from ipclab.stats.tolerance import ERROR, HOLDS, Deadline, statement
from ipclab.store.run import RunFolder
from ipclab.store.samples import Measured, decode
from ipclab.studies.installed import ALWAYS

PURPOSE = "deadline"  # the parameter of a run that was measured to state one
METRIC = "p99.9"
LEAST_SAMPLES = round(1 / (1 - QUANTILES[METRIC]))  # of fewer the p99.9 is the largest
VALUES = [
    "op",
    "metric",
    "unit",
    "value",
    "state",
    "launches",
    "samples",
    "drift",
    "follows",
]
USUAL = ["op", "backend", "size_bytes", "placement"]
DIGITS = 3  # that are shown of a bound, the last rounded up
WORDS = table_beside(__file__, "labels.toml")
REFUSED = N_("{point}: no deadline is stated, since {why} ({launches}).")
LAUNCHES = N_("launches: {count}, samples of each: {samples} or more")
LARGEST = N_(
    "launches: {count}, samples of each: {samples} or more, too few: p99.9 is the largest of them"
)
CAPTION = N_(
    "Deadlines (Wilks; one-sided, of no assumed shape): the number of launches was fixed before. "
    "A p of launches without drift, or without resemblance to the one before, below {p} refuses "
    "the statement"
)


def asked(run: RunFolder) -> Deadline | None:
    """Return what `run` was measured to state, None when it was measured for something else."""
    text = str(run.about["parameters"].get(PURPOSE, ""))
    try:
        return Deadline.of(text) if text else None
    except ValueError as error:
        what = f"{run.id} asks for deadline {text!r}"
        raise LabError(what, str(error), "measure anew") from error


def deadlines(run: RunFolder) -> pd.DataFrame:
    """Return one row for each point and main op that `run` was measured for.

    `value` is the p99.9 (ns) below which the launches asked for lie, missing where none is stated:
    `state` says why (`ipclab.stats.tolerance`). `samples` are those of the launch with
    the fewest; `drift` and `follows` are p values. Empty when `run` was for something else.
    """
    deadline = asked(run)
    rows = list[Row]()
    if deadline is not None:
        studies = [study for study in measured(run) if study not in ALWAYS]
        for file in run.point_files():
            if file.parent.name in studies:
                rows += _rows(decode(file), deadline)
    return frame(rows, VALUES)


def _rows(measured: Measured, deadline: Deadline) -> list[Row]:
    launches = sorted(measured.launches, key=lambda launch: launch.order)
    rows = []
    for op in measured.point.primary:
        is_timed = op in measured.op_names()
        if not is_timed or launches[0].per.get(op, 1) != 1:
            continue
        summaries = [summary(launch, op) for launch in launches]
        tails = [launch[METRIC] for launch in summaries]
        row = head(measured.point) | {"op": op, "metric": METRIC, "unit": "ns"}
        row["samples"] = int(min(launch["samples"] for launch in summaries))
        stated = statement(tails, deadline, len(measured.failures))
        rows.append(row | asdict(stated))
    return rows


def statements(lab: Lab) -> list[str]:
    """Return one sentence for each point and op that a deadline was to be stated of."""
    return [row["statement"] for row in _in_words(lab)]


def shown(lab: Lab) -> list[Any]:
    """Return the deadlines that the run was measured to state and their table, to be displayed.

    An empty list for another run.

    >>> for part in shown(lab): display(part)
    """
    rows = _in_words(lab)
    if not rows:
        return []
    heads = WORDS["heads"]
    cells = pd.DataFrame(rows)[list(heads)]
    caption = lab.say(CAPTION, p=lab.words.numbers.number(ERROR / 2))
    table = lab.table(cells, caption, spec="", name="deadlines", names=heads)
    lines = "\n".join(f"- {row['statement']}" for row in rows)
    return [Markdown(lines), table]  # type: ignore[no-untyped-call]


def _in_words(lab: Lab) -> list[dict[str, Any]]:
    """Return each row of `deadlines` in words: its `statement`, and the cells of the table."""
    deadline = asked(lab.run)
    if deadline is None:
        return []
    rows = deadlines(lab.run)
    numbers = lab.words.numbers
    levels = rows.columns.difference(["study", "point", *USUAL, *VALUES])
    varied = [name for name in levels if rows[name].nunique(dropna=False) > 1]
    named = [*USUAL, *varied]
    shares = {}
    for name in ("coverage", "confidence"):
        share = Quantity(getattr(deadline, name), "share")
        shares[name] = trimmed(numbers.format(share, "fine"))
    in_words = []
    for row in rows.to_dict("records"):
        words = [lab.level(name, row[name]) for name in named]
        cells: dict[str, Any] = {
            "point": lab.words.joined(words),
            "launches": Quantity(row["launches"], "count"),
            "samples": Quantity(row["samples"], "count"),
            "drift": numbers.number(row["drift"]),
            "follows": numbers.number(row["follows"]),
            "bound": _bound(lab, row),
        }
        counted = LAUNCHES if row["samples"] > LEAST_SAMPLES else LARGEST
        launches = lab.say(counted, count=cells["launches"], samples=cells["samples"])
        filled = cells | shares | {"launches": launches}
        state = lab.say(WORDS["state"][row["state"]], **filled)
        if row["state"] != HOLDS:
            state = lab.say(REFUSED, **filled, why=state)
        in_words.append(cells | {"statement": state})
    return in_words


def _bound(lab: Lab, row: dict[Any, Any]) -> str:
    """Return the bound (ns), rounded up: a bound that was rounded down would be none."""
    if row["state"] != HOLDS:
        return DASH
    step = 10.0 ** (floor(log10(row["value"])) - DIGITS + 1)
    rounded_up = ceil(row["value"] / step) * step
    return lab.words.numbers.format(Quantity(rounded_up, "ns"))
