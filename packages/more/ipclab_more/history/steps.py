"""What happened to one machine over its runs: each step with what moved beside it, and drift."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ipclab.frames.run_table import HEAD, Row
from ipclab.report.compare import LIMITS
from ipclab.report.compare.facts import differing_facts
from ipclab.report.compare.held import ComparedRun
from ipclab.report.compare.shared import KEY
from ipclab.report.compare.unpaired import RUNS_ALPHA
from ipclab.stats.enough import least_p
from ipclab.stats.intervals import statistic_estimate
from ipclab.stats.quantity import FEW_SAMPLES
from ipclab_more.history.changepoint import Changes, Shifts, changes, counting_changes

# What stepped, by the limits.
MACHINE, MECHANISM, LIMITS_ONLY = "machine", "mechanism", "limits"
UNKNOWN = "unknown"
# Why nothing can be judged.
ONE_RUN, MOVED = "one-run", "differs:relation"
NO_TIME, FEW = "not-a-time", "few-launches"
COLUMNS = [
    "kind",
    "run",
    "began",
    "what",
    "points",
    "slower",
    "limits",
    "tested",
    "ratio",
    "low",
    "high",
    "changed",
]
STEP, ALONE, DRIFT = "step", "alone", "drift"
LEAST_LOAD = 1.0  # runnable tasks by which the load must differ
KINDS = {STEP: "step", ALONE: "stands alone", DRIFT: "drift from here"}
WHAT = {
    MACHINE: "the machine: {limits} of {tested} limits changed too",
    MECHANISM: "not the machine by its limits: none of {tested} is shown to have changed",
    LIMITS_ONLY: "the limits alone: {limits} of {tested} changed, no mechanism is shown to",
    UNKNOWN: "limits were not measured on both sides",
}
MOST_NAMED = 6  # changes that a line names
APART = " | "  # between changes, whose values hold semicolons
# Facts of the checkout that are left out: ipclab's version tells what matters of it.
LEFT_OUT = "git_commit", "git_dirty"


@dataclass(frozen=True)
class History:
    """Runs of one machine, oldest first.

    `points` has the columns `HEAD` for each op of each point that is judged, `values` a row for
    each of its runs (number of the point, number of the run, value, low, high in ns), `changes`
    what is shown of them, `unjudged` counts the ops of points that are not, by reason.
    """

    runs: Sequence[ComparedRun]
    points: pd.DataFrame
    values: pd.DataFrame
    changes: Changes
    bounds: Sequence[float]
    unjudged: Mapping[str, int]

    @classmethod
    def of(cls, runs: Sequence[ComparedRun]) -> "History":
        """Return what is known of `runs`."""
        numbers = {run.id: number for number, run in enumerate(runs)}
        table = pd.concat([run.points for run in runs])
        unjudged = Counter[str]()
        heads = list[Row]()
        values = []
        series = []
        for _, of_point in table.groupby(KEY):
            rows = of_point.to_dict("records")
            if why := _why_unjudged(rows):
                unjudged[why] += 1
                continue
            logs = [np.empty(0)] * len(runs)
            for row in rows:
                run = numbers[row["run"]]
                medians = row["medians"]
                values.append((len(heads), run, *_interval(medians)))
                logs[run] = np.log(medians)
            heads.append(rows[0])
            series.append(logs)
        limits = [number for number, head in enumerate(heads) if head["study"] == LIMITS]
        return cls(
            runs,
            pd.DataFrame(heads, columns=list(HEAD)),
            pd.DataFrame(values, columns=["number", "run", "value", "low", "high"]),
            changes(series, limits),
            counting_changes(series),
            unjudged,
        )

    def events(self) -> pd.DataFrame:
        """Return one row for each step, lone run and drift, by run, with the columns `COLUMNS`.

        `run` is the number of the run with which it begins; `points` and `limits` count what moved,
        `tested` the limits that the runs on both sides hold (of drift its first and its last run);
        `slower` counts the points that moved up; `ratio` is the geometric mean over the points
        (over the limits when only these moved), `low` and `high` the least and the most; `what`
        stepped: `MACHINE` when limits did as well, `MECHANISM` when they did not, `LIMITS_ONLY`
        when nothing else did, else `UNKNOWN`; `changed`: what differs between the two sides, see
        `facts_between`.
        """
        rows = []
        changes = self.changes
        by_kind = {STEP: changes.steps, ALONE: changes.alone, DRIFT: changes.drifts}
        for kind, by_run in by_kind.items():
            for run, moved in by_run.items():
                rows.append(self._event(kind, run, moved))
        events = pd.DataFrame(rows, columns=COLUMNS)
        return events.sort_values(["run", "kind"], ignore_index=True)

    def _event(self, kind: str, run: int, moved: Shifts) -> tuple[Any, ...]:
        before = run - 1
        after = run
        if kind == DRIFT:
            steps = [step for step in self.changes.steps if step > run]
            before = run
            after = min(steps, default=len(self.runs)) - 1
        is_limit = self.points.study == LIMITS
        limits = [shift for number, shift in moved.items() if is_limit[number]]
        points = [shift for number, shift in moved.items() if not is_limit[number]]
        sides = self.values.number[self.values.run.isin([before, after])]
        on_both = sides[sides.duplicated()]
        tested = int(is_limit[on_both].sum())
        what = MECHANISM if tested else UNKNOWN
        if limits:
            what = MACHINE if points else LIMITS_ONLY
        slower = sum(shift > 0 for shift in points)
        shifts = points or limits
        mean = float(np.mean(shifts))
        ratios = np.exp([mean, min(shifts), max(shifts)]).tolist()
        began = self.runs[run].about["begun"]
        changed = facts_between(self.runs[before], self.runs[after])
        counts = len(points), slower, len(limits), tested
        return kind, run, began, what, *counts, *ratios, changed


def _interval(medians: Sequence[float]) -> tuple[float, float, float]:
    """Return the median of launches in the middle as histories have it, and its interval."""
    found = statistic_estimate(medians, 0)
    low, high = found.low, found.high
    middle = float(np.exp(np.median(np.log(medians))))
    return min(max(middle, low), high), low, high  # rounding must not put it outside


def facts_between(before: ComparedRun, after: ComparedRun) -> list[tuple[str, str, str]]:
    """Return what differs between two runs: a name (msgid or as it is), before, and after.

    Facts that affect results, versions of packages, the profile, and the load when they began.
    """
    changed = []
    for row in differing_facts([before, after]).itertuples():
        if not row.same and row.name not in LEFT_OUT:
            changed.append((str(row.fact), str(row.A), str(row.B)))
    facts = {fact for fact, *_ in changed}
    old_packages = _packages(before)
    new_packages = _packages(after)
    for name in sorted(old_packages.keys() | new_packages.keys()):
        old = str(old_packages.get(name, "–"))
        new = str(new_packages.get(name, "–"))
        if old != new and f"{name} version" not in facts:
            changed.append((name, old, new))
    old = before.about["parameters"]["profile"]
    new = after.about["parameters"]["profile"]
    if old != new:
        changed.append(("Profile", old, new))
    old_load = _load(before)
    new_load = _load(after)
    if None not in (old_load, new_load) and abs(new_load - old_load) >= LEAST_LOAD:
        changed.append(("Load, over a minute", f"{old_load:.1f}", f"{new_load:.1f}"))
    return changed


def _packages(run: ComparedRun) -> Any:
    return run.about["machine"]["facts"].get("packages") or {}


def _load(run: ComparedRun) -> Any:
    """Return the load of a run's machine when it began; None where that is not known."""
    sessions = run.about.get("sessions") or [{}]
    return (sessions[0].get("conditions") or {}).get("load_1")


def events_listed(history: History, accepted: Mapping[str, str]) -> pd.DataFrame:
    """Return the events for a CSV file.

    Runs by name, changes as text, and why the step of a run was `accepted`.
    """
    events = history.events()
    runs = [history.runs[run].id for run in events.run]
    changed = []
    for differing in events.changed:
        lines = [f"{name}: {old} -> {new}" for name, old, new in differing]
        changed.append(APART.join(lines))
    reasons = [accepted.get(run, "") for run in runs]
    return events.assign(run=runs, changed=changed, accepted=reasons)


def event_lines(history: History, rows: pd.DataFrame) -> list[str]:
    """Return what is told on a terminal: a line for each event in `rows`, one for the judged."""
    reasons = [f"{count} {why}" for why, count in sorted(history.unjudged.items())]
    judged = f"{len(history.runs)} runs, {len(history.points)} points judged"
    last = f"{judged}; not judged: {', '.join(reasons) or 'none'}"
    return [*map(_line, rows.to_dict("records")), last]


def _line(row: Row) -> str:
    moved = f"limits only, x {row['ratio']:.2f}"
    if row["points"]:
        slower = f"{row['points']} points, {row['slower']} slower"
        moved = f"{slower}, on average x {row['ratio']:.2f}"
    changes = row["changed"].split(APART)
    changed = APART.join(changes[:MOST_NAMED]) or "nothing that is known"
    if len(changes) > MOST_NAMED:
        changed += f" and {len(changes) - MOST_NAMED} more"
    what = WHAT[row["what"]].format_map(row)
    accepted = f"; accepted: {row['accepted']}" if row["accepted"] else ""
    return f"{row['run']}: {KINDS[row['kind']]}: {moved}; {what}; changed: {changed}{accepted}"


def _why_unjudged(rows: Sequence[Row]) -> str:
    """Return why the runs of one op of a point cannot be judged, nothing when they can."""
    if len(rows) < 2:  # noqa: PLR2004
        return ONE_RUN
    if len({row["relation"] for row in rows}) > 1:
        return MOVED
    for row in rows:
        if not all(np.isfinite(value) and value > 0 for value in row["medians"]):
            return NO_TIME
    counts = [len(row["medians"]) for row in rows]
    if not all(counts):
        return FEW_SAMPLES
    least = []
    for border in range(1, len(counts)):
        before = sum(counts[:border])
        least.append(least_p(before, sum(counts) - before))
    return FEW if min(least) * len(least) > RUNS_ALPHA else ""
