"""The words of one language: gettext catalogues read as they are, English being the source."""

from functools import cache
from pathlib import Path

from ipclab.errors import LabError
from ipclab.paths import table_beside
from ipclab.plugins import chosen

LOCALE = Path(__file__).with_name("locale")  # the gettext catalogues
SOURCE = "en"
PACKAGE = "ipclab"  # the catalogue of the package; the others are of notebooks
LANGUAGES = table_beside(__file__, "languages.toml")


def N_(text: str) -> str:  # noqa: N802 - gettext's own name
    """Return `text`; marks it as a msgid that is translated where it is shown."""
    return text


def translations(lang: str, locale: Path | None = None) -> dict[str, str]:
    """Return what is said in `lang` by msgid, of notebooks before the package's; English has none.

    Raises `UsageError` for an unknown language, `LabError` for catalogues that are absent or no
    .po files.
    """
    words: dict[str, str] = {}
    if lang == SOURCE:
        return words
    chosen("language", lang, LANGUAGES)
    folder = catalogue_path(lang, locale or LOCALE).parent
    files = sorted(
        folder.glob("*.po"), key=lambda file: (not file.stem.startswith(PACKAGE), file.stem)
    )
    if not files:
        fix = "run python -m ipclab.report.pages.words update"
        raise LabError(f"no {lang} catalogue", f"{folder} has none", fix)
    for file in files:
        words |= _read(file, file.stat().st_mtime_ns)
    return words


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
