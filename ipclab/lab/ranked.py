"""Who of several is first: the fastest, and the cheapest in CPU time."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ipclab.errors import LabError
from ipclab.frames.contests import CONTEST
from ipclab.frames.ratios import Ratios
from ipclab.frames.rows import quantity
from ipclab.lab import sides
from ipclab.lab.data import Data
from ipclab.lab.finding import ALIKE, FEW, LIMIT, MORE, STATE, Finding, not_measured, verdict
from ipclab.stats.quantity import Quantity
from ipclab.words.amounts import as_data

FEWEST = 2  # rows, groups or ways that can be compared
TIED = ("undecided", "same", "not tested")  # verdicts of who is not told apart from the first
CONTEST_OF_OP = [name for name in CONTEST if name != "op"]


class Ranked(Data):
    """Data of which rows are ranked, by the run's contests or pair by pair."""

    def fastest(self, rows: pd.DataFrame) -> Finding:
        """Return the fastest of rows that the run measured side by side, and the next; or why none.

        Of one row it is its value. Who is not told apart from the fastest is named; a fastest whose
        slower state is not the fastest is none, and neither is what may be the fastest and beats the
        hardware's limit.

        >>> lab.fastest(trips[(trips.placement == "cross") & (trips.wait == "block")])
        """
        return self._first("fastest", rows, "time")

    def cheapest(self, rows: pd.DataFrame) -> Finding:
        """Return which of rows of CPU time (`cpu_ns`) costs least, and the next, told pair by pair.

        Of one row it is its value. Who is not told apart from the first is named.

        >>> lab.cheapest(lab.points(op="round-trip", metric="cpu_ns", placement="cross", arm="main"))
        """
        return self._first("cheapest", rows, "cpu")

    def _first(self, kind: str, rows: pd.DataFrame, measure: str) -> Finding:
        """Return who is first of rows; only of times are states and limits a doubt."""
        timed = measure == "time"
        rows = rows[rows.value.notna()].sort_values("value", kind="stable")
        if len(rows) < FEWEST:
            return self._single(rows, measure)
        if rows[[name for name in sides.NAMERS if name in rows]].duplicated().any():
            raise LabError("several rows share a mechanism", "one is compared", "narrow the rows")
        contest = self._contest(rows) if timed else None
        if contest is None:
            contest = self._pairs(rows)
        by_point = {point: rows[rows.point == point] for point in rows.point}
        best = by_point[contest.point.iloc[0]]
        first = best.iloc[0]
        contest = contest.assign(doubt=_doubts(first, contest) if timed else "")
        decided, named = _told(contest)
        beating = [point for point in named if timed and _beats(by_point[point].iloc[0])]
        if beating and decided != FEW:
            decided = LIMIT
            named = [*beating, *(point for point in named if point not in beating)]
        topic, levels = self._parted([*by_point.values()], unsaid(measure))
        name_of: dict[Any, Any] = dict(zip(by_point, levels, strict=True))
        values = {"best": as_data(self._of_row(by_point[named[0]])), "all": len(rows)}
        values |= _counts(contest)
        if values["slower"]:
            second = _next(contest)
            ratio = self._of_row(by_point[second]) / self._of_row(best)
            values |= {"next": name_of[second], "ratio": as_data(ratio)}
        values |= _within(contest)
        if timed:
            for state in ("fast", "slow"):
                values[state] = [float(first.get(state, first.value)), "ns"]
            values["busy"] = bool(first.get("busy", False))
            topic |= self._spared(rows)
        named_levels = [name_of[point] for point in named]
        rests = [*contest.point[:1], *contest.other_point]
        return Finding(kind, decided, measure, topic, named_levels, values, rests)

    def _spared(self, rows: pd.DataFrame) -> dict[str, Any]:
        """Return that mechanisms keep no CPU busy, where others of the study do and none is told."""
        study = self.points(str(rows.study.iloc[0]))
        others = study.busy if "busy" in study and "wait" not in study else pd.Series(dtype=bool)
        return {"busy": False} if others.any() and not rows.busy.any() else {}

    def _pairs(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return what rows (ascending) are of the first of them, as a contest has it."""
        known = {ALIKE: "same", MORE: "slower", FEW: "not tested"}
        found = []
        for place in range(1, len(rows)):
            other = rows[place : place + 1]
            ratio = self._of_row(other) / self._of_row(rows[:1])
            low, high = ratio.ends if ratio else (float("nan"), float("nan"))
            found.append(
                {
                    "point": rows.point.iloc[0],
                    "other_point": other.point.iloc[0],
                    "value": float(other.value.iloc[0]),
                    "ratio": ratio.value,
                    "low": low,
                    "high": high,
                    "verdict": known.get(verdict(ratio, self.run.questions.same), "undecided"),
                }
            )
        return pd.DataFrame(found)

    def _contest(self, rows: pd.DataFrame) -> pd.DataFrame | None:
        """Return the run's contest of these points: of several the smallest that holds them.

        Contests are of medians; of another metric there is none.
        """
        if "metric" in rows and (rows.metric != "p50").any():
            return None
        mine = {*rows.point}
        every = self.contests(str(rows.study.iloc[0]), op=rows.op.iloc[0])
        every = every[every.other != ""]
        inside = []
        for _, contest in every.groupby(CONTEST_OF_OP, sort=False, dropna=False):
            first = contest.point.iloc[0]
            rivals = contest[contest.other_point.isin(mine)]
            if first in mine and len(rivals) == len(mine) - 1:
                inside.append((len({first, *contest.other_point}), rivals))
        if not inside:
            return None
        _, smallest = min(inside, key=lambda each: each[0])
        return smallest.sort_values("value", kind="stable")

    def _single(self, rows: pd.DataFrame, measure: str = "time") -> Finding:
        """Return the value of one row; `not_measured` of none."""
        if len(rows) != 1 or not (value := self._of_row(rows)):
            return not_measured("value", measure)
        topic, _ = self._parted([rows], unsaid(measure))
        told = {"value": as_data(value)}
        return Finding("value", "told", measure, topic, [], told, value.sources)

    def _of_row(self, rows: pd.DataFrame) -> Quantity:
        """Return the value of one row: its `cell`, where it has one, as what was computed."""
        row = next(rows.itertuples())
        cell = getattr(row, "cell", None)
        return cell if isinstance(cell, Quantity) else quantity(row, Ratios(self.run))

    def _parted(
        self, parts: Sequence[pd.DataFrame], without: Sequence[str] = ()
    ) -> tuple[sides.Levels, list[sides.Levels]]:
        """Return what parts share and what tells them apart: topic and sides."""
        study = str(parts[0].study.iloc[0])
        factors = self.run.questions.of(study).levels
        return sides.parted(parts, self.points(study), factors, without)


def _doubts(first: Any, contest: pd.DataFrame) -> pd.Series:
    """Return why each slower one of a contest is not slower for certain; empty for the others."""
    doubt = contest.value.map(lambda value: shaken(first, value))
    return doubt.where(contest.verdict == "slower", "")


def _slower(contest: pd.DataFrame) -> pd.Series:
    return (contest.verdict == "slower") & (contest.doubt == "")


def _told(contest: pd.DataFrame) -> tuple[str, list[Any]]:
    """Return the verdict of a contest, and the points it names: the first, and who may be as good."""
    doubted = contest[contest.doubt != ""]
    tied = contest[contest.verdict.isin(TIED)]
    named = [contest.point.iloc[0], *doubted.other_point, *tied.other_point]
    if len(doubted):
        return doubted.doubt.iloc[0], named
    if (contest.verdict == "not tested").all():
        return FEW, named
    return "clear" if _slower(contest).all() else "tied", named


def _counts(contest: pd.DataFrame) -> dict[str, Any]:
    """Return how many are slower, and how many come before one that is, by their values."""
    is_slower = contest.verdict == "slower"
    as_good = int(is_slower.to_numpy().argmax()) if is_slower.any() else len(contest)
    return {"slower": int(_slower(contest).sum()), "as_good": as_good}


def _within(contest: pd.DataFrame) -> dict[str, Any]:
    """Return within what ratio those are that are not told apart, if each has an interval."""
    tied = contest[contest.verdict.isin(TIED)]
    if tied.empty or tied.high.isna().any():
        return {}
    ends = float(tied.low.min()), float(tied.high.max())
    return {"within": as_data(Quantity(float(tied.ratio.max()), "1", *ends))}


def _next(contest: pd.DataFrame) -> Any:
    """Return the point of the slower one that takes least."""
    return contest[_slower(contest)].sort_values("ratio", kind="stable").other_point.iloc[0]


def unsaid(measure: str) -> list[str]:
    """Return the columns that a measure's own words tell."""
    return [] if measure == "time" else ["metric"]


def _beats(row: Any) -> bool:
    """Tell whether a row takes less time than its limit."""
    return LIMIT in str(row.get("why", "")).split()


def shaken(quick: Any, slow: float) -> str:
    """Return why a faster row is not one for certain: it beats its limit, or wins in one state."""
    if _beats(quick):
        return LIMIT
    slower = quick.get("slow")
    return STATE if slower is not None and float(slower) > float(slow) else ""
