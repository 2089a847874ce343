"""Every point of two runs: its ratio, its verdict, and what is left over the machines' limits.

Two runs were measured apart: `compare_runs` compares their launches. A point without its equal is
set beside the nearest of the same study, mechanism and op that has none either; the levels that
differ are then the reason.
"""

from collections.abc import Iterator, Sequence
from string import ascii_uppercase
from typing import Any

import numpy as np
import pandas as pd

from ipclab.errors import LabError
from ipclab.frames.run_table import HEAD, Row, levels_as_text
from ipclab.report.compare import FAIL_ON, LIMITS
from ipclab.report.compare.held import BOUNDS, ComparedRun
from ipclab.report.compare.unpaired import compare_runs
from ipclab.stats import judge
from ipclab.stats.compare import (
    EQUIVALENCE,
    FASTER,
    NOT_COMPARABLE,
    NOT_TESTED,
    SAME,
    SLOWER,
    UNDECIDED,
    Comparison,
    Side,
)
from ipclab.stats.quantity import FEW_SAMPLES, Quantity, missing

VERDICTS = (FASTER, SLOWER, SAME, UNDECIDED, NOT_TESTED, NOT_COMPARABLE)
KEY = ["study", "point", "op"]
ONLY_FIRST, ONLY_SECOND = "only-first", "only-second"
BETTER, WORSE, ALIKE = "better used", "worse used", "used alike"
USES = {
    judge.BELOW: BETTER,
    judge.ABOVE: WORSE,
    judge.INSIDE: ALIKE,
    judge.UNDECIDED: UNDECIDED,
    judge.NOT_TESTED: NOT_TESTED,
}
FAILING = {  # what fails on a word of `FAIL_ON` that is no verdict
    "undecided": [UNDECIDED, NOT_TESTED],
    "missing": [ONLY_FIRST, ONLY_SECOND],
}
KNOWN = ("verdict", "reason", "ratio", "low", "high", "detectable", "launches")
USE = ("limit", "use", "use_low", "use_high", "used")
APART = (
    "runs share no rounds: less than two sessions' luck (here taken as 5 %) is not shown; ipclab ab"
    " interleaves"
)
COLUMNS = ("pair", "first", "second", *HEAD, *KNOWN, *USE)


def run_names(runs: Sequence[ComparedRun]) -> list[str]:
    """Return what each run is called here: A, B, ... and after Z by number."""
    numbered = [f"R{number}" for number in range(1, len(runs) + 1)]
    return [*ascii_uppercase, *numbered[26:]][: len(runs)]


def run_pairs(runs: Sequence[ComparedRun]) -> list[tuple[str, ComparedRun, ComparedRun]]:
    """Return the first run with each other one, and what the two are called together."""
    first, *others = run_names(runs)
    return [(f"{first} → {name}", runs[0], run) for name, run in zip(others, runs[1:], strict=True)]


def shared_points(runs: Sequence[ComparedRun]) -> pd.DataFrame:
    """Return one row for each op of each point of two runs, with the columns `COLUMNS`.

    `verdict` is of the later run over the first (`VERDICTS`, corrected for all points of the two),
    `ratio` of the times with its 95 % interval, `limit` the ratio of the limits, `use` that of the
    times over their limits, `used` its verdict. A point that one run alone holds has the verdict
    `ONLY_FIRST` or `ONLY_SECOND` and the other run's reason.
    """
    rows = []
    for pair, first, other in run_pairs(runs):
        named = {"pair": pair, "first": first.id, "second": other.id}
        rows += [named | row for row in _rows(first, other)]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    return frame.sort_values(["pair", *KEY], kind="stable", ignore_index=True)


def points_listed(compared: pd.DataFrame) -> pd.DataFrame:
    """Return `shared_points` with levels and launches as text, for a CSV file."""

    def both(launches: Any) -> str:
        return "/".join(map(str, launches)) if isinstance(launches, tuple) else ""

    levels = compared.levels.map(levels_as_text)
    return compared.assign(levels=levels, launches=compared.launches.map(both))


def pair_lines(compared: pd.DataFrame) -> list[str]:
    """Return a line for each pair of runs: how many points have each verdict, no limits."""
    lines = []
    others = compared[compared.study != LIMITS]
    for (second, first), part in others.groupby(["second", "first"], sort=False):
        counts = ", ".join(f"{(part.verdict == verdict).sum()} {verdict}" for verdict in VERDICTS)
        alone = (~part.verdict.isin(VERDICTS)).sum()
        lines.append(f"{second} over {first}: {counts}; {alone} in one of them only")
    return lines


def failing(compared: pd.DataFrame, word: str) -> pd.DataFrame:
    """Return the rows of `shared_points` that fail on a word of `FAIL_ON`.

    `missing` are points of one run only, `limits` those of the limits that differ: then the machine
    changed. The other words are verdicts of all other points; `undecided` holds those that were not
    tested, too.
    """
    if word == LIMITS:
        return compared[(compared.study == LIMITS) & compared.verdict.isin([FASTER, SLOWER])]
    verdicts = FAILING.get(word, [word])
    return compared[(compared.study != LIMITS) & compared.verdict.isin(verdicts)]


def fail(compared: pd.DataFrame, on: Sequence[str]) -> None:
    """Raise `LabError` for rows of `shared_points` that one of the words `on` fails, if any.

    Its exit code is that of the first such word of `FAIL_ON`.
    """
    for word in sorted(on, key=FAIL_ON.__getitem__):
        if len(rows := failing(compared, word)):
            first = rows.iloc[0]
            why = f"first {first.study} {first.point} {first.op} of {first.second}"
            error = LabError(f"{len(rows)} points fail on {word!r}", why, "see the table")
            error.exit_code = FAIL_ON[word]
            raise error


def mean_ratio(points: pd.DataFrame) -> Quantity:
    """Return the geometric mean of ratios, and of their ends: one session may shift all of them."""
    known = points[["ratio", "low", "high"]].dropna().astype(float)
    if known.empty:
        return missing("1")
    means = np.exp(np.log(known).mean())
    return Quantity(float(means.ratio), "1", float(means.low), float(means.high))


def _rows(first: ComparedRun, other: ComparedRun) -> Iterator[Row]:
    both = first.points.merge(other.points, on=KEY, suffixes=("", "_other")).to_dict("records")
    sides = [(_side(row), _side(row, "_other")) for row in both]
    comparisons = compare_runs(sides, [(row["study"], row["placement"]) for row in both])
    for row, comparison in zip(both, comparisons, strict=True):
        judged = row | vars(comparison)
        if not (row["medians"] and row["medians_other"]):
            judged["reason"] = FEW_SAMPLES
        yield judged | _use(row, comparison)
    left = _only_in(first, other)
    right = _only_in(other, first)
    yield from _nearest(left, right)
    for rows, verdict, lacking in ((left, ONLY_FIRST, other), (right, ONLY_SECOND, first)):
        for row in rows:
            yield row | {"verdict": verdict, "reason": _why(row["point"], lacking)}


def _only_in(run: ComparedRun, other: ComparedRun) -> list[Row]:
    theirs = other.points.set_index(KEY).index
    points = run.points.set_index(KEY, drop=False).sort_index()
    return points[~points.index.isin(theirs)].to_dict("records")


def _side(row: Row, which: str = "") -> Side:
    return Side(row[f"medians{which}"], {"relation": row[f"relation{which}"]})


def _use(row: Row, comparison: Comparison) -> Row:
    """Return the ratio of the limits and what it leaves of the ratio of times, or nothing."""
    times = comparison.ratio, comparison.low, comparison.high
    if comparison.reason == "no-variance":  # all launches agree to the tick of the clock
        times = (comparison.ratio,) * 3
    mine = [row[name] for name in BOUNDS]
    theirs = [row[f"{name}_other"] for name in BOUNDS]
    if pd.isna([*mine, *theirs]).any() or None in times:
        return {}
    first, second = (Quantity(bound, "ns", low, high) for bound, low, high in (mine, theirs))
    ratio, low, high = times
    limit = second / first
    use = Quantity(ratio, "1", low, high) / limit
    most = 1 + EQUIVALENCE
    used = USES[judge.within(use, 1 / most, most)]
    return dict(zip(USE, (limit.value, use.value, *use.ends, used), strict=True))


def _nearest(left: list[Row], right: list[Row]) -> Iterator[Row]:
    """Yield each row of `left` beside the nearest of `right` by levels; both are taken out."""
    for one in list(left):
        rivals = []
        for place, other in enumerate(right):
            if differ := _differing(one, other):
                rivals.append((len(differ), differ, other["point"], place))
        if rivals:
            _, differ, _, place = min(rivals)
            launches = len(one["medians"]), len(right[place]["medians"])
            reason = f"differs:{','.join(differ)}"
            yield one | {"verdict": NOT_COMPARABLE, "reason": reason, "launches": launches}
            left.remove(one)
            del right[place]


def _differing(one: Row, other: Row) -> list[str]:
    """Return the names of differing levels; none for other studies, mechanisms or ops."""
    if any(one[name] != other[name] for name in ("study", "backend", "op")):
        return []
    mine, theirs = (
        {**row["levels"], "size_bytes": row["size_bytes"], "placement": row["placement"]}
        for row in (one, other)
    )
    return sorted(name for name in mine | theirs if mine.get(name) != theirs.get(name))


def _why(point: str, other: ComparedRun) -> str:
    if point in other.about["failures"]:
        return "failed"
    return "not-testable" if point in other.about.get("points", {}) else "not-measured"
