"""Who of several is first: the fastest, and the cheapest in CPU time."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from ipclab.errors import LabError
from ipclab.frames.ratios import Ratios
from ipclab.frames.rows import quantity
from ipclab.lab import sides
from ipclab.lab.data import Data
from ipclab.lab.finding import ALIKE, FEW, LIMIT, MORE, STATE, Finding, missing, plain, verdict
from ipclab.stats.quantity import Quantity

FEWEST = 2  # rows, groups or ways that can be compared
CONTEST = ["question", "among", "placement", "size_bytes", "race"]


class Ranked(Data):
    """Data of which rows are ranked, by the run's contests or pair by pair."""

    def fastest(self, rows: pd.DataFrame) -> Finding:
        """Return the fastest of rows that the run measured side by side, and the next; or why none.

        Of one row it is its value. Who is not told apart from the fastest is named; a fastest whose
        slower state is not the fastest is none, and neither is what may be the fastest and beats the
        hardware's limit.

        >>> lab.fastest(trips[(trips.placement == "cross") & (trips.wait == "block")])
        """
        rows = rows[rows.value.notna()]
        if len(rows) < FEWEST:
            return self._single(rows)
        _check_one_each(rows)
        contest = self._contest(rows)
        if contest is None:
            contest = self._pairs(rows.sort_values("value", kind="stable"))
        by_point = {point: rows[rows.point == point] for point in rows.point}
        first = by_point[contest.point.iloc[0]].iloc[0]
        doubts = [
            shaken(first, value) if word == "slower" else ""
            for word, value in zip(contest.verdict, contest.value, strict=True)
        ]
        contest = contest.assign(doubt=doubts)
        slower = contest[(contest.verdict == "slower") & (contest.doubt == "")]
        unsteady = contest[contest.doubt != ""]
        decided = "clear" if len(slower) == len(contest) else "tied"
        if len(unsteady):
            decided = unsteady.doubt.iloc[0]
        elif (contest.verdict == "not tested").all():
            decided = FEW
        named = [first.point, *unsteady.other_point, *_tied(contest).other_point]
        beating = [point for point in named if _beats(by_point[point].iloc[0])]
        if beating and decided != FEW:
            decided = LIMIT
            named = [*beating, *(point for point in named if point not in beating)]
        found = self._ranked("fastest", decided, rows, contest, slower, named)
        states = {
            "fast": [float(first.get("fast", first.value)), "ns"],
            "slow": [float(first.get("slow", first.value)), "ns"],
            "busy": bool(first.get("busy", False)),
        }
        topic = {**found.topic, **self._spared(rows)}
        return replace(found, topic=topic, values={**found.values, **states})

    def cheapest(self, rows: pd.DataFrame) -> Finding:
        """Return which of rows of CPU time (`cpu_ns`) costs least, and the next, told pair by pair.

        Of one row it is its value. Who is not told apart from the first is named.

        >>> lab.cheapest(lab.points(op="round-trip", metric="cpu_ns", placement="cross", arm="main"))
        """
        rows = rows[rows.value.notna()].sort_values("value", kind="stable")
        if len(rows) < FEWEST:
            return self._single(rows, "cpu")
        _check_one_each(rows)
        pairs = self._pairs(rows)
        dearer = pairs[pairs.verdict == "slower"]
        decided = "clear" if len(dearer) == len(pairs) else "tied"
        if (pairs.verdict == "not tested").all():
            decided = FEW
        named = [pairs.point.iloc[0], *_tied(pairs).other_point]
        return self._ranked("cheapest", decided, rows, pairs, dearer, named, "cpu")

    def _ranked(
        self,
        kind: str,
        decided: str,
        rows: pd.DataFrame,
        contest: pd.DataFrame,
        slower: pd.DataFrame,
        named: Sequence[str],
        measure: str = "time",
    ) -> Finding:
        """Return the points `named` of a contest, its best first, and who is next of the slower."""
        by_point = {point: rows[rows.point == point] for point in rows.point}
        parted = self._parted([*by_point.values()], unsaid(measure))
        name_of: dict[Any, Any] = dict(zip(by_point, parted.sides, strict=True))
        best = by_point[contest.point.iloc[0]]
        values: dict[str, Any] = {
            "best": plain(self._of_row(by_point[named[0]])),
            "all": len(rows),
            "slower": len(slower),
            "as_good": _as_good(contest),
        }
        if len(slower):
            second = slower.sort_values("ratio", kind="stable").iloc[0]
            ratio = self._of_row(by_point[second.other_point]) / self._of_row(best)
            values |= {"next": name_of[second.other_point], "ratio": plain(ratio)}
        tied = _tied(contest)
        if len(tied) and tied.high.notna().all():
            most = Quantity(
                float(tied.ratio.max()), "1", float(tied.low.min()), float(tied.high.max())
            )
            values["within"] = plain(most)
        sides_named = [name_of[point] for point in named]
        rests = [*contest.point[:1], *contest.other_point]
        return Finding(kind, decided, measure, parted.topic, sides_named, values, rests)

    def _spared(self, rows: pd.DataFrame) -> dict[str, Any]:
        """Return that mechanisms keep no CPU busy, where others of the study do and none is told."""
        study = self.points(str(rows.study.iloc[0]))
        others = study.busy if "busy" in study and "wait" not in study else pd.Series(dtype=bool)
        return {"busy": False} if others.any() and not rows.busy.any() else {}

    def _pairs(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return what rows (ascending) are of the first of them, as a contest has it."""
        first, *others = (rows[place : place + 1] for place in range(len(rows)))
        found = []
        for other in others:
            ratio = self._of_row(other) / self._of_row(first)
            low, high = ratio.ends if ratio else (float("nan"), float("nan"))
            known = {ALIKE: "same", MORE: "slower", FEW: "not tested"}
            word = known.get(verdict(ratio, self.run.questions.same), "undecided")
            value, place = float(other.value.iloc[0]), other.point.iloc[0]
            found.append([first.point.iloc[0], place, value, ratio.value, low, high, word])
        names = ["point", "other_point", "value", "ratio", "low", "high", "verdict"]
        return pd.DataFrame(found, columns=names)

    def _contest(self, rows: pd.DataFrame) -> pd.DataFrame | None:
        """Return the run's contest of these points: of several the smallest that holds them.

        Contests are of medians; of another metric there is none.
        """
        if "metric" in rows and (rows.metric != "p50").any():
            return None
        study, op = str(rows.study.iloc[0]), rows.op.iloc[0]
        mine = {*rows.point}
        every = self.contests(study, op=op) if "op" in rows else self.contests(study)
        every = every[every.other != ""]
        best: tuple[int, pd.DataFrame] | None = None
        for _, contest in every.groupby(CONTEST, sort=False, dropna=False):
            theirs = {contest.point.iloc[0], *contest.other_point}
            inside = contest[contest.other_point.isin(mine)]
            if contest.point.iloc[0] not in mine or len(inside) != len(mine) - 1:
                continue
            if best is None or len(theirs) < best[0]:
                best = len(theirs), inside.sort_values("value", kind="stable")
        return None if best is None else best[1]

    def _single(self, rows: pd.DataFrame, measure: str = "time") -> Finding:
        """Return the value of one row; `missing` of none."""
        if len(rows) != 1 or not (value := self._of_row(rows)):
            return missing("value", measure)
        parted = self._parted([rows], unsaid(measure))
        return Finding(
            "value", "told", measure, parted.topic, [], {"value": plain(value)}, value.sources
        )

    def _of_row(self, rows: pd.DataFrame) -> Quantity:
        """Return the value of one row: its `cell`, where it has one, as what was computed."""
        row = next(rows.itertuples())
        cell = getattr(row, "cell", None)
        return cell if isinstance(cell, Quantity) else quantity(row, Ratios(self.run))

    def _parted(self, parts: Sequence[pd.DataFrame], without: Sequence[str] = ()) -> sides.Parted:
        study = str(parts[0].study.iloc[0])
        factors = self.run.questions.of(study).levels
        return sides.parted(parts, self.points(study), factors, without)


def unsaid(measure: str) -> list[str]:
    """Return the columns that a measure's own words tell."""
    return [] if measure == "time" else ["metric"]


def _check_one_each(rows: pd.DataFrame) -> None:
    """Raise `LabError` where two rows are of one mechanism."""
    if rows[[name for name in sides.NAMERS if name in rows]].duplicated().any():
        raise LabError("several rows share a mechanism", "one is compared", "narrow the rows")


def _tied(contest: pd.DataFrame) -> pd.DataFrame:
    """Return who is not told apart from the first."""
    return contest[contest.verdict.isin(["undecided", "same", "not tested"])]


def _as_good(contest: pd.DataFrame) -> int:
    """Return how many are as good as the first: those before one that is slower, by their values."""
    worse = (contest.verdict == "slower").to_numpy()
    return int(worse.argmax()) if worse.any() else len(contest)


def _beats(row: Any) -> bool:
    """Tell whether a row takes less time than its limit."""
    return LIMIT in str(row.get("why", "")).split()


def shaken(quick: Any, slow: float) -> str:
    """Return why a faster row is not one for certain: it beats its limit, or wins in one state."""
    if _beats(quick):
        return LIMIT
    slower = quick.get("slow")
    return STATE if slower is not None and float(slower) > float(slow) else ""
