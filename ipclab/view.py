"""What a table or a figure is made from: a run's facts and rows, and the language of its reader."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ipclab.claims.claim import Claim
from ipclab.facts.comparisons import Contest
from ipclab.facts.fact import Fact
from ipclab.facts.rows import Row, Rows
from ipclab.report import prose
from ipclab.report.catalogue import Catalogue
from ipclab.report.numbers import Formatter
from ipclab.runs.samples import decode
from ipclab.stats.intervals import Samples


@dataclass(frozen=True)
class View:
    """Data of one run for readers of one language. `about` is the run's `run.json`, `claims` are a person's own."""

    lang: str
    about: Mapping[str, Any]
    facts: Mapping[str, Fact]
    rows: Rows
    catalogue: Catalogue
    numbers: Formatter
    folder: Path
    contests: Sequence[Contest] = ()
    claims: Sequence[Claim] = ()

    def samples(self, study: str, point: str, op: str) -> Samples:
        """Return all raw samples (ns of one operation) of one op of a point, launch after launch."""
        measured = decode(self.folder / "points" / study / f"{point}.parquet")
        return np.concatenate([launch.times(op) for launch in measured.launches])

    def say(self, msgid: str, **figures: Fact | str) -> str:
        """Return `msgid` in the reader's language, its placeholders filled from `figures`, then from the facts."""
        text = self.catalogue.translate(msgid)
        return prose.fill_plain(text, {**self.facts, **figures}, self.numbers) if "{" in text else text

    def fact(self, name: str, spec: str = "") -> str:
        """Return the fact `name` as text."""
        return self.numbers.format(self.facts[name], spec)

    def cell(self, row: Row | None, spec: str = "interval") -> str:
        """Return a row's value with its interval, or a dash when it was not measured."""
        if row is None:
            return "–"
        found, unit = row.estimate, "count" if row.unit == "1/op" else row.unit
        return self.numbers.format(Fact(row.metric, found.value, unit, low=found.low, high=found.high), spec)

    def value(self, value: float, unit: str, spec: str = "") -> str:
        """Return a number with its unit."""
        return self.numbers.format(Fact("value", float(value), unit), spec)
