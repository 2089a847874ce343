"""The lab of a report: what a notebook holds, with prose, claims and quotations."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
import pandas as pd

from ipclab.bounds.enriched import points_of
from ipclab.claims import published as texts
from ipclab.claims.file import File
from ipclab.errors import LabError
from ipclab.frames import address
from ipclab.frames.ratios import Ratios
from ipclab.frames.rows import narrowed, quantity
from ipclab.lab.factors import words_asked
from ipclab.lab.finding import Finding
from ipclab.lab.hints import run_hint, show_hint
from ipclab.lab.lab import Lab
from ipclab.lab.parameters import Parameter
from ipclab.paths import Paths
from ipclab.prose import magic
from ipclab.prose.teller import Teller
from ipclab.report.notebooks import quotes
from ipclab.stats.quantity import Quantity, of
from ipclab.store.run import RunFolder
from ipclab.words.filling import Variables, placeholders
from ipclab.words.numbers import plain_value
from ipclab.words.sentences import sentence
from ipclab.words.words import DASH

# Of the parameters of study notebooks; the others are lists of whole numbers.
KINDS = {
    "run": "str",
    "lang": "str",
    "profile": "str",
    "measure": "bool",
    "backends": "list[str]",
    "placement": "list[str]",
    "object": "list[str]",
}


@dataclass(frozen=True, repr=False)
class ReportLab(Lab):
    """A run for one reader, on which claims are judged.

    `_own` are claims of a person's own.
    """

    _own: File | None = None

    @classmethod
    def open(cls, run: str = "", lang: str = "en", study: str = "", claims: str = "") -> Self:
        """Open a run as `Lab.open` does.

        `claims` is a TOML file of your own claims; raises `UsageError` for ones that cannot be
        judged, too, and for a parameter that papermill gave the notebook and it does not have.
        """
        lab = super().open(run, lang, study)
        show_hint(f"run {run_hint(lab.paths, lab.run, run, study)}", lab.run)
        if claims:
            from ipclab.claims.audit import with_own

            lab = with_own(lab, claims)
        magic.register_prose(*Teller.of(lab))
        return lab

    @classmethod
    def begin(
        cls,
        study: str,
        run: Any = "",
        lang: Any = "en",
        measure: Any = False,
        profile: Any = "quick",
        **sweep: Any,
    ) -> Self:
        """Open or measure a run as `Lab.begin` does.

        Values may come from papermill's command line: "false" is meant as False, a scalar as a
        list of it. Raises `UsageError` for what cannot be meant.
        """
        given = {"run": run, "lang": lang, "measure": measure, "profile": profile, **sweep}
        values = {}
        for name, value in given.items():
            values[name] = Parameter(name, KINDS.get(name, "list[int]"), []).checked(value)
        return super().begin(study, **values)

    def points(self, study: str = "", **levels: Any) -> pd.DataFrame:
        """Return the frame that `Data.points` gives, with the columns of `enriched`."""
        study = self._named(study)
        return self._narrow(study, points_of(self.run, study), levels)

    def cells(self, points: pd.DataFrame, **more: str | tuple[str, str]) -> pd.DataFrame:
        """Return the rows with a column `cell` of quantities, to pivot into a table.

        `more` names further columns: another metric of the same point and op, or (op, metric) of
        the same point.

        >>> lab.cells(medians, p99="p99", total=("launch", "total_ns"))
        """
        run = Ratios(self.run)
        made = super().cells(points)
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

    def published(self, study: str, **levels: Any) -> pd.DataFrame:
        """Return the numbers that the text of `study` prints (SI units, and as printed).

        >>> lab.published("payload", section="3.1", metric="mean")
        """
        return narrowed(texts.published(self.paths, study), levels)

    def keep(self, *names: str, **values: Any) -> quotes.Kept:
        """Keep the notebook's variables, other values and findings' texts for other notebooks.

        Nothing is shown.

        >>> lab.keep("past", "now", gain=past / now)
        """
        kept = {name: self._lookup(name) for name in names}
        for name, value in values.items():
            told = isinstance(value, Finding)
            kept[name] = self._told(asdict(value)) if told else plain_value(value)
        return quotes.Kept(kept, self.words)

    def _told(self, finding: Mapping[str, Any]) -> str:
        """Return the sentence of a finding, which others have in their words."""
        said = sentence(finding, self.words)
        return self.words.note(said, lambda other: sentence(finding, other))

    def quoted(self, notebook: str) -> quotes.Quoted:
        """Return what another notebook made of this run: figures, tables, and kept values.

        It is executed when that was not done yet; raises `LabError` when it fails.

        >>> payload = lab.quoted("01_payload")
        >>> payload.figure("payload-bandwidth")  # and payload.gain is a value
        """
        executed = quotes.executed_notebook(self.paths, self.run, self.words.langs, notebook)
        return quotes.read_quoted(executed, notebook, self.words, Ratios(self.run))

    def _said(self, text: str, more: Variables) -> str:
        """Return text filled, a dash where a value of it is missing."""
        said = self.words.translate(text)
        if not self._is_measured(said, more):
            return DASH
        return self._filled(said, more, markdown=False)

    @cached_property
    def others(self) -> list[Self]:
        """Return this lab for the readers of other languages; values are looked up once for all."""
        made = [replace(self, words=words) for words in self.words.others]
        for other in made:
            vars(other)["_found"] = self._found
        return made

    def _is_measured(self, text: str, more: Variables | None = None) -> bool:
        """Return whether each value that `text` names is there; a dash is none."""
        values = [self._lookup(name, more) for name, _ in placeholders(text)]
        return all(value != DASH if isinstance(value, str) else bool(value) for value in values)

    def _at(self, words: str) -> Quantity | None:
        """Return the value at an address of this run's frames or a text's table, or None."""
        if words not in self._found:
            text = partial(texts.worded, self.paths)
            known = partial(words_asked, self.run.questions)
            self._found[words] = address.value_at(words, self.points, text, Ratios(self.run), known)
        return self._found[words]

    @cached_property
    def _found(self) -> dict[str, Quantity | None]:
        """What was looked up: a sentence asks whether its values are there, then for them."""
        return {}


def lab_of(run: RunFolder, paths: Paths, lang: str) -> ReportLab:
    """Return `run` for readers of `lang`, without a notebook; `UsageError` for another one."""
    return ReportLab.of(run, paths, lang)
