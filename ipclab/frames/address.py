"""Values of tidy frames by address: `payload.write[arm=mapping,mapping=kept,size_bytes=max].p50`.

An address names a study, an op, levels and a metric; `text.` before it means the table of the
study's published text. Ops and levels may be several (`a|b`), a level also all that there are
(`*`), the largest or smallest (`max`, `min`), or hold a multiple of what is known of the run
(`{2*cpus}`). Where no metric is named it is the median, else the mean; a factor in its place gives
the level itself.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product, repeat
from typing import Any

import numpy as np
import pandas as pd

from ipclab.errors import LabError
from ipclab.frames.rows import ambiguous, quantity
from ipclab.stats.product import Run
from ipclab.stats.quantity import Quantity, missing

ADDRESS = re.compile(r"(text\.)?(\w+)\.([\w.|-]+)\[([^\]]*)\](?:\.([\w.]+))?")
KNOWN = re.compile(r"\{(?:(\d+)\*)?(\w+)\}")
USUAL = ("p50", "mean")
UNITS = {"size_bytes": "B", "chunk": "B", "threshold": "B"}
EVERY, ENDS = "*", ("max", "min")
Points = Callable[[str], pd.DataFrame]
Check = Callable[["Address", pd.DataFrame], None]  # which raises
Axes = frozenset[tuple[str, Any]]


class MissingError(LookupError):
    """An address names what was not measured or not published."""


@dataclass(frozen=True)
class Address:
    """Where values stand. `text` tells that a published text's table is meant."""

    study: str
    ops: tuple[str, ...]
    levels: tuple[tuple[str, str], ...]
    metric: str = ""
    text: bool = False

    @classmethod
    def read(cls, words: str) -> "Address | None":
        """Return the address that `words` are, or None."""
        parts = ADDRESS.fullmatch(words.strip())
        if not parts:
            return None
        text, study, ops, listed, metric = parts.groups()
        levels = []
        for pair in listed.split(","):
            if pair.strip():
                name, _, level = pair.partition("=")
                levels.append((name.strip(), level.strip()))
        return cls(study, tuple(ops.split("|")), tuple(sorted(levels)), metric or "", bool(text))

    def __str__(self) -> str:
        levels = ",".join(f"{name}={level}" for name, level in self.levels)
        tail = f".{self.metric}" if self.metric else ""
        return f"{'text.' if self.text else ''}{self.study}.{'|'.join(self.ops)}[{levels}]{tail}"

    @property
    def named(self) -> dict[str, list[str]]:
        """Return the levels that it names, by factor: not all, ends, or what a run fills in."""
        return {
            name: [part.strip() for part in level.split("|")]
            for name, level in self.levels
            if level not in (EVERY, *ENDS) and not KNOWN.search(level)
        }

    def find(
        self, frame: pd.DataFrame, numbers: Mapping[str, float] | None = None, loose: bool = False
    ) -> list[tuple[Axes, Any]]:
        """Return (the levels that tell it from the others, row) of each value in a tidy frame.

        Rows are `loose` when they are a text's: levels that it has no column for are not asked of
        it, and of a number printed several times alike the first is taken. Raises `MissingError`
        for what is not there, `LabError` when several rows are, or when a factor in the metric's
        place is told in words.
        """
        several = {"op": list(self.ops)} if len(self.ops) > 1 else {}
        asked = {
            name: _filled(level, numbers or {})
            for name, level in self.levels
            if name in frame or not loose
        }
        rows = self._chosen(frame)
        if not asked.keys() <= set(frame):
            raise MissingError(str(self))
        kept = np.ones(len(rows), dtype=bool)  # to take rows of so many columns once
        for name, level in asked.items():
            if level in (EVERY, *ENDS):
                kept &= rows[name].notna().to_numpy(bool)
                wanted = []
            else:
                wanted = [part.strip() for part in level.split("|")]
                kept &= rows[name].astype(str).isin(wanted).to_numpy(bool)
            if level == EVERY or len(wanted) > 1:
                several[name] = wanted
        rows = rows[kept]
        for name, level in asked.items():
            if level in ENDS and len(rows):
                rows = rows[rows[name] == rows[name].agg(level)]
        return list(self._each(rows, several, loose))

    def _chosen(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of the ops and the metric; a factor in its place is their value."""
        is_level = self.metric in frame
        metrics: Iterable[str] = (self.metric,) if self.metric else USUAL
        if is_level:
            metrics = (*USUAL, *frame["metric"].unique())
        of_ops = frame["op"].isin(self.ops)
        there = set(frame["metric"][of_ops])
        metric = next((name for name in metrics if name in there), "")
        ours = frame[of_ops & (frame["metric"] == metric)]
        rows = ours
        if len(self.ops) > 1:
            rows = pd.concat([ours[ours["op"] == op] for op in self.ops])
        if not is_level:
            return rows
        rows = rows[rows[self.metric].notna()]
        if pd.to_numeric(rows[self.metric], errors="coerce").isna().any():
            why = f"{self.metric!r} is told in words"
            fix = "give a metric, or a factor whose levels are numbers"
            raise LabError(f"{self} is no number", why, fix)
        ends = {name: rows[self.metric] for name in ("value", "low", "high") if name in rows}
        rows = rows.drop(columns=["heats", "by_heat"], errors="ignore")  # a level is no launch's
        return rows.assign(unit=UNITS.get(self.metric, "count"), **ends)

    def _each(
        self, rows: pd.DataFrame, several: dict[str, list[str]], loose: bool
    ) -> Iterator[tuple[Axes, Any]]:
        groups: dict[tuple[Any, ...], list[int]] = {}
        levels = [rows[name] for name in several]
        keys = zip(*levels, strict=True) if several else repeat((), len(rows))
        for place, key in enumerate(keys):
            groups.setdefault(key, []).append(place)
        there = {tuple(map(str, key)) for key in groups}
        # of several levels that are named, each must be there
        named = product(*several.values()) if all(several.values()) else ()
        if rows.empty or not there.issuperset(named):
            raise MissingError(str(self))
        found = list(rows.itertuples(index=False))
        for key, places in groups.items():
            if len(places) > 1:
                group = rows.iloc[places]
                if not (loose and group["value"].nunique() == 1):
                    raise ambiguous(group, self)
            yield frozenset(zip(several, key, strict=True)), found[places[0]]


def value_at(
    words: str, points: Points, texts: Points, run: Run | None = None, check: Check | None = None
) -> Quantity | None:
    """Return the value at an address over the frames of `points` of `run`, and `texts`, or None.

    What is not there has no value; raises `LabError` when the address names several, and
    what `check` does of an address and its frame.
    """
    address = Address.read(words)
    if address is None:
        return None
    try:
        frame = (texts if address.text else points)(address.study)
        if check and not address.text:
            check(address, frame)
        rows = address.find(frame, loose=address.text)
    except MissingError:
        return missing("ns" if address.metric in ("", "mean") else "1")
    if len(rows) > 1:
        raise LabError(
            f"{address} names {len(rows)} values", "a sentence states one", "name one level"
        )
    return quantity(rows[0][1], run)


def _filled(level: str, numbers: Mapping[str, float]) -> str:
    def value(match: re.Match[str]) -> str:
        if match[2] not in numbers:
            raise MissingError(match[2])
        return str(int(match[1] or 1) * int(numbers[match[2]]))

    return KNOWN.sub(value, level)
