"""The data of a run as a notebook asks for them, and how they are said to one reader."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
import pandas as pd

from ipclab.bounds.points import enriched_points
from ipclab.errors import LabError, UsageError
from ipclab.frames import derived
from ipclab.frames.address import value_at
from ipclab.frames.points import VALUES
from ipclab.frames.ratios import Ratios
from ipclab.frames.rows import ambiguous, narrowed, quantity
from ipclab.lab.factors import check_address, check_levels
from ipclab.paths import Paths
from ipclab.stats.quantity import Quantity, missing, of
from ipclab.store.door import point_of
from ipclab.store.run import RunFolder
from ipclab.studies.questions import usual_levels
from ipclab.words import filling
from ipclab.words.filling import Variables, placeholders
from ipclab.words.words import DASH, Words

NO_LEVELS = ["metric", *VALUES[2:]]  # columns of a point frame that tell nothing of a sample
# of columns, with rows or without
TYPES = dict.fromkeys(["value", "low", "high", "launches", "samples"], float) | {"busy": bool}


@dataclass(frozen=True, repr=False)
class Data:
    """A run for one reader: frames narrowed by levels, values in them, and their writing.

    `study` is the one that is meant where none is named, `_variables` gives those of the notebook.
    """

    run: RunFolder
    words: Words
    paths: Paths
    study: str = ""
    _variables: Callable[[], Variables] = field(default=dict)

    @cached_property
    def others(self) -> list[Self]:
        """Return this lab for the readers of other languages; values are looked up once for all."""
        made = [replace(self, words=words) for words in self.words.others]
        for other in made:
            vars(other)["_found"] = self._found
        return made

    def points(self, study: str = "", **levels: Any) -> pd.DataFrame:
        """Return the tidy frame of `study`: a row for each point, op and metric.

        `levels` narrow it: `lab.points("round_trip", arm="main", metric="p50", backend=["tcp",
        "unix"])`. Columns: study, point, the factors, op, metric, unit, value, low, high (a 95 %
        interval), launches, samples, flags; times are ns, sizes bytes. There is a column for each
        factor of the study, in any sweep; levels that this run has not give no row. Raises
        `UsageError` for an unknown study, column or level.
        """
        return self._narrow(study, levels, enriched_points)

    def launches(self, study: str = "", **levels: Any) -> pd.DataFrame:
        """Return one row for each launch, op and metric of `study`, in the order taken.

        Metrics are p50, mean, min, max and counters.

        >>> launches = lab.launches("round_trip", backend="tcp", placement="same", metric="p50")
        >>> launches.plot.scatter(x="order", y="value")
        """
        return self._narrow(study, levels, partial(derived.read_frame, kind="launches"))

    def contests(self, study: str = "", **levels: Any) -> pd.DataFrame:
        """Return what is known of each mechanism against its contest's fastest.

        Columns: verdict, ratio, interval, reason.

        >>> lab.contests("round_trip", placement="same")
        """
        return self._narrow(study, levels, partial(derived.read_frame, kind="contests"))

    def samples(self, study: str = "", **levels: Any) -> pd.DataFrame:
        """Return the raw samples (ns of one operation) of the points of `study` with `levels`.

        >>> lab.samples("round_trip", arm="main", placement="cross", size_bytes=100, backend="tcp")
        """
        study = study or self.study
        points = self.points(study, metric="p50", **levels)
        rows = points.drop(columns=NO_LEVELS, errors="ignore").reset_index(drop=True)
        times, numbers, places = [], [], []  # of each launch: its samples, number and row
        for place, (point, of_what) in enumerate(zip(rows.point, rows.op, strict=True)):
            measured = point_of(self.run, study, point)
            for number, launch in enumerate(measured.launches):
                times.append(launch.times(of_what))
                numbers.append(number)
                places.append(place)
        if not times:
            return points.assign(ns=0, launch=0)
        counts = [len(each) for each in times]
        samples = pd.DataFrame({"ns": np.concatenate(times), "launch": np.repeat(numbers, counts)})
        levels_of_each = rows.iloc[np.repeat(places, counts)].reset_index(drop=True)
        return pd.concat([samples, levels_of_each], axis="columns")

    def _narrow(
        self,
        study: str,
        levels: Mapping[str, Any],
        read: Callable[[RunFolder, str], pd.DataFrame],
    ) -> pd.DataFrame:
        """Return the rows with `levels` of what `read` gives of a study; `UsageError` for none."""
        if not (study := study or self.study):
            fix = "name one, or open the lab with one"
            raise UsageError("no study is named", "a frame holds one study", fix)
        frame = read(self.run, study)
        factors = self.run.questions.of(study).levels
        check_levels(self.run, study, frame, levels)
        absent = levels.keys() - set(frame)
        only_factors = absent and absent <= factors.keys()  # which no point of this run has
        if frame.empty or only_factors:
            types = {name: kind for name, kind in TYPES.items() if name in frame}
            rows = frame.iloc[:0].astype(object).astype(types)
        else:
            rows = narrowed(frame, levels).reset_index(drop=True)
        known = factors or usual_levels(study)  # an older run knows none
        lacking = [name for name in (*known, *levels) if name not in rows]
        return rows.assign(**{name: pd.Series(None, rows.index, dtype=object) for name in lacking})

    def value(self, of: pd.DataFrame | str, **levels: Any) -> Quantity:
        """Return one measured value with its interval: of a frame, a study, or an address.

        >>> lab.value(writes, mapping="kept", size_bytes=84)
        >>> lab.value("payload.write[arm=mapping,mapping=kept,size_bytes=84].p50")

        Without a metric the median is meant. What was not measured has no value, and neither has
        what is computed from it. Raises `LabError` when several rows have the levels.
        """
        if isinstance(of, str):
            addressed = self._at(of)
            if addressed is not None:
                return addressed
            of = self.points(of)
        absent = of.empty and not levels.keys() <= set(of)
        rows = of.iloc[:0] if absent else narrowed(of, levels)
        if len(rows) > 1 and "metric" not in levels and "metric" in rows:
            rows = rows[rows.metric == "p50"]
        if len(rows) > 1:
            raise ambiguous(rows, levels)
        if len(rows) == 1:
            return quantity(next(rows.itertuples()), Ratios(self.run))
        alike = {name: levels[name] for name in levels if name in ("op", "metric") and name in of}
        units = list(narrowed(of, alike).get("unit", ()))
        return missing(str(units[0]) if units else "ns")

    def ratio(self, over: Quantity | str, under: Quantity | str) -> Quantity:
        """Return how many times `under` a value is: what `/` gives, of addresses too.

        Of two medians of this run its value and its interval are those of the contest that holds
        both, or of the heats that both took part in.

        >>> gain = lab.ratio(reopened, kept)
        """
        one, other = (self.value(part) if isinstance(part, str) else part for part in (over, under))
        return one / other

    def cells(self, points: pd.DataFrame, **more: str | tuple[str, str]) -> pd.DataFrame:
        """Return the rows with a column `cell` of quantities, to pivot into a table.

        `more` names further columns: another metric of the same point and op, or (op, metric) of
        the same point.

        >>> lab.cells(medians, p99="p99", total=("launch", "total_ns"))
        """
        run = Ratios(self.run)
        quantities: list[Any] = [quantity(row, run) for row in points.itertuples()]
        made = points.assign(cell=quantities)
        for name, wanted in more.items():
            op, metric = (None, wanted) if isinstance(wanted, str) else wanted
            values: dict[Any, Quantity] = {}
            for study in points.study.unique():
                rows = self.points(study)
                rows = rows[(rows.metric == metric) & rows.point.isin(points.point)]
                for row in rows.itertuples():
                    values[row.point, row.op] = quantity(row, run)
            keys = zip(points.point, points.op, strict=True)
            column = [values.get((point, op or own), np.nan) for point, own in keys]
            made[name] = pd.Series(column, made.index, dtype=object)
        return made

    def over(self, points: pd.DataFrame, under: pd.DataFrame, on: Sequence[str]) -> pd.DataFrame:
        """Return rows with a column `cell`: values over those of `under` with the same `on`.

        The columns of that row are there too, with `_under` at their names' end; without one, the
        ratio is missing. A row over itself is exactly one. Raises `LabError` when several rows of
        `under` have the same levels.

        >>> lab.over(writes, writes[writes.backend == "tcp"], on=["size_bytes"])
        """
        if under.duplicated(list(on)).any():
            why = "a ratio needs one row to divide by"
            raise LabError(f"several rows share {', '.join(on)}", why, "choose one level")
        pairs = self.cells(points).merge(
            self.cells(under), on=list(on), how="left", suffixes=("", "_under")
        )
        ratios = []
        for top, base in zip(pairs.cell, pairs.cell_under, strict=True):
            ratios.append(top / of(base))  # NaN stands where no row is below
        return pairs.assign(cell=pd.Series(ratios, pairs.index, dtype=object))

    def say(self, text: str, /, **more: Any) -> str:
        """Return text (a msgid or translated), filled from `more`, then from the notebook."""
        said = self._once(text, more)
        if said != text:
            self.words.filled.add(said)
            for other in self.others:  # now: a notebook's variables change
                other.words.noted[said] = partial(str, other._once(text, more))
                other.words.filled.add(said)
        return said

    def in_each(self, text: str, /, **more: Any) -> dict[str, str]:
        """Return what `say` gives, by language."""
        return {of.words.lang: of.say(text, **more) for of in (self, *self.others)}

    def _once(self, text: str, more: Variables) -> str:
        """Return text filled, unless it is: what stands in it then, as a fact, is no placeholder.

        It is a dash where a value of it is missing.
        """
        said = self.words.translate(text)
        if text in self.words.filled:
            return said
        values = [self._lookup(name, more) for name, _ in placeholders(said)]
        if any(value == DASH if isinstance(value, str) else not value for value in values):
            return DASH
        return self._filled(said, more)

    def _filled(self, text: str, more: Variables) -> str:
        """Return text in the reader's language with its placeholders filled."""
        values = partial(self._lookup, more=more)
        return filling.fill(text, values, self.words.numbers, markdown=False)

    def level(self, factor: str, level: Any) -> str:
        """Return how a level, or a list of them, is written: with its unit, words translated."""
        return self.words.level(factor, level)

    def _at(self, words: str) -> Quantity | None:
        """Return the value at an address of this run's frames, None where `words` are none."""
        if words not in self._found:
            check = partial(check_address, self.run)
            self._found[words] = value_at(words, self.points, _no_text, Ratios(self.run), check)
        return self._found[words]

    @cached_property
    def _found(self) -> dict[str, Quantity | None]:
        """What was looked up: a sentence asks whether its values are there, then for them."""
        return {}

    def _lookup(self, name: str, more: Variables) -> Quantity | str:
        """Return what a placeholder names: a notebook's variable, or an address's value."""
        value: Quantity | str | None = self._at(name)
        if value is None:
            value = filling.variable_named(name, {**self._variables(), **more})
        return self.words.again(value) if isinstance(value, str) else value


def _no_text(study: str) -> pd.DataFrame:
    """Refuse an address of what a text prints: that is no value of a run."""
    fix = f'ipclab.printed(lab, "{study}. ...")'
    raise UsageError(f"text.{study} is no value of this run", "a text prints it", fix)
