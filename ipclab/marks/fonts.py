"""The fonts of figures, which have the letters of all languages."""

from functools import cache
from importlib.resources import files

from matplotlib import font_manager

from ipclab.words.catalogue import LANGUAGES


@cache
def load_fonts() -> None:
    """Make all languages' fonts known to matplotlib; `ValueError` when one is not there."""
    import noto_cjk_sans_otc

    for entry in files(noto_cjk_sans_otc).iterdir():
        if entry.name.endswith(".ttc"):
            font_manager.fontManager.addfont(str(entry))
    for language in LANGUAGES.values():
        font_manager.findfont(language["font"], fallback_to_default=False)


def family(lang: str) -> dict[str, list[str]]:
    """Return matplotlib's setting of the font for readers of `lang`."""
    load_fonts()
    return {"font.family": [LANGUAGES[lang]["font"]]}
