"""The words of one language: gettext catalogues read as they are, English being the source."""

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Self

from ipclab.errors import LabError
from ipclab.paths import table_beside
from ipclab.plugins import chosen

LOCALE = Path(__file__).with_name("locale")  # the gettext catalogues
SOURCE = "en"
PACKAGE = "ipclab"  # the catalogue of the package; the others are of notebooks
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
        """Return the words of `lang`, those of notebooks before the package's; English has none.

        Raises `UsageError` for an unknown language, `LabError` for catalogues that are absent or no
        .po files.
        """
        if lang == SOURCE:
            return cls(lang)
        chosen("language", lang, LANGUAGES)
        folder = catalogue_path(lang, locale or LOCALE).parent
        files = sorted(
            folder.glob("*.po"), key=lambda file: (not file.stem.startswith(PACKAGE), file.stem)
        )
        if not files:
            fix = "run python -m ipclab.report.pages.words update"
            raise LabError(f"no {lang} catalogue", f"{folder} has none", fix)
        words: dict[str, str] = {}
        for file in files:
            words |= _read(file, file.stat().st_mtime_ns)
        return cls(lang, words)

    def translate(self, msgid: str) -> str:
        """Return the translation of `msgid`, or `msgid` itself where there is none.

        What only holds values gets the punctuation of the language.
        """
        said = self.words.get(msgid) or msgid
        if said == msgid and _VALUES.fullmatch(msgid):
            for mark, other in LANGUAGES[self.lang].get("punctuation", {}).items():
                said = said.replace(mark, other)
        return said


def catalogue_path(lang: str, locale: Path, domain: str = PACKAGE) -> Path:
    """Return where the .po file of `lang` for the package, or a notebook `domain`, lies."""
    return locale / lang / "LC_MESSAGES" / f"{domain}.po"


@cache
def _read(path: Path, _mtime_ns: int) -> dict[str, str]:
    from babel.messages.pofile import PoFileError, read_po

    try:
        with path.open("rb") as file:
            catalog = read_po(file, abort_invalid=True)
    except (PoFileError, ValueError) as error:
        raise LabError(f"cannot read {path}", str(error), "fix the .po file") from error
    final = [message for message in catalog if message.id and message.string and not message.fuzzy]
    return {str(message.id): str(message.string) for message in final}
