"""The words of one reader: what things are called in their language, and its numbers."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from ipclab.stats.quantity import Quantity
from ipclab.words import labels
from ipclab.words.catalogue import N_, Catalogue
from ipclab.words.numbers import Formatter, plain_value, trimmed

DASH = "–"
ABSENT = N_("Not measured in this run.")


@dataclass(frozen=True)
class Words(Catalogue):
    """The catalogue of one language (ko, zh, en), and what follows from it."""

    @cached_property
    def numbers(self) -> Formatter:
        """Return how quantities are written."""
        return Formatter(self.lang, self.translate)

    def label(self, name: str) -> str:
        """Return what a factor, column, op or metric is called."""
        return self.translate(labels.NAMES.get(name, str(name)))

    def level(self, factor: str, level: Any) -> str:
        """Return how a level, or a list of them, is written: with its unit, words translated."""
        if isinstance(level, list | tuple):
            return self.joined(self.level(factor, item) for item in level) or DASH
        if pd.isna(level):
            return DASH
        if factor in labels.UNITS:
            size = Quantity(level, labels.UNITS[factor])
            return trimmed(self.numbers.format(size, labels.spec(factor, level)))
        if factor == "study":
            return str(level)
        if isinstance(level, str):
            names = labels.NAMES if factor in ("metric", "op") else labels.NAMES | labels.LEVELS
            return self.translate(names.get(level, level))
        value = plain_value(level)
        return value if isinstance(value, str) else self.numbers.format(value)

    def joined(self, words: Iterable[str], by: str = N_(", ")) -> str:
        """Return words as a list with the language's comma, or with another separator (a msgid)."""
        return self.translate(by).join(words)
