"""What happened to one machine over its runs: each step with what it moved and what changed beside it, and drift."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ipclab.compare.facts import differences
from ipclab.compare.held import HEAD, Held
from ipclab.compare.shared import KEY, LIMITS
from ipclab.stats.changepoint import Found, Shifts, bounds, changes
from ipclab.stats.compare import RUNS_ALPHA
from ipclab.stats.intervals import median_interval
from ipclab.stats.ranktest import least_p

MACHINE, MECHANISM, UNKNOWN = "machine", "mechanism", "unknown"  # what stepped, by the limits
ONE_RUN, MOVED, NO_TIME, FEW = "one-run", "differs:relation", "not-a-time", "few-launches"  # why nothing can be judged
COLUMNS = ("kind", "run", "began", "what", "points", "slower", "limits", "tested", "ratio", "low", "high", "changed")
STEP, ALONE, DRIFT = "step", "alone", "drift"
LOAD = 1.0  # runnable tasks: a difference that counts
KINDS = {STEP: "step", ALONE: "stands alone", DRIFT: "drift from here"}
WHAT = {MACHINE: "the machine: {limits} of {tested} limits changed too"}
WHAT |= {MECHANISM: "not the machine by its limits: none of {tested} is shown to have changed"}
MOST = 6  # changes that a line names
APART = " | "  # between changes, whose values hold semicolons
AWAY = ("git_commit", "git_dirty")  # of the checkout: ipclab's version tells a change of what measures


@dataclass(frozen=True)
class History:
    """Runs of one machine, oldest first.

    `points` has the columns `HEAD` for each op of each point that is judged, `values` a row for each of its runs
    (number of the point, number of the run, value, low, high in ns), `found` what is shown of them, `unjudged` counts
    the ops of points that are not, by reason.
    """

    runs: Sequence[Held]
    points: pd.DataFrame
    values: pd.DataFrame
    found: Found
    bounds: Sequence[float]
    unjudged: Mapping[str, int]

    @classmethod
    def of(cls, runs: Sequence[Held]) -> "History":
        """Return what is known of `runs`."""
        told: dict[tuple[Any, ...], dict[int, dict[Any, Any]]] = {}
        for number, run in enumerate(runs):
            for row in run.points.to_dict("records"):
                told.setdefault(tuple(row[name] for name in KEY), {})[number] = row
        why = {key: _refused(list(rows.values()), len(runs)) for key, rows in told.items()}
        kept = [told[key] for key in sorted(told) if not why[key]]
        series = [[np.log(rows[n]["medians"]) if n in rows else np.empty(0) for n in range(len(runs))] for rows in kept]
        heads = [{name: next(iter(rows.values()))[name] for name in HEAD} for rows in kept]
        control = [number for number, head in enumerate(heads) if head["study"] == LIMITS]
        runs_of = [
            (number, at, each) for number, values in enumerate(series) for at, each in enumerate(values) if len(each)
        ]
        ends = [median_interval(np.exp(each)) for _, _, each in runs_of]  # in which rounding must not miss the median
        rows = [
            (number, at, np.clip(np.exp(np.median(each)), low, high), low, high)
            for (number, at, each), (low, high) in zip(runs_of, ends, strict=True)
        ]
        values = pd.DataFrame(rows, columns=["number", "run", "value", "low", "high"])
        unjudged = Counter(filter(None, why.values()))
        points = pd.DataFrame(heads, columns=list(HEAD))
        return cls(runs, points, values, changes(series, control), bounds(series), unjudged)

    def events(self) -> pd.DataFrame:
        """Return one row for each step, lone run and drift, in the order of runs, with the columns `COLUMNS`.

        `run` is the number of the run with which it begins; `points` and `limits` count what moved, `tested` the limits
        that the runs on both sides hold (of drift its first and its last run); `slower` counts the points that moved
        up; `ratio` is the geometric mean over the points (over the limits when only these moved), `low` and `high` the
        least and the most; `what` stepped: `MACHINE` when limits did as well, `MECHANISM` when they did not, else
        `UNKNOWN`; `changed`: what differs between the two sides, see `beside`.
        """
        kinds = ((STEP, self.found.steps), (ALONE, self.found.alone), (DRIFT, self.found.drifts))
        rows = [
            (kind, at, self.runs[at].about["begun"], *self._event(kind, at, moved))
            for kind, told in kinds
            for at, moved in told.items()
        ]
        return pd.DataFrame(rows, columns=list(COLUMNS)).sort_values(["run", "kind"], ignore_index=True)

    def _event(self, kind: str, at: int, moved: Shifts) -> tuple[Any, ...]:
        """Return the columns of an event from `what` on."""
        sides = at - 1, at
        if kind == DRIFT:
            sides = at, min((step for step in self.found.steps if step > at), default=len(self.runs)) - 1
        limit = self.points.study == LIMITS
        limits, points = (
            [shift for each, shift in moved.items() if limit[each] == is_limit] for is_limit in (True, False)
        )
        first, last = (set(self.values.number[self.values.run == number]) for number in sides)
        tested = sum(limit[each] for each in first & last)
        what = MACHINE if limits else MECHANISM if tested else UNKNOWN
        ratios = np.exp(points or limits)
        ends = float(np.exp(np.log(ratios).mean())), float(ratios.min()), float(ratios.max())
        changed = beside(*(self.runs[number] for number in sides))
        return what, len(points), sum(shift > 0 for shift in points), len(limits), tested, *ends, changed


def beside(before: Held, after: Held) -> list[tuple[str, str, str]]:
    """Return what differs between two runs: a name (msgid or as it is), and what it was before and after.

    Facts that affect results, versions of packages, the profile, and the load when they began.
    """
    rows = differences([before, after])
    rows = rows[~rows.same.astype(bool) & ~rows.name.isin(AWAY)] if len(rows) else rows
    found = [(str(row["fact"]), str(row["A"]), str(row["B"])) for row in rows.to_dict("records")]
    one, two = ((run.about["machine"]["facts"].get("packages") or {}) for run in (before, after))
    known = {name for name, *_ in found}
    differ = {name for name, _ in one.items() ^ two.items() if f"{name} version" not in known}
    found += [(name, str(one.get(name, "–")), str(two.get(name, "–"))) for name in sorted(differ)]
    profiles = [str(run.about["parameters"]["profile"]) for run in (before, after)]
    found += [("Profile", profiles[0], profiles[1])] if profiles[0] != profiles[1] else []
    sessions = [(run.about.get("sessions") or [{}])[0] for run in (before, after)]
    loads: list[Any] = [(session.get("conditions") or {}).get("load_1") for session in sessions]
    if None not in loads and abs(loads[1] - loads[0]) >= LOAD:
        found.append(("Load, over a minute", f"{loads[0]:.1f}", f"{loads[1]:.1f}"))
    return found


def listed(found: History, accepted: Mapping[str, str]) -> pd.DataFrame:
    """Return the events for a CSV file: runs by name, changes as text, and why the step of a run was `accepted`."""
    events, names = found.events(), [run.id for run in found.runs]
    changed = [APART.join(f"{name}: {old} -> {new}" for name, old, new in each) for each in events.changed]
    runs = [names[at] for at in events.run]
    return events.assign(run=runs, changed=changed, accepted=[accepted.get(run, "") for run in runs])


def lines(found: History, rows: pd.DataFrame) -> list[str]:
    """Return what is told on a terminal: a line for each event in `rows`, and one for what could be judged."""
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


def _refused(rows: Sequence[Mapping[Any, Any]], runs: int) -> str:
    if len(rows) < 2:  # noqa: PLR2004
        return ONE_RUN
    if len({row["relation"] for row in rows}) > 1:
        return MOVED
    if not all(np.isfinite(value) and value > 0 for row in rows for value in row["medians"]):
        return NO_TIME
    counts = [len(row["medians"]) for row in rows]
    least = min(least_p(sum(counts[:at]), sum(counts[at:])) for at in range(1, len(counts)))
    return FEW if least * (len(counts) - 1) > RUNS_ALPHA else ""
