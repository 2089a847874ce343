"""The kinds of findings, built from rows of one lab's frames."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

import pandas as pd

from ipclab.errors import LabError, UsageError
from ipclab.lab import sides
from ipclab.lab.finding import (
    ALIKE,
    FEW,
    LESS,
    LIMIT,
    MISSING,
    MORE,
    OPEN,
    STATE,
    Finding,
    not_measured,
    verdict,
)
from ipclab.lab.ranked import FEWEST, Ranked, shaken, unsaid
from ipclab.stats.quantity import Quantity
from ipclab.words import phrases
from ipclab.words.amounts import as_data

BACKEND = ("backend",)


class Kinds(Ranked):
    """What of a run is a finding, from rows of `points`."""

    def compare(self, a: pd.DataFrame, b: pd.DataFrame, measure: str = "time") -> Finding:
        """Return which of two rows takes less, by what factor.

        `a`, `b`: frames of one row each that differ in one thing; `measure` is time, rate,
        bandwidth, cpu, age or memory. Raises `UsageError` for sides that differ in more.

        >>> lab.compare(trips[trips.backend == "tcp"], trips[trips.backend == "unix"])
        """
        for part in (a, b):
            if len(part) > 1:
                differ = [str(n) for n in part if n in phrases.LEVELS and part[n].nunique() > 1]
                why = f"they differ in {', '.join(differ)}"
                raise LabError(f"a side has {len(part)} rows", why, "narrow it to one")
        if a.empty or b.empty:
            return not_measured("compare", measure)
        if "row" in a and a.row.iloc[0] == b.row.iloc[0]:
            return not_measured("compare", measure, "one row, which is compared with itself")
        one, other = self._of_row(a), self._of_row(b)
        if not (one and other):
            return not_measured("compare", measure)
        topic, levels = self._parted([a, b], unsaid(measure))
        ratio = one / other
        values: dict[str, Any] = {"a": as_data(one), "b": as_data(other), "ratio": as_data(ratio)}
        decided, quick = self._decided(ratio, a.iloc[0], b.iloc[0], measure)
        if quick is not None:
            values["quick"] = quick
        rests = [*one.sources, *other.sources]
        return Finding("compare", decided, measure, topic, levels, values, rests)

    def _decided(
        self, ratio: Quantity, one: Any, other: Any, measure: str
    ) -> tuple[str, int | None]:
        """Return the verdict on two rows, and of times which is the quicker one (0, 1).

        That must be so in its slower state, too.
        """
        decided = verdict(ratio, self.run.questions.same)
        if decided not in (LESS, MORE) or measure != "time":
            return decided, None
        rows = (one, other) if decided == LESS else (other, one)
        return shaken(rows[0], rows[1]["value"]) or decided, int(decided == MORE)

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
        rows = self._pairs_of(after, before, list(on))
        if rows.empty:
            return not_measured("effect", measure)
        kept = [_those(part, rows, list(on)) for part in (after, before)]
        if len(rows) == 1:
            return self.compare(kept[0], kept[1], measure)
        topic, levels = self._parted(kept, [*on, *unsaid(measure)])
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
                of_one = {key: found[place][key] for key in on}
                values[f"{way}_{name}"] = [of_one, as_data(found[place]["cell"])]
        decided = together(counts, len(rows))
        if decided in (LESS, f"all-{LESS}") and _more_is_better(measure):
            return self.effect(before, after, on, measure)  # told of who has more
        rests = [source for cell in rows.cell for source in cell.sources]
        return Finding("effect", decided, measure, topic, levels, values, rests)

    def _changed(self, row: dict[Any, Any], measure: str) -> str:
        """Return the verdict on one pair."""
        other = {name: row.get(f"{name}_under") for name in ("value", "slow", "why")}
        decided, _ = self._decided(row["cell"], row, other, measure)
        return STATE if decided == LIMIT else decided

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
        ends = rows[:1], rows[-1:]
        topic, levels = self._parted(ends, unsaid(measure))
        values: dict[str, Any] = {}
        for name, side, row in zip(("least", "most"), levels, ends, strict=True):
            values[name] = [side, as_data(self._of_row(row))]
        return Finding("spread", "told", measure, topic, [], values, [*rows.point])

    def reach(self, a: pd.DataFrame, b: pd.DataFrame, x: str, measure: str = "time") -> Finding:
        """Return up to which level of `x` (from its smallest on) an effect of `a` over `b` holds.

        >>> lab.reach(trips[trips.backend == "posix-shm"], trips[trips.backend == "unix"], "size_bytes")
        """
        known = []
        for level in sorted({*a[x]} & {*b[x]}):
            found = self.compare(a[a[x] == level], b[b[x] == level], measure)
            if found.verdict != MISSING:
                known.append((level, found))
        if len(known) < FEWEST:
            return known[0][1] if known else not_measured("reach", measure)
        first, head = known[0]
        topic = {name: level for name, level in head.topic.items() if name != x}
        values: dict[str, Any] = {"x": x, "way": head.verdict, "first": first}
        if head.verdict not in (MORE, LESS):
            return Finding("reach", OPEN, measure, topic, head.sides, values, head.rests)
        alike = [*takewhile(lambda each: each[1].verdict == head.verdict, known)]
        last, at_last = alike[-1]
        values |= {"last": last, "at_first": head.values["ratio"]}
        values["at_last"] = at_last.values["ratio"]
        decided = "throughout"
        if len(alike) < len(known):
            beyond, at_next = known[len(alike)]
            values |= {"next": beyond, "at_next": at_next.values["ratio"]}
            decided = "turns" if at_next.verdict in (MORE, LESS) else "ends"
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
            return not_measured("compare", measure)
        first = ranked[:1]
        others = ranked[ranked[by] != first[by].iloc[0]]
        found = self.compare(first, others[:1], measure)
        rivals = [others[place : place + 1] for place in range(1, len(others))]
        ratios = [self._of_row(first) / self._of_row(rival) for rival in rivals]
        is_open = any(verdict(each, self.run.questions.same) not in (LESS, MORE) for each in ratios)
        if found.verdict == MISSING:
            return found
        decided = OPEN if found.decided and is_open else found.verdict
        return replace(
            found, verdict=decided, values={**found.values, "best": len(ranked) > FEWEST}
        )

    def _pairs_of(self, after: pd.DataFrame, before: pd.DataFrame, on: list[str]) -> pd.DataFrame:
        """Return the rows of `after` with their ratio to the row of `before` (`_under`), ascending."""
        if after.empty or before.empty:
            return after.iloc[:0]
        if after.duplicated(on).any():
            raise LabError(f"several rows share {', '.join(on)}", "", "choose one level")
        pairs = self.over(_those(after, before, on), before, on)
        if "row" in pairs:  # of a sweep of one level the largest is the smallest
            pairs = pairs[pairs.row != pairs.row_under]
        pairs = pairs[pairs.cell.map(bool).astype(bool)]
        if len(pairs):
            factors = self.run.questions.of(str(after.study.iloc[0])).levels
            differ = sides.pairs_differ(pairs, sides.factors_of(after, factors), on)
            if len(differ) != 1:
                what = f"paired rows differ in {' and '.join(differ) or 'nothing'}"
                raise UsageError(what, "an effect is of one thing", "narrow both")
        order = pairs.cell.map(lambda cell: float(cell.value)).sort_values(kind="stable")
        return pairs.loc[order.index]


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
