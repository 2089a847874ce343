"""The kinds of findings, built from rows of one lab's frames."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from ipclab.errors import LabError, UsageError
from ipclab.frames.ratios import Ratios
from ipclab.frames.rows import quantity
from ipclab.lab import sides
from ipclab.lab.data import Data
from ipclab.lab.finding import (
    ALIKE,
    FEW,
    LESS,
    LIMIT,
    MORE,
    OPEN,
    STATE,
    Finding,
    missing,
    plain,
    verdict,
)
from ipclab.stats.quantity import Quantity
from ipclab.words import phrases

BACKEND = ("backend",)
FEWEST = 2  # rows, groups or ways that can be compared
CONTEST = ["question", "among", "placement", "size_bytes", "race"]


class Kinds(Data):
    """What of a run is a finding, from rows of `points`."""

    def compare(self, a: pd.DataFrame, b: pd.DataFrame, measure: str = "time") -> Finding:
        """Return which of two rows takes less, by what factor.

        `a`, `b`: frames of one row each that differ in one thing; `measure` is time, rate,
        bandwidth, cpu, age or memory. Raises `UsageError` for sides that differ in more.

        >>> lab.compare(trips[trips.backend == "tcp"], trips[trips.backend == "unix"])
        """
        if not (len(a) == len(b) == 1):
            return self._not_one("compare", measure, a, b)
        if "row" in a and a.row.iloc[0] == b.row.iloc[0]:
            return missing("compare", measure, "one row, which is compared with itself")
        one, other = self._of_row(a), self._of_row(b)
        if not (one and other):
            return missing("compare", measure)
        parted = self._parted([a, b], _unsaid(measure))
        ratio = one / other
        decided = verdict(ratio, self.run.questions.same)
        values: dict[str, Any] = {"a": plain(one), "b": plain(other), "ratio": plain(ratio)}
        if decided in (LESS, MORE) and measure == "time":
            quick, slow = (a, b) if decided == LESS else (b, a)
            decided = _shaken(quick.iloc[0], slow.value.iloc[0]) or decided
            values["quick"] = 0 if quick is a else 1
        rests = [*one.sources, *other.sources]
        return Finding("compare", decided, measure, parted.topic, parted.sides, values, rests)

    def effect(
        self,
        after: pd.DataFrame,
        before: pd.DataFrame,
        on: Sequence[str] = BACKEND,
        measure: str = "time",
    ) -> Finding:
        """Return what `after` changes over `before`, row by row with the same levels of `on`.

        Growth over a factor is that of its largest level over its smallest. Of one row it is
        `compare`. Raises `LabError` for two rows of one level, `UsageError` for sides that differ
        in more than one thing.

        >>> lab.effect(trips[trips.placement == "cross"], trips[trips.placement == "same"])
        """
        rows = self._over(after, before, list(on))
        if rows.empty:
            return missing("effect", measure)
        kept = [_those(part, rows, list(on)) for part in (after, before)]
        if len(rows) == 1:
            return self.compare(kept[0], kept[1], measure)
        parted = self._parted(kept, [*on, *_unsaid(measure)])
        rows = rows.assign(verdict=[self._changed(row, measure) for row in rows.to_dict("records")])
        counts = {
            each: int((rows.verdict == each).sum()) for each in (MORE, LESS, ALIKE, FEW, STATE)
        }
        by = "backend" if tuple(on) == BACKEND else ""
        values: dict[str, Any] = {"all": len(rows), "by": by, "same": self.run.questions.same}
        values |= counts
        for way, least, most in ((MORE, 0, -1), (LESS, -1, 0)):  # rows are ascending
            found = rows[rows.verdict == way].to_dict("records")
            for name, place in (("least", least), ("most", most)) if found else ():
                levels = {key: found[place][key] for key in on}
                values[f"{way}_{name}"] = [levels, plain(found[place]["cell"])]
        decided = together(counts, len(rows))
        if decided in (LESS, f"all-{LESS}") and _more_is_better(measure):
            return self.effect(before, after, on, measure)  # told of who has more
        rests = [source for cell in rows.cell for source in cell.sources]
        return Finding("effect", decided, measure, parted.topic, parted.sides, values, rests)

    def growth(
        self, rows: pd.DataFrame, x: str, on: Sequence[str] = BACKEND, measure: str = "time"
    ) -> Finding:
        """Return what the largest level of `x` changes over the smallest: an `effect`.

        >>> lab.growth(trips[trips.placement == "cross"], "size_bytes")
        """
        largest, smallest = (rows[rows[x] == end] for end in (rows[x].max(), rows[x].min()))
        return self.effect(largest, smallest, on, measure)

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
        shaken = [
            _shaken(first, value) if word == "slower" else ""
            for word, value in zip(contest.verdict, contest.value, strict=True)
        ]
        contest = contest.assign(shaken=shaken)
        slower = contest[(contest.verdict == "slower") & (contest.shaken == "")]
        unsteady = contest[contest.shaken != ""]
        decided = "clear" if len(slower) == len(contest) else "tied"
        if len(unsteady):
            decided = unsteady.shaken.iloc[0]
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
        parted = self._parted([*by_point.values()], _unsaid(measure))
        name_of: dict[Any, Any] = dict(zip(by_point, parted.sides, strict=True))
        best = by_point[contest.point.iloc[0]]
        values: dict[str, Any] = {
            "best": plain(self._of_row(by_point[named[0]])),
            "all": len(rows),
            "slower": len(slower),
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

    def spread(self, rows: pd.DataFrame, measure: str = "time") -> Finding:
        """Return the least and the most of rows, each with its name; of one row its value."""
        rows = rows[rows.value.notna()].sort_values("value", kind="stable")
        if len(rows) < FEWEST:
            return self._single(rows, measure)
        parted = self._parted([rows[:1], rows[-1:]], _unsaid(measure))
        ends = zip(("least", "most"), parted.sides, (rows[:1], rows[-1:]), strict=True)
        values: dict[str, Any] = {}
        for name, side, row in ends:
            values[name] = [side, plain(self._of_row(row))]
        return Finding("spread", "told", measure, parted.topic, [], values, [*rows.point])

    def reach(self, a: pd.DataFrame, b: pd.DataFrame, x: str, measure: str = "time") -> Finding:
        """Return up to which level of `x` (from its smallest on) an effect of `a` over `b` holds.

        >>> lab.reach(trips[trips.backend == "posix-shm"], trips[trips.backend == "unix"], "size_bytes")
        """
        levels = sorted({*a[x]} & {*b[x]})
        found = [
            (level, self.compare(a[a[x] == level], b[b[x] == level], measure)) for level in levels
        ]
        known = [(level, each) for level, each in found if each.verdict != "missing"]
        if len(known) < FEWEST:
            return known[0][1] if known else missing("reach", measure)
        (first, head), *_ = known
        topic = {name: level for name, level in head.topic.items() if name != x}
        values: dict[str, Any] = {"x": x, "way": head.verdict, "first": first}
        if head.verdict not in (MORE, LESS):
            return Finding("reach", OPEN, measure, topic, head.sides, values, head.rests)
        last, next_one = first, None
        for level, each in known[1:]:
            if each.verdict != head.verdict:
                next_one = level, each.verdict
                break
            last = level
        values |= {"last": last, "at_first": head.values["ratio"]}
        by_level = dict(known)
        values["at_last"] = by_level[last].values["ratio"]
        decided = "throughout"
        if next_one is not None:
            values |= {"next": next_one[0], "at_next": by_level[next_one[0]].values["ratio"]}
            decided = "turns" if next_one[1] in (MORE, LESS) else "ends"
        rests = [source for _, each in known for source in each.rests]
        return Finding("reach", decided, measure, topic, head.sides, values, rests)

    def best_of(self, rows: pd.DataFrame, by: str, measure: str = "time") -> Finding:
        """Return which of two groups of rows has the best, and by what factor over the other's best.

        It is decided only if the best of all is shown to be better than each of the other group.

        >>> lab.best_of(rates, "medium", "rate")  # shared memory or the kernel
        """
        ascending = not _more_is_better(measure)
        ranked = rows[rows.value.notna()].sort_values("value", ascending=ascending, kind="stable")
        if ranked[by].nunique() != FEWEST:
            return missing("compare", measure)
        first = ranked[:1]
        others = ranked[ranked[by] != first[by].iloc[0]]
        found = self.compare(first, others[:1], measure)
        for place in range(1, len(others)):
            ratio = self._of_row(first) / self._of_row(others[place : place + 1])
            word = verdict(ratio, self.run.questions.same)
            if found.decided and word not in (LESS, MORE):
                found = replace(found, verdict=OPEN)
        return found

    def _single(self, rows: pd.DataFrame, measure: str = "time") -> Finding:
        """Return the value of one row; `missing` of none."""
        if len(rows) != 1 or not (value := self._of_row(rows)):
            return missing("value", measure)
        parted = self._parted([rows], _unsaid(measure))
        return Finding(
            "value", "told", measure, parted.topic, [], {"value": plain(value)}, value.sources
        )

    def _not_one(self, kind: str, measure: str, *parts: pd.DataFrame) -> Finding:
        """Return that a side is missing; raise `LabError` for one of several rows."""
        for part in parts:
            if len(part) > 1:
                differ = [str(n) for n in part if n in phrases.LEVELS and part[n].nunique() > 1]
                why = f"they differ in {', '.join(differ)}"
                raise LabError(f"a side has {len(part)} rows", why, "narrow it to one")
        return missing(kind, measure)

    def _of_row(self, rows: pd.DataFrame) -> Quantity:
        """Return the value of one row: its `cell`, where it has one, as what was computed."""
        row = next(rows.itertuples())
        cell = getattr(row, "cell", None)
        return cell if isinstance(cell, Quantity) else quantity(row, Ratios(self.run))

    def _parted(self, parts: Sequence[pd.DataFrame], without: Sequence[str] = ()) -> sides.Parted:
        study = str(parts[0].study.iloc[0])
        factors = self.run.questions.of(study).levels
        return sides.parted(parts, self.points(study), factors, without)

    def _over(self, after: pd.DataFrame, before: pd.DataFrame, on: list[str]) -> pd.DataFrame:
        """Return the rows of `after` with their ratio to the row of `before` (`_under`), ascending."""
        if after.empty or before.empty:
            return after.iloc[:0]
        for part in (after, before):
            if part.duplicated(on).any():
                raise LabError(f"several rows share {', '.join(on)}", "", "choose one level")
        pairs = self.cells(after).merge(self.cells(before), on=on, suffixes=("", "_under"))
        if "row" in pairs:  # of a sweep of one level the largest is the smallest
            pairs = pairs[pairs.row != pairs.row_under]
        cells = [one / other for one, other in zip(pairs.cell, pairs.cell_under, strict=True)]
        pairs = pairs.assign(cell=pd.Series(cells, pairs.index, dtype=object))
        pairs = pairs[pairs.cell.map(bool).astype(bool)]
        if len(pairs):
            factors = sides.factors_of(
                after, self.run.questions.of(str(after.study.iloc[0])).levels
            )
            differ = sides.pairs_differ(pairs, factors, on)
            if len(differ) != 1:
                what = " and ".join(differ) or "nothing"
                raise UsageError(
                    f"paired rows differ in {what}", "an effect is of one thing", "narrow both"
                )
        order = pd.Series([float(cell.value) for cell in pairs.cell], pairs.index)
        return pairs.loc[order.sort_values(kind="stable").index]

    def _changed(self, row: dict[Any, Any], measure: str) -> str:
        """Return the verdict on one pair; a faster side must be so in its slower state, too."""
        decided = verdict(row["cell"], self.run.questions.same)
        if decided not in (LESS, MORE) or measure != "time":
            return decided
        quick, slow = ("", "_under") if decided == LESS else ("_under", "")
        known = {"slow": row.get(f"slow{quick}"), "why": row.get(f"why{quick}", "")}
        return STATE if _shaken(pd.Series(known), row[f"value{slow}"]) else decided

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


def _more_is_better(measure: str) -> bool:
    return bool(phrases.MEASURES[measure].get("better") == "more")


def _unsaid(measure: str) -> list[str]:
    """Return the columns that a measure's own words tell."""
    return [] if measure == "time" else ["metric"]


def _those(part: pd.DataFrame, rows: pd.DataFrame, on: list[str]) -> pd.DataFrame:
    """Return the rows of `part` that have the levels `on` of `rows`."""
    return part[pd.MultiIndex.from_frame(part[on]).isin(pd.MultiIndex.from_frame(rows[on]))]


def _check_one_each(rows: pd.DataFrame) -> None:
    """Raise `LabError` where two rows are of one mechanism."""
    if rows[[name for name in sides.NAMERS if name in rows]].duplicated().any():
        raise LabError("several rows share a mechanism", "one is compared", "narrow the rows")


def _tied(contest: pd.DataFrame) -> pd.DataFrame:
    """Return who is not told apart from the first."""
    return contest[contest.verdict.isin(["undecided", "same", "not tested"])]


def _beats(row: Any) -> bool:
    """Tell whether a row takes less time than its limit."""
    return LIMIT in str(row.get("why", "")).split()


def _shaken(quick: Any, slow: float) -> str:
    """Return why a faster row is not one for certain: it beats its limit, or wins in one state."""
    if _beats(quick):
        return LIMIT
    slower = quick.get("slow")
    return STATE if slower is not None and float(slower) > float(slow) else ""


def together(counts: dict[str, int], count: int) -> str:
    """Return the verdict on many pairs."""
    ways = [way for way in (MORE, LESS) if counts[way]]
    if len(ways) == FEWEST:
        return "both"
    if ways:
        return f"all-{ways[0]}" if counts[ways[0]] == count else ways[0]
    for each in (ALIKE, FEW, STATE):
        if counts[each] == count:
            return each
    return OPEN
