"""Values of tidy frames by address, such as `payload.write[arm=mapping,mapping=kept,size_bytes=max].p50`.

An address names a study, an op, levels and a metric; `text.` before it means the table of the study's published text.
Ops and levels may be several (`a|b`), a level also all that there are (`*`), the largest or smallest (`max`, `min`),
or hold a multiple of what is known of the run (`{2*cpus}`). Where no metric is named it is the median, else the mean;
a factor in its place gives the level itself.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from ipclab.errors import LabError, UsageError, nearest
from ipclab.stats.quantity import Quantity, missing

PATTERN = r"(?:text\.)?\w+\.[\w.|-]+\[[^\]]*\](?:\.[\w.]+)?"
ADDRESS = re.compile(
    r"(?P<text>text\.)?(?P<study>\w+)\.(?P<op>[\w.|-]+)\[(?P<levels>[^\]]*)\](?:\.(?P<metric>[\w.]+))?"
)
KNOWN = re.compile(r"\{(?:(\d+)\*)?(\w+)\}")
USUAL = ("p50", "mean")
UNITS = {"size_bytes": "B", "chunk": "B", "threshold": "B"}
EVERY, ENDS = "*", ("max", "min")
Points = Callable[[str], pd.DataFrame]
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
        pairs = [pair.partition("=") for pair in parts["levels"].split(",") if pair.strip()]
        levels = tuple(sorted((name.strip(), level.strip()) for name, _, level in pairs))
        return cls(parts["study"], tuple(parts["op"].split("|")), levels, parts["metric"] or "", bool(parts["text"]))

    def __str__(self) -> str:
        """Return the address as it is written, levels sorted."""
        levels = ",".join(f"{name}={level}" for name, level in self.levels)
        tail = f".{self.metric}" if self.metric else ""
        return f"{'text.' if self.text else ''}{self.study}.{'|'.join(self.ops)}[{levels}]{tail}"

    def find(
        self, rows: "Rows", known: Mapping[str, float] | None = None, loose: bool = False
    ) -> list[tuple[Axes, Any]]:
        """Return (the levels that tell it from the others, row) of each value.

        Rows are `loose` when they are a text's: levels that it has no column for are not asked of it, and of a number
        printed several times alike the first is taken. Raises `MissingError` for what is not there, `LabError` when
        several rows are.
        """
        chosen, several = self._chosen(rows), {"op": list(self.ops)} if len(self.ops) > 1 else {}
        ends = []
        for name, level in self.levels:
            if name not in rows.columns and not loose:
                raise MissingError(str(self))
            if name not in rows.columns:
                continue
            wanted = [part.strip() for part in _filled(level, known or {}).split("|")]
            if level == EVERY or level in ENDS:
                chosen = [row for row in chosen if pd.notna(getattr(row, name))]
                ends += [(name, level)] if level in ENDS else []
            else:
                chosen = [row for row in chosen if str(getattr(row, name)) in wanted]
            if level == EVERY or len(wanted) > 1:
                several[name] = [] if level == EVERY else wanted
        for name, end in ends:
            extreme = (max if end == "max" else min)((getattr(row, name) for row in chosen), default=None)
            chosen = [row for row in chosen if getattr(row, name) == extreme]
        return list(self._each(chosen, several, loose))

    def _chosen(self, rows: "Rows") -> list[Any]:
        """Return the rows of the ops and the metric; a factor in its place is their value."""
        if self.metric not in rows.columns:
            asked = (self.metric,) if self.metric else USUAL
            return next((found for name in asked if (found := rows.of(self.ops, name))), [])
        unit = UNITS.get(self.metric, "count")
        every = next((found for name in (*USUAL, *rows.metrics) if (found := rows.of(self.ops, name))), [])
        found = [row for row in every if pd.notna(getattr(row, self.metric))]
        ends = {"value", "low", "high"} & rows.columns
        return [row._replace(unit=unit, **dict.fromkeys(ends, getattr(row, self.metric))) for row in found]

    def _each(self, rows: list[Any], several: dict[str, list[str]], loose: bool) -> Iterator[tuple[Axes, Any]]:
        groups: dict[tuple[Any, ...], list[Any]] = {}
        for row in rows:
            groups.setdefault(tuple(getattr(row, name) for name in several), []).append(row)
        named = [levels or {str(key[place]) for key in groups} for place, levels in enumerate(several.values())]
        there = {tuple(map(str, key)) for key in groups}
        if not groups or (all(several.values()) and not there.issuperset(product(*named))):
            raise MissingError(str(self))
        for key, group in groups.items():
            if len(group) > 1 and not (loose and len({row.value for row in group}) == 1):
                differ = _differing(pd.DataFrame(group))
                raise LabError(f"{len(group)} rows have {self}", f"they differ in {differ}", "name one level")
            yield frozenset(zip(several, key, strict=True)), group[0]


class Rows:
    """The rows of a tidy frame, by op and metric."""

    def __init__(self, frame: pd.DataFrame) -> None:
        """Read the frame once."""
        self.columns, self.by = frozenset(map(str, frame.columns)), dict[tuple[str, str], list[Any]]()
        for row in frame.itertuples(index=False):
            self.by.setdefault((str(row.op), str(row.metric)), []).append(row)
        self.ops, self.metrics = ({key[place]: None for key in self.by} for place in (0, 1))

    def of(self, ops: Iterable[str], metric: str) -> list[Any]:
        """Return the rows of `ops` with `metric`."""
        return [row for op in ops for row in self.by.get((op, metric), ())]


def narrowed(frame: pd.DataFrame, levels: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows that have all `levels`; a list of levels means any of them, NA the absence of one.

    Raises `UsageError` for a column that the frame has not.
    """
    kept = np.ones(len(frame), dtype=bool)
    for name, level in levels.items():
        if name not in frame:
            near = f"did you mean {nearest(name, map(str, frame.columns))!r}?"
            raise UsageError(f"no column {name!r}", f"the frame has {', '.join(map(str, frame.columns))}", near)
        wanted = list(level) if isinstance(level, list | tuple | set | frozenset | np.ndarray | pd.Series) else [level]
        kept &= frame[name].isin(wanted).to_numpy()
    return frame[kept]


def quantity(row: Any) -> Quantity:
    """Return a row of a point frame, or of a text's table, as a quantity."""
    if not hasattr(row, "launches"):
        return Quantity(float(row.value), str(row.unit), kind=str(row.kind))
    n = f"{int(row.launches)} x {int(row.samples)}"
    source = "/".join(str(getattr(row, name, "")) for name in ("study", "point", "op", "metric"))
    return Quantity(float(row.value), str(row.unit), float(row.low), float(row.high), n, sources=(source,))


def one(frame: pd.DataFrame, levels: Mapping[str, Any]) -> Quantity:
    """Return the only row with all `levels` as a quantity, the median where no metric is named.

    What was not measured is a quantity without a value; raises `LabError` when several rows have the levels.
    """
    absent = [name for name in levels if name not in frame]
    found = frame.iloc[:0] if absent and frame.empty else narrowed(frame, levels)
    if len(found) > 1 and "metric" not in levels and "metric" in found:
        found = found[found.metric == "p50"]
    if found.empty:
        units = narrowed(frame, {name: levels[name] for name in ("op", "metric") if name in levels and name in frame})
        return missing(str(units.unit.iloc[0]) if len(units) else "ns")
    if len(found) > 1:
        raise LabError(
            f"{len(found)} rows have {dict(levels)}", f"they differ in {_differing(found)}", "name one level"
        )
    return quantity(next(found.itertuples()))


def at(words: str, points: Points, texts: Points) -> Quantity | None:
    """Return the value at an address over the frames that `points` and `texts` give by study; None for other words.

    What is not there has no value; raises `LabError` when the address names several.
    """
    address = Address.read(words)
    if address is None:
        return None
    try:
        frame = (texts if address.text else points)(address.study)
        found = address.find(Rows(frame[frame["op"].isin(address.ops)] if len(frame) else frame), loose=address.text)
    except MissingError:
        return missing("ns" if address.metric in ("", "mean") else "1")
    if len(found) > 1:
        raise LabError(f"{address} names {len(found)} values", "a sentence states one", "name one level")
    return quantity(found[0][1])


def _differing(rows: pd.DataFrame) -> str:
    differ = [str(name) for name in rows if rows[name].nunique(dropna=False) > 1 and name not in ("point", "flags")]
    return ", ".join(differ[:6])


def _filled(level: str, known: Mapping[str, float]) -> str:
    def value(match: re.Match[str]) -> str:
        if match[2] not in known:
            raise MissingError(match[2])
        return str(int(match[1] or 1) * int(known[match[2]]))

    return KNOWN.sub(value, level)
