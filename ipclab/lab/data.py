"""The data of a run as a notebook asks for them, and how they are said to one reader."""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ipclab.claims.file import File
from ipclab.claims.published import published, worded
from ipclab.errors import LabError
from ipclab.frames import address, derived, judged
from ipclab.frames.points import VALUES
from ipclab.lab import prose
from ipclab.lab.catalogue import N_
from ipclab.lab.factors import check_levels
from ipclab.lab.questions import MOST_WITHIN, Question, Variables, within, without_factor
from ipclab.lab.words import Words
from ipclab.paths import Paths
from ipclab.stats import judge
from ipclab.stats.quantity import Quantity, missing, of
from ipclab.store.run import RunFolder
from ipclab.store.samples import decode

NO_LEVELS = ["metric", *VALUES[2:]]  # columns of a point frame that tell nothing of a sample
ABSENT = N_("Not measured in this run.")
FEW = N_("The launches of this run cannot test this, whatever the difference.")
USUAL = {judge.MISSING: ABSENT, judge.NOT_TESTED: FEW}


@dataclass(frozen=True, repr=False)
class Data:
    """A run for one reader: frames narrowed by levels, values in them, and their writing.

    `_names` gives the notebook's variables, for prose; `_own` are claims of a person's own.
    """

    run: RunFolder
    words: Words
    paths: Paths
    _names: Callable[[], Variables] = field(default=dict)
    _own: File | None = None

    def points(self, study: str, **levels: Any) -> pd.DataFrame:
        """Return the tidy frame of `study`: a row for each point, op and metric.

        There is one column for each factor.

        `levels` narrow it: `lab.points("round_trip", arm="main", metric="p50", backend=["tcp",
        "unix"])`. Columns: study, point, the factors, op, metric, unit, value, low, high (a 95 %
        interval), launches, samples, flags; times are ns, sizes bytes. Factors that no row has are
        left out; levels that this run has not give no row. Raises `UsageError` for an unknown
        study, column or level.
        """
        return self._frame(study, "points", levels)

    def launches(self, study: str, **levels: Any) -> pd.DataFrame:
        """Return one row for each launch, op and metric of `study`, in the order taken.

        Metrics are p50, mean, min, max and counters.

        >>> launches = lab.launches("round_trip", backend="tcp", placement="same", metric="p50")
        >>> launches.plot.scatter(x="order", y="value")
        """
        return self._frame(study, "launches", levels)

    def contests(self, study: str, **levels: Any) -> pd.DataFrame:
        """Return what is known of each mechanism against its contest's fastest.

        Columns: verdict, ratio, interval, reason.

        >>> lab.contests("round_trip", placement="same", among="sleeping")
        """
        return self._frame(study, "contests", levels)

    def samples(
        self,
        study: str,
        op: str = "",
        **levels: Any,
    ) -> pd.DataFrame:
        """Return the raw samples (ns of one operation) of the points of `study` with `levels`.

        >>> lab.samples("round_trip", arm="main", placement="cross", size_bytes=100, backend="tcp")
        """
        if op:
            levels["op"] = op
        points = self.points(study, metric="p50", **levels)
        frames = []
        for row in points.drop(columns=NO_LEVELS, errors="ignore").to_dict("records"):
            measured = decode(self.run.path / "points" / study / f"{row['point']}.parquet")
            for number, launch in enumerate(measured.launches):
                times = pd.DataFrame({"ns": launch.times(row["op"]), "launch": number})
                frames.append(times.assign(**{str(name): level for name, level in row.items()}))
        if not frames:
            return points.assign(ns=0, launch=0)
        return pd.concat(frames, ignore_index=True)

    def published(self, study: str, **levels: Any) -> pd.DataFrame:
        """Return the numbers that the text of `study` prints (SI units, and as printed).

        >>> lab.published("payload", section="3.1", metric="mean")
        """
        return address.narrowed(published(self.paths, study), levels)

    def _frame(self, study: str, kind: str, levels: Mapping[str, Any]) -> pd.DataFrame:
        """Return the rows of a study's frame (points, launches, contests) with `levels`."""
        frame = derived.read(self.run, study, kind)
        factors = self.run.questions.of(study).levels
        check_levels(self.run, study, frame, levels)
        absent = levels.keys() - set(frame)
        only_factors = absent and absent <= factors.keys()  # which no point of this run has
        if frame.empty or only_factors:
            rows = frame.iloc[:0].astype(object)
        else:
            rows = address.narrowed(frame, levels).reset_index(drop=True)
        if len(rows):
            unused = [name for name in factors if name in rows and rows[name].isna().all()]
            return rows.drop(columns=unused)
        # Without rows too, a cell of a notebook finds a column for each factor.
        lacking = [name for name in (*factors, *levels) if name not in rows]
        return rows.assign(**{name: pd.Series(dtype=object) for name in lacking})

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
        rows = of.iloc[:0] if absent else address.narrowed(of, levels)
        if len(rows) > 1 and "metric" not in levels and "metric" in rows:
            rows = rows[rows.metric == "p50"]
        if len(rows) > 1:
            raise address.ambiguous(rows, levels)
        if len(rows) == 1:
            return address.quantity(next(rows.itertuples()))
        alike = {name: levels[name] for name in levels if name in ("op", "metric") and name in of}
        units = list(address.narrowed(of, alike).get("unit", ()))
        return missing(str(units[0]) if units else "ns")

    def over(
        self,
        points: pd.DataFrame,
        under: pd.DataFrame,
        on: Sequence[str],
    ) -> pd.DataFrame:
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
            below = of(base)  # NaN stands where no row is below
            itself = bool(below) and top.sources == below.sources
            ratios.append(judged.judged(self.run, Quantity(1.0) if itself else top / below))
        return pairs.assign(cell=pd.Series(ratios, pairs.index, dtype=object))

    def cells(
        self,
        points: pd.DataFrame,
        **more: str | tuple[str, str],
    ) -> pd.DataFrame:
        """Return the rows with a column `cell` of quantities, to pivot into a table.

        `more` names further columns: another metric of the same point and op, or (op, metric) of
        the same point.

        >>> lab.cells(medians, p99="p99", total=("launch", "total_ns"))
        """
        quantities: list[Any] = [address.quantity(row) for row in points.itertuples()]
        made = points.assign(cell=quantities)
        for name, wanted in more.items():
            op, metric = (None, wanted) if isinstance(wanted, str) else wanted
            values: dict[Any, Quantity] = {}
            for study in points.study.unique():
                rows = self.points(study)
                rows = rows[(rows.metric == metric) & rows.point.isin(points.point)]
                for row in rows.itertuples():
                    values[row.point, row.op] = address.quantity(row)
            keys = zip(points.point, points.op, strict=True)
            column = [values.get((point, op or own), np.nan) for point, own in keys]
            made[name] = pd.Series(column, made.index, dtype=object)
        return made

    def say(self, text: str, /, **more: Any) -> str:
        """Return text (a msgid or translated), filled from `more`, then from the notebook."""
        said = self.words.translate(text)
        return prose.fill(
            said, lambda name: self._lookup(name, more), self.words.numbers, markdown=False
        )

    def level(self, factor: str, level: Any) -> str:
        """Return how a level, or a list of them, is written: with its unit, words translated."""
        return self.words.level(factor, level)

    def _at(self, words: str) -> Quantity | None:
        """Return the value at an address of this run's frames or a text's table, or None."""
        return address.at(words, self.points, lambda study: worded(self.paths, study))

    def _lookup(self, name: str, more: Variables | None = None) -> Quantity | str:
        """Return what a placeholder names: a notebook's variable, or an address's value."""
        value: Quantity | str | None = self._at(name)
        if value is None:
            value = prose.named(name, {**self._names(), **(more or {})})
        return judged.judged(self.run, value) if isinstance(value, Quantity) else value


class Teller:
    """Says a notebook's prose: translates it, fills in values, has questions answered."""

    def __init__(self, lab: Data) -> None:
        self.lab = lab

    def translate(self, msgid: str) -> str:
        """Return `msgid` in the reader's language."""
        return self.lab.words.translate(msgid)

    def fill(self, text: str, more: Variables | None = None) -> str:
        """Return Markdown with placeholders filled: from `more`, the notebook and the run."""
        numbers = self.lab.words.numbers
        filled = prose.fill(text, lambda name: self.lab._lookup(name, more), numbers)
        return numbers.written_out(filled)

    def is_measured(self, text: str) -> bool:
        """Return whether `text` names no value, or one that is there."""
        values = [self.lab._lookup(name) for name, _ in prose.placeholders(text)]
        return not values or any(values)

    def answer(self, question: Question) -> tuple[str, Variables]:
        """Return the alternative (a msgid) that the judge chooses, and what it may tell."""
        lab = self.lab
        names = self.lab._names()
        asked = judged.judged(lab.run, question.value(names, lab._lookup))
        bound = question.limit(names, lab._lookup)
        side = question.side(asked, bound, derived.bound(lab.run))
        usual = USUAL if question.bound and not question.is_row else {}
        alternative = {**usual, **question.alternatives}.get(side, "")
        factor = within(asked, bound)
        if side == judge.UNDECIDED and not (factor and factor.value <= MOST_WITHIN):
            alternative = without_factor(alternative)
        more = {"it": asked, "within": factor}
        if question.name and isinstance(names, MutableMapping):
            names[question.name] = lab.say(alternative, **more)
        return alternative, more
