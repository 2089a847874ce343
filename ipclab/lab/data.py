"""The data of a run as a notebook asks for them, and how they are written in one language."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ipclab.errors import LabError
from ipclab.frames import address, derived, judged
from ipclab.frames.limits import beaten, impossible, with_limits
from ipclab.frames.points import VALUES
from ipclab.frames.published import published, worded
from ipclab.lab import labels, prose
from ipclab.lab.catalogue import N_, Catalogue
from ipclab.lab.numbers import Formatter, trimmed
from ipclab.paths import Paths
from ipclab.stats import judge
from ipclab.stats.quantity import Quantity, missing
from ipclab.store.run import RunFolder
from ipclab.store.samples import decode

DASH = "–"
ABSENT = N_("Not measured in this run.")
FEW = N_("The launches of this run cannot test this, whatever the difference.")


@dataclass(frozen=True, repr=False)
class Data:
    """A run in one language: its frames, narrowed by levels, values out of them, and how these are written.

    `namespace` gives the notebook's variables, for prose.
    """

    run: RunFolder
    lang: str
    paths: Paths
    catalogue: Catalogue
    numbers: Formatter
    figures: Path
    namespace: Callable[[], Mapping[str, Any]] = field(default=dict)

    @property
    def studies(self) -> list[str]:
        """Return the studies that the run holds points of."""
        return derived.measured(self.run)

    def points(self, study: str, **levels: Any) -> pd.DataFrame:
        """Return the tidy frame of `study`: one row for each point, op and metric, one column for each factor.

        `levels` narrow it: `lab.points("round_trip", arm="main", metric="p50", backend=["tcp", "unix"])`. Columns:
        study, point, the factors, op, metric, unit, value, low, high (a 95 % interval), launches, samples, flags; times
        are ns, sizes bytes. Factors that no row has are left out. Raises `UsageError` for an unknown study or column.
        """
        return self._frame(study, "points", levels)

    def launches(self, study: str, **levels: Any) -> pd.DataFrame:
        """Return one row for each launch, op and metric (p50, mean, min, max, counters) of `study`, in the order taken.

        >>> lab.launches("round_trip", backend="tcp", placement="same", metric="p50").plot.scatter(x="order", y="value")
        """
        return self._frame(study, "launches", levels)

    def contests(self, study: str, **levels: Any) -> pd.DataFrame:
        """Return what is known of each mechanism against the fastest of its contest: verdict, ratio, interval, reason.

        >>> lab.contests("round_trip", placement="same", among="sleeping")
        """
        return self._frame(study, "contests", levels)

    def samples(self, study: str, op: str = "", **levels: Any) -> pd.DataFrame:
        """Return the raw samples (ns of one operation) of the points of `study` that have `levels`, all launches.

        >>> lab.samples("round_trip", arm="main", placement="cross", size_bytes=100, backend="tcp")
        """
        chosen = self.points(study, **({"op": op} if op else {}), metric="p50", **levels)
        found = []
        for row in chosen.to_dict("records"):
            measured = decode(self.run.path / "points" / study / f"{row['point']}.parquet")
            head = {str(name): value for name, value in row.items() if name not in ("metric", *VALUES[2:])}
            times = [launch.times(row["op"]) for launch in measured.launches]
            parts = [pd.DataFrame({"ns": part}).assign(launch=number) for number, part in enumerate(times)]
            found.append(pd.concat(parts, ignore_index=True).assign(**head))
        return pd.concat(found or [chosen.assign(ns=0, launch=0)])

    def published(self, study: str, **levels: Any) -> pd.DataFrame:
        """Return the numbers that the text of `study` prints (value in SI units, printed as it stands).

        >>> lab.published("payload", section="3.1", metric="mean")
        """
        return address.narrowed(published(self.paths, study), levels)

    def limited(self, points: pd.DataFrame) -> pd.DataFrame:
        """Return rows of `lab.points` with the limit of the hardware (ns) and `over_limit`, the value over it."""
        return with_limits(points, self.launches("limits")) if len(points) else points.assign(limit=0.0, over_limit=0.0)

    def beaten(self) -> pd.DataFrame:
        """Return the medians of all studies that are faster than their limit, which shows that it is none.

        >>> lab.beaten()[["study", "op", "backend", "size_bytes", "placement", "over_limit"]]
        """
        medians = [self.points(study, metric="p50") for study in self.studies]
        return pd.concat([beaten(self.limited(each)) for each in medians if len(each)] or [pd.DataFrame()])

    def impossible(self) -> list[str]:
        """Return one line for each result that is faster than its copies by memcpy can be."""
        limits = self.launches("limits")
        return [line for study in self.studies for line in impossible(self.points(study), limits)]

    def _frame(self, study: str, kind: str, levels: Mapping[str, Any]) -> pd.DataFrame:
        frame, factors = derived.read(self.run, study, kind), _factors(study)
        strange = {name for name in levels if name not in frame}
        if frame.empty or (strange and strange <= set(factors)):  # factors that no point of this run has
            found = frame.iloc[:0].astype(object)
        else:
            found = address.narrowed(frame, levels).reset_index(drop=True)
        if len(found):
            return found.drop(columns=[name for name in factors if name in found and found[name].isna().all()])
        absent = [name for name in dict.fromkeys([*factors, *levels]) if name not in found]
        return found.assign(**{name: pd.Series(dtype=object) for name in absent})  # a cell finds each factor

    def value(self, of: pd.DataFrame | str, **levels: Any) -> Quantity:
        """Return one measured value with its interval: of a frame, a study, or an address.

        >>> lab.value(writes, mapping="kept", size_bytes=84)
        >>> lab.value("payload.write[arm=mapping,mapping=kept,size_bytes=84].p50")

        Without a metric the median is meant. What was not measured has no value, and neither has what is computed from
        it. Raises `LabError` when several rows have the levels.
        """
        if isinstance(of, str):
            if (known := address.at(of, self.points, self.text)) is not None:
                return known
            of = self.points(of)
        absent = of.empty and not levels.keys() <= set(of)
        found = of.iloc[:0] if absent else address.narrowed(of, levels)
        if len(found) > 1 and "metric" not in levels and "metric" in found:
            found = found[found.metric == "p50"]
        if found.empty:
            of_op = {name: level for name, level in levels.items() if name in ("op", "metric") and name in of}
            units = address.narrowed(of, of_op)
            return missing(str(units.unit.iloc[0]) if len(units) else "ns")
        if len(found) > 1:
            raise address.ambiguous(found, levels)
        return address.quantity(next(found.itertuples()))

    def over(self, points: pd.DataFrame, under: pd.DataFrame, on: Sequence[str]) -> pd.DataFrame:
        """Return the rows with a column `cell`: each value over that of the row of `under` with the same levels `on`.

        The columns of that row are there too, with `_under` at their names' end; without one, the ratio is missing.
        A row over itself is exactly one. Raises `LabError` when several rows of `under` have the same levels.

        >>> lab.over(writes, writes[writes.backend == "tcp"], on=["size_bytes"])
        """
        if under.duplicated(list(on)).any():
            why = "a ratio needs one row to divide by"
            raise LabError(f"several rows share {', '.join(on)}", why, "choose one level")
        found = self.cells(points).merge(self.cells(under), on=list(on), how="left", suffixes=("", "_under"))
        ratios = [  # where there is no row below, NaN stands: a ratio to it is missing
            Quantity(1.0) if base and top.sources == getattr(base, "sources", None) else top / base
            for top, base in zip(found.cell, found.cell_under, strict=True)
        ]
        return found.assign(cell=pd.Series(map(self.judged, ratios), found.index, dtype=object))

    def judged(self, found: Quantity) -> Quantity:
        """Return a ratio of two medians of one contest with the interval that the contest judged; others as they are.

        Tables, prose and `choose` ask here, so that what is printed is what was judged.
        """
        return judged.judged(self.run, found)

    @property
    def bound(self) -> Quantity:
        """Return what counts as the same in this run: a share that its profile can resolve."""
        return Quantity(derived.bound(self.run), "share", kind="computed")

    def ratio(self, over: Quantity, under: Quantity) -> Quantity:
        """Return `over` / `under` with its interval, the same as `over / under`."""
        return over / under

    def cells(self, points: pd.DataFrame, **more: str | tuple[str, str]) -> pd.DataFrame:
        """Return the rows with a column `cell` of quantities, to pivot into a table that prints value and interval.

        `more` names further columns: another metric of the same point and op, or (op, metric) of the same point.

        >>> lab.cells(medians, p99="p99", total=("launch", "total_ns"))
        """
        found: list[Any] = [address.quantity(row) for row in points.itertuples()]
        made = points.assign(cell=found)
        for name, wanted in more.items():
            op, metric = (None, wanted) if isinstance(wanted, str) else wanted
            whole = [self.points(study, metric=metric) for study in points.study.unique()]
            rows = [row for frame in whole for row in frame[frame.point.isin(points.point)].itertuples()]
            known = {(row.point, row.op): address.quantity(row) for row in rows}
            found = [known.get((point, op or own), np.nan) for point, own in zip(points.point, points.op, strict=True)]
            made[name] = pd.Series(found, made.index, dtype=object)
        return made

    def text(self, study: str) -> pd.DataFrame:
        """Return what `published` gives, with the op and metric of a run's frame: addresses of `text.<study>` find it.

        >>> lab.value("text.payload.write[size_bytes=max].mean")
        """
        return worded(self.paths, study)

    def translate(self, msgid: str) -> str:
        """Return `msgid` in the reader's language; notebooks call it `_`."""
        return self.catalogue.translate(msgid)

    def say(self, text: str, /, **more: Any) -> str:
        """Return text (a msgid or already translated), placeholders filled from `more`, then from the notebook."""
        told = self.translate(text)
        return prose.fill_plain(told, lambda name: self.lookup(name, more), self.numbers) if "{" in told else told

    def tell(self, text: str) -> str:
        """Return a sentence (a msgid) filled like prose, or nothing when one of its values was not measured."""
        asked = [self.lookup(name) for name, _ in prose.placeholders(self.translate(text))]
        return self.say(text) if all(asked) else ""

    def fill(self, text: str) -> str:
        """Return Markdown with its placeholders filled with values of the notebook and of the run."""
        return self.numbers.written_out(prose.fill(text, self.lookup, self.numbers))

    def lookup(self, name: str, more: Mapping[str, Any] | None = None) -> Quantity | str:
        """Return what a placeholder names: a variable of the notebook, or the value at an address."""
        found = address.at(name, self.points, self.text)
        known = prose.named(name, {**self.namespace(), **(more or {})}) if found is None else found
        return self.judged(known) if isinstance(known, Quantity) else known

    def label(self, name: str) -> str:
        """Return what a factor, column, op or metric is called."""
        return self.translate(labels.NAMES.get(name, str(name)))

    def level(self, factor: str, level: Any) -> str:
        """Return how a level or a list of them is written: sizes and times with their unit, words translated."""
        if isinstance(level, list | tuple):
            return self.joined(self.level(factor, each) for each in level) or DASH
        if level is None or level is pd.NA or level != level:  # noqa: PLR0124  NaN
            return DASH
        if factor in labels.UNITS:
            return trimmed(self.numbers.format(Quantity(level, labels.UNITS[factor]), labels.spec(factor, level)))
        if factor == "study":
            return str(level)
        if isinstance(level, str):
            known = labels.NAMES if factor in ("metric", "op") else labels.NAMES | labels.LEVELS
            return self.translate(known.get(level, level))
        return self.numbers.format(prose.plain(level))  # type: ignore[arg-type]

    def joined(self, words: Iterable[str], by: str = N_(", ")) -> str:
        """Return words as a list with the language's comma, or with another separator (a msgid)."""
        return self.translate(by).join(words)

    def listed(self, points: pd.DataFrame, by: str = "backend", spec: str = "") -> str:
        """Return rows as text, such as "tcp 21.3 µs, unix 14.8 µs", one for each level of `by`; a dash without rows."""
        levels = labels.ordered(by, dict.fromkeys(points[by]))
        rows = [row for level in levels for row in points[points[by] == level].itertuples()]
        found = [row.cell if hasattr(row, "cell") else address.quantity(row) for row in rows]
        names = [self.level(by, getattr(row, by)) for row in rows]
        told = [f"{name} {self.numbers.format(each, spec)}" for name, each in zip(names, found, strict=True)]
        return self.joined(told) or DASH

    def why_empty(self) -> str:
        """Return why a view is empty, in words."""
        reasons = list(dict.fromkeys(self.run.about.get("points", {}).values()))
        return f"{self.say(ABSENT)} {reasons[0] if reasons else ''}".strip()

    def choose(
        self, found: Quantity, bound: float, *,
        above: str, below: str, undecided: str, missing: str = ABSENT, told: str = "",
    ) -> str:  # fmt: skip
        """Return the sentence (a msgid) that the judge chooses: shown above the bound, below it, or undecided.

        Where so few launches could not have shown either, that is said in its place.
        `told` leads each of them, such as the value itself; of what was not measured, `missing` alone is said.
        """
        alternatives = {judge.ABOVE: above, judge.BELOW: below, judge.UNDECIDED: undecided, judge.NOT_TESTED: FEW}
        chosen = alternatives.get(judge.side(self.judged(found), bound))
        return " ".join(self.say(part) for part in ((told, chosen) if chosen else (missing,)) if part)


@cache
def _factors(study: str) -> tuple[str, ...]:
    """Return every factor that a point of the study can have."""
    from ipclab.studies.installed import study as study_of
    from ipclab.studies.interface import Sweep
    from ipclab.studies.profile import PROFILES

    known = study_of(study)
    usual = (name for point in known.points(PROFILES["smoke"], Sweep()) for name in point.key())
    return tuple(dict.fromkeys([*usual, *getattr(known, "factors", ())]))
