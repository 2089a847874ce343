"""The words of one reader: what things are called in their language, and its numbers."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Self

import pandas as pd

from ipclab.errors import UsageError
from ipclab.stats.quantity import Quantity
from ipclab.words import labels
from ipclab.words.catalogue import LANGUAGES, N_, SOURCE, translations
from ipclab.words.numbers import Formatter, plain_value, trimmed

DASH = "–"
OF_SIZE = N_("files of {size}")
NOT_MEASURED = N_("Not measured in this run.")
_VALUES = re.compile(r"(?:\{[^{}]*\}|[^\w{}])+")


@dataclass(frozen=True)
class Words:
    """What is said in one language (ko, zh, en) by msgid, and what follows from that.

    A notebook runs once for all its readers: what these words say in English is noted for the
    `others`, who say it `again` when a figure, a table or a sentence that holds it is theirs.
    """

    lang: str
    words: dict[str, str] = field(default_factory=dict)
    others: "tuple[Words, ...]" = ()
    noted: dict[str, Callable[[], str]] = field(default_factory=dict, compare=False, repr=False)
    filled: set[str] = field(default_factory=set, compare=False, repr=False)  # with values in them

    @classmethod
    def load(cls, lang: str) -> Self:
        """Return the words of `lang`; of several ("en,ko,zh"), English ones and those of others.

        Raises what `translations` raises, and `UsageError` where English is not the first.
        """
        first, *more = (part.strip() for part in lang.split(","))
        words = translations(first)
        if more and first != SOURCE:
            raise UsageError(
                f"lang = {lang!r}",
                "of several languages the first is the source's",
                f"begin with {SOURCE!r}",
            )
        others = tuple(cls(each, translations(each)) for each in dict.fromkeys(more))
        return cls(first, words, others)

    @property
    def langs(self) -> list[str]:
        """Return the languages of all readers, that of these words first."""
        return [self.lang, *(other.lang for other in self.others)]

    def note(self, said: str, again: "Callable[[Words], str]") -> str:
        """Note how others say what was `said`; return it."""
        for other in self.others:
            other.noted[said] = partial(again, other)
        return said

    def again(self, said: str) -> str:
        """Return in this language what was said in the first one; else the text itself."""
        if (found := self.noted.pop(said, None)) is None:  # or it is being made
            return said
        self.noted[said] = partial(str, made := found())
        return made

    def translate(self, msgid: str) -> str:
        """Return the translation of `msgid`, or of what was said in the first language."""
        said = self._translated(msgid)
        for other in self.others:  # what was filled or joined before is said again as a whole
            other.noted.setdefault(said, partial(other._translated, msgid))
        return self.again(msgid) if said == msgid else said

    def _translated(self, msgid: str) -> str:
        """Return the translation of `msgid`, or `msgid` itself where there is none.

        What only holds values gets the punctuation of the language.
        """
        said = self.words.get(msgid) or msgid
        if said == msgid and _VALUES.fullmatch(msgid):
            for mark, other in LANGUAGES[self.lang].get("punctuation", {}).items():
                said = said.replace(mark, other)
        return said

    @cached_property
    def numbers(self) -> Formatter:
        """Return how quantities are written."""
        return NotingFormatter(self) if self.others else Formatter(self.lang, self.translate)

    def label(self, name: str) -> str:
        """Return what a factor, column, op or metric is called."""
        return self.translate(labels.NAMES.get(name, str(name)))

    def level(self, factor: str, level: Any) -> str:
        """Return how a level, or a list of them, is written: with its unit, words translated."""
        if isinstance(level, list | tuple):
            return self.joined(self.level(factor, item) for item in level) or DASH
        if pd.isna(level):
            return DASH
        if said := self._sized(factor, level):
            return self.note(said, lambda other: other.level(factor, level))
        if factor == "study":
            return str(level)
        if isinstance(level, str):
            own = {"metric": labels.NAMES, "op": labels.NAMES, "profile": labels.PROFILES}
            names = own.get(factor, labels.NAMES | labels.LEVELS)
            return self.translate(names.get(level, level))
        value = plain_value(level)
        return value if isinstance(value, str) else self.numbers.format(value)

    def _sized(self, factor: str, level: Any) -> str:
        """Return a level that has a unit; files that are all of one size by that; else nothing."""
        if factor in labels.UNITS:
            size = Quantity(level, labels.UNITS[factor])
            return trimmed(self.numbers.format(size, labels.spec(factor, level)))
        each = labels.size_of_each(factor, level)
        return self.translate(OF_SIZE).format(size=self.level("file_bytes", each)) if each else ""

    def joined(self, words: Iterable[str], by: str = N_(", ")) -> str:
        """Return words as a list with the language's comma, or with another separator (a msgid)."""
        parts = list(words)
        said = self.translate(by).join(parts)
        for other in self.others:  # now: one part is what is said
            other.noted[said] = partial(other.joined, [*map(other.again, parts)], by)
        return said


class NotingFormatter(Formatter):
    """Writes quantities as a formatter does, and notes how others write them."""

    def __init__(self, words: Words) -> None:
        super().__init__(words.lang, words.translate)
        self.words = words

    def format(self, quantity: Quantity, spec: str = "") -> str:
        """Return a quantity as `Formatter.format` writes it."""
        said = super().format(quantity, spec)
        return self.words.note(said, lambda other: other.numbers.format(quantity, spec))

    def number(self, value: float, decimals: int | None = None) -> str:
        """Return a number as `Formatter.number` writes it."""
        said = super().number(value, decimals)
        return self.words.note(said, lambda other: other.numbers.number(value, decimals))
