"""The words of one language: gettext catalogues read as they are, English being the source."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from ipclab.paths import table_beside
from ipclab.plugins import chosen
from ipclab.words.pofiles import words_of

SOURCE = "en"
LANGUAGES = table_beside(__file__, "languages.toml")
_VALUES = re.compile(r"(?:\{[^{}]*\}|[^\w{}])+")


def N_(text: str) -> str:  # noqa: N802 - gettext's own name
    """Return `text`; marks it as a msgid that is translated where it is shown."""
    return text


@dataclass(frozen=True)
class Catalogue:
    """Translations of one language, `words` from msgid to msgstr; English needs none."""

    lang: str
    words: dict[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, lang: str, locale: Path | None = None) -> Self:
        """Return the words of `lang`; English needs no catalogue.

        Raises `UsageError` for an unknown language, `LabError` for catalogues that are absent or no
        .po files.
        """
        if lang == SOURCE:
            return cls(lang)
        chosen("language", lang, LANGUAGES)
        return cls(lang, words_of(lang, locale))

    def translate(self, msgid: str) -> str:
        """Return the translation of `msgid`, or `msgid` itself where there is none.

        What only holds values gets the punctuation of the language.
        """
        said = self.words.get(msgid) or msgid
        if said == msgid and _VALUES.fullmatch(msgid):
            punctuation = LANGUAGES[self.lang].get("punctuation", {})
            for mark, other in punctuation.items():
                said = said.replace(mark, other)
        return said
