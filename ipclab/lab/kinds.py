"""The kinds of findings, built from rows of one lab's frames."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from ipclab.errors import LabError, UsageError
from ipclab.lab import sides
from ipclab.lab.finding import ALIKE, FEW, LESS, MORE, OPEN, STATE, Finding, missing, plain, verdict
from ipclab.lab.ranked import FEWEST, Ranked, shaken, unsaid
from ipclab.words import phrases

BACKEND = ("backend",)


class Kinds(Ranked):
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
        parted = self._parted([a, b], unsaid(measure))
        ratio = one / other
        decided = verdict(ratio, self.run.questions.same)
        values: dict[str, Any] = {"a": plain(one), "b": plain(other), "ratio": plain(ratio)}
        if decided in (LESS, MORE) and measure == "time":
            quick, slow = (a, b) if decided == LESS else (b, a)
            decided = shaken(quick.iloc[0], slow.value.iloc[0]) or decided
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

        Of one row it is `compare`. Raises `LabError` for two rows of one level, `UsageError` for sides that differ
        in more than one thing.

        >>> lab.effect(trips[trips.placement == "cross"], trips[trips.placement == "same"])
        """
        rows = self._over(after, before, list(on))
        if rows.empty:
            return missing("effect", measure)
        kept = [_those(part, rows, list(on)) for part in (after, before)]
        if len(rows) == 1:
            return self.compare(kept[0], kept[1], measure)
        parted = self._parted(kept, [*on, *unsaid(measure)])
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

    def spread(self, rows: pd.DataFrame, measure: str = "time") -> Finding:
        """Return the least and the most of rows, each with its name; of one row its value."""
        rows = rows[rows.value.notna()].sort_values("value", kind="stable")
        if len(rows) < FEWEST:
            return self._single(rows, measure)
        parted = self._parted([rows[:1], rows[-1:]], unsaid(measure))
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

    def _not_one(self, kind: str, measure: str, *parts: pd.DataFrame) -> Finding:
        """Return that a side is missing; raise `LabError` for one of several rows."""
        for part in parts:
            if len(part) > 1:
                differ = [str(n) for n in part if n in phrases.LEVELS and part[n].nunique() > 1]
                why = f"they differ in {', '.join(differ)}"
                raise LabError(f"a side has {len(part)} rows", why, "narrow it to one")
        return missing(kind, measure)

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
        return STATE if shaken(pd.Series(known), row[f"value{slow}"]) else decided


def _more_is_better(measure: str) -> bool:
    return bool(phrases.MEASURES[measure].get("better") == "more")


def _those(part: pd.DataFrame, rows: pd.DataFrame, on: list[str]) -> pd.DataFrame:
    """Return the rows of `part` that have the levels `on` of `rows`."""
    return part[pd.MultiIndex.from_frame(part[on]).isin(pd.MultiIndex.from_frame(rows[on]))]


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
