"""The history of a machine as lines, as a table, and as a report in each language and format."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ipclab.compare.held import held
from ipclab.compare.reporting import render
from ipclab.history.runs import blessed
from ipclab.history.steps import ALONE, DRIFT, MACHINE, MECHANISM, STEP, History
from ipclab.measure.progress import Progress
from ipclab.paths import Paths
from ipclab.store.run import RunFolder

FOLDER, TABLE, PARAMETER = "history", "steps.csv", "history"
KINDS = {STEP: "step", ALONE: "stands alone", DRIFT: "drift from here"}
WHAT = {MACHINE: "the machine: {limits} of {tested} limits changed too"}
WHAT |= {MECHANISM: "not the machine by its limits: none of {tested} is shown to have changed"}
MOST = 6  # changes that a line names
APART = " | "  # between changes, whose values hold semicolons


def report(
    paths: Paths, runs: Sequence[RunFolder], langs: Sequence[str], formats: Sequence[str], out: Path, progress: Progress
) -> tuple[list[str], list[Path]]:
    """Render the history of `runs` below `out`/<lang> with its table; return its lines and the files.

    Without `langs` there is the table alone. Raises `LabError` when the notebook fails, or when a run is not what was
    measured.
    """
    for run in runs:
        run.checked()
    found, accepted = History.of([held(run) for run in runs]), blessed(runs)
    events = found.events()
    rows = events.assign(
        run=[runs[at].id for at in events.run],
        changed=[APART.join(f"{name}: {old} -> {new}" for name, old, new in each) for each in events.changed],
        accepted=[accepted.get(runs[at].id, "") for at in events.run],
    )
    return lines(found, rows), render(paths, runs, PARAMETER, (FOLDER, TABLE, rows), langs, formats, out, progress)


def lines(found: History, rows: pd.DataFrame) -> list[str]:
    """Return what is told on the terminal: a line for each event, and one for what was and could not be judged."""
    unjudged = ", ".join(f"{count} {why}" for why, count in sorted(found.unjudged.items())) or "none"
    judged = f"{len(found.runs)} runs, {len(found.points)} points judged; not judged: {unjudged}"
    return [*(_line(row) for row in rows.to_dict("records")), judged]


def _line(row: Mapping[Any, Any]) -> str:
    what = WHAT.get(row["what"], "limits were not measured on both sides").format_map(row)
    moved = f"{row['points']} points, {row['slower']} slower, on average x {row['ratio']:.2f}"
    moved = moved if row["points"] else f"limits only, x {row['ratio']:.2f}"
    changes = row["changed"].split(APART)
    more = f" and {len(changes) - MOST} more" if len(changes) > MOST else ""
    changed = APART.join(changes[:MOST]) or "nothing that is known"
    accepted = f"; accepted: {row['accepted']}" if row["accepted"] else ""
    return f"{row['run']}: {KINDS[row['kind']]}: {moved}; {what}; changed: {changed}{more}{accepted}"
