"""The gettext catalogues of the languages, read as they are: the package's and the notebooks'."""

from functools import cache
from pathlib import Path

from ipclab.errors import LabError
from ipclab.words.ours import LOCALE

PACKAGE = "ipclab"


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


def words_of(lang: str, locale: Path | None = None) -> dict[str, str]:
    """Return msgid -> msgstr of `lang`; the notebooks' words come before the package's.

    Raises `LabError` for catalogues that are absent or no .po files.
    """
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
    return words
