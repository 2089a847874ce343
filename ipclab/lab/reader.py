"""The reader: a run in one language. What is written and how, before anything is looked at."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from ipclab.frames import address
from ipclab.frames.published import worded
from ipclab.lab import labels, prose, values
from ipclab.lab.catalogue import N_, Catalogue
from ipclab.lab.numbers import Formatter, trimmed
from ipclab.paths import Paths
from ipclab.stats import judge
from ipclab.stats.quantity import Quantity
from ipclab.store.run import RunFolder

DASH = "–"
ABSENT = N_("Not measured in this run.")


@dataclass(frozen=True, repr=False)
class Reader:
    """A run and the language in which it is read; `namespace` gives the notebook's variables, for prose."""

    run: RunFolder
    lang: str
    paths: Paths
    catalogue: Catalogue
    numbers: Formatter
    figures: Path
    namespace: Callable[[], Mapping[str, Any]] = field(default=dict)

    def points(self, study: str, **levels: Any) -> pd.DataFrame:
        """Return the point frame of a study."""
        raise NotImplementedError

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
        return prose.fill(text, self.lookup, self.numbers)

    def lookup(self, name: str, more: Mapping[str, Any] | None = None) -> Quantity | str:
        """Return what a placeholder names: a variable of the notebook, or the value at an address."""
        found = address.at(name, self.points, self.text)
        return values.named(name, {**self.namespace(), **(more or {})}) if found is None else found

    def label(self, name: str) -> str:
        """Return what a factor, column, op or metric is called."""
        return self.translate(labels.NAMES.get(name, str(name)))

    def level(self, factor: str, level: Any) -> str:
        """Return how a level or a list of them is written: sizes and times with their unit, words translated."""
        if isinstance(level, list | tuple):
            return self.translate(N_(", ")).join(self.level(factor, each) for each in level) or DASH
        if level is None or level is pd.NA or level != level:  # noqa: PLR0124  NaN
            return DASH
        if factor in labels.UNITS:
            return trimmed(self.numbers.format(Quantity(level, labels.UNITS[factor]), labels.spec(factor, level)))
        if factor == "study":
            return str(level)
        if isinstance(level, str):
            known = labels.NAMES if factor in ("metric", "op") else labels.NAMES | labels.LEVELS
            return self.translate(known.get(level, level))
        return self.numbers.format(values.plain(level))  # type: ignore[arg-type]

    def listed(self, points: pd.DataFrame, by: str = "backend", spec: str = "") -> str:
        """Return rows as text, such as "tcp 21.3 µs, unix 14.8 µs", one for each level of `by`; a dash without rows."""
        levels = labels.ordered(by, dict.fromkeys(points[by]))
        rows = [row for level in levels for row in points[points[by] == level].itertuples()]
        found = [row.cell if hasattr(row, "cell") else address.quantity(row) for row in rows]
        names = [self.level(by, getattr(row, by)) for row in rows]
        told = [f"{name} {self.numbers.format(each, spec)}" for name, each in zip(names, found, strict=True)]
        return self.translate(N_(", ")).join(told) or DASH

    def why_empty(self) -> str:
        """Return why a view is empty, in words."""
        reasons = list(dict.fromkeys(self.run.about.get("points", {}).values()))
        return f"{self.say(ABSENT)} {reasons[0] if reasons else ''}".strip()

    def choose(
        self,
        found: Quantity,
        bound: float,
        *,
        above: str,
        below: str,
        undecided: str,
        missing: str = ABSENT,
        told: str = "",
    ) -> str:
        """Return the sentence (a msgid) that the judge chooses: shown above the bound, below it, or neither.

        `told` leads each of them, such as the value itself; of what was not measured, `missing` alone is said.
        """
        alternatives = {judge.ABOVE: above, judge.BELOW: below, judge.UNDECIDED: undecided}
        chosen = alternatives.get(judge.side(found, bound))
        return " ".join(self.say(part) for part in ((told, chosen) if chosen else (missing,)) if part)
