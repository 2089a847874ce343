"""Deadlines: a tolerance limit of the launches' p99.9 for each point that a run was measured to state one of."""

from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

import pandas as pd
from IPython.display import Markdown

from ipclab.errors import LabError
from ipclab.frames.derived import measured
from ipclab.frames.points import QUANTILES, Row, frame, head, summary
from ipclab.lab import labels
from ipclab.lab.catalogue import N_
from ipclab.lab.data import DASH
from ipclab.lab.numbers import trimmed
from ipclab.stats.quantity import Quantity
from ipclab.stats.tolerance import ERROR, HOLDS, Deadline, statement
from ipclab.store.run import RunFolder
from ipclab.store.samples import Measured, decode
from ipclab.studies.installed import ALWAYS

if TYPE_CHECKING:
    from ipclab.lab.lab import Lab

METRIC = "p99.9"
LEAST_SAMPLES = round(1 / (1 - QUANTILES[METRIC]))  # of fewer the p99.9 is the largest
VALUES = ("op", "metric", "unit", "value", "state", "launches", "samples", "drift", "follows")
DIGITS = 3  # that are shown of a bound, the last rounded up
SAID, HEADS = labels.SAID["deadlines"], labels.SAID["deadline-heads"]
REFUSED = N_("{point}: no deadline is stated, since {why} ({launches}).")
LAUNCHES = N_("launches: {count}, samples of each: {samples} or more")
LARGEST = N_("launches: {count}, samples of each: {samples} or more, too few: p99.9 is the largest of them")


def asked(run: RunFolder) -> Deadline | None:
    """Return what `run` was measured to state, None when it was measured for something else."""
    text = run.about["parameters"].get("deadline", "")
    try:
        return Deadline.of(text) if text else None
    except ValueError as error:
        raise LabError(f"{run.id} asks for deadline {text!r}", str(error), "measure anew") from error


def deadlines(run: RunFolder) -> pd.DataFrame:
    """Return one row for each point and main op that `run` was measured for; empty when it was for something else.

    `value` is the p99.9 (ns) below which the launches asked for lie, missing where none is stated: `state` says why
    (`ipclab.stats.tolerance`). `samples` are those of the launch with the fewest; `drift` and `follows` are p values.
    """
    wanted = asked(run)
    studies = [name for name in measured(run) if name not in ALWAYS] if wanted else []
    files = [file for name in studies for file in run.point_files() if file.parent.name == name]
    return frame([row for file in files for row in _rows(decode(file), wanted)] if wanted else [], VALUES)


def _rows(found: Measured, wanted: Deadline) -> list[Row]:
    launches = sorted(found.launches, key=lambda launch: launch.order)
    rows = []
    for op in (op for op in found.point.primary if op in found.op_names() and launches[0].per.get(op, 1) == 1):
        known = [summary(launch, op) for launch in launches]
        tails = [each[METRIC] for each in known]
        told = statement(tails, wanted, len(found.failures))
        samples = int(min(each["samples"] for each in known))
        values = (op, METRIC, "ns", told.bound, told.state, told.launches, samples, told.drift, told.follows)
        rows.append(head(found.point) | dict(zip(VALUES, values, strict=True)))
    return rows


def statements(lab: "Lab") -> list[str]:
    """Return one sentence for each point and op that the run was measured to state a deadline of."""
    return [row["statement"] for row in _told(lab)]


def shown(lab: "Lab") -> list[Any]:
    """Return the deadlines that the run was measured to state and their table, to be displayed; none in another run.

    >>> for part in lab.deadlines(): display(part)
    """
    told = _told(lab)
    if not told:
        return []
    about = N_(
        "Deadlines (Wilks; one-sided, of no assumed shape): the number of launches was fixed before. A p of "
        "launches without drift, or without resemblance to the one before, below {p} refuses the statement"
    )
    rows = pd.DataFrame(told)[list(HEADS)].rename(columns={name: lab.translate(head) for name, head in HEADS.items()})
    lines = "\n".join(f"- {row['statement']}" for row in told)
    caption = lab.say(about, p=lab.numbers.number(ERROR / 2))
    return [Markdown(lines), lab.table(rows, caption, spec="", name="deadlines")]  # type: ignore[no-untyped-call]


def _told(lab: "Lab") -> list[dict[str, Any]]:
    """Return each row of `deadlines` in words: the cells of its table by `HEADS`, and its `statement`."""
    wanted, found = asked(lab.run), deadlines(lab.run)
    if wanted is None:
        return []
    usual = ["op", "backend", "size_bytes", "placement"]
    others = [name for name in map(str, found) if name not in (*usual, "study", "point", *VALUES)]
    named = [*usual, *(name for name in others if found[name].nunique(dropna=False) > 1)]
    shares = {"coverage": wanted.coverage, "confidence": wanted.confidence}
    asks = {name: trimmed(lab.numbers.format(Quantity(share, "share"), "fine")) for name, share in shares.items()}
    told = []
    for row in found.to_dict("records"):
        cells: dict[str, Any] = {name: Quantity(row[name], "count") for name in ("launches", "samples")}
        cells |= {name: lab.numbers.number(row[name]) for name in ("drift", "follows")}
        cells |= {"point": lab.joined(lab.level(name, row[name]) for name in named), "bound": _bound(lab, row)}
        counted = LAUNCHES if row["samples"] > LEAST_SAMPLES else LARGEST
        words = cells | {"launches": lab.say(counted, count=cells["launches"], samples=cells["samples"])}
        state = SAID[row["state"]]
        said = state if row["state"] == HOLDS else REFUSED
        why = "" if row["state"] == HOLDS else lab.say(state, **words)
        told.append(cells | {"statement": lab.say(said, **words, **asks, why=why)})
    return told


def _bound(lab: "Lab", row: dict[Any, Any]) -> str:
    """Return the bound (ns), rounded up: a bound that was rounded down would be none."""
    if row["state"] != HOLDS:
        return DASH
    step = 10.0 ** (floor(log10(row["value"])) - DIGITS + 1)
    return lab.numbers.format(Quantity(ceil(row["value"] / step) * step, "ns"))
