"""The Korean and Chinese letters of a page as a font inside it, for machines that have none."""

import io
import re
from base64 import b64encode
from functools import cache
from pathlib import Path

from ipclab.words.catalogue import LANGUAGES

FAMILY = "ipclab CJK"  # after those of the machine in `report.css`
MARK = "/*fonts*/"  # where the style of a page takes it
_LETTERS = re.compile("[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]")
_TAGS = re.compile(r"<style>.*?</style>|<script>.*?</script>|<[^>]+>", re.DOTALL)


def with_letters(page: str, lang: str) -> str:
    """Return a page of HTML whose style has a font with the letters that it shows."""
    letters = "".join(sorted({*_LETTERS.findall(_TAGS.sub("", page))}))
    face = _face(letters, LANGUAGES[lang]["font"]) if letters else ""
    return page.replace(MARK, face, 1)


@cache
def _face(letters: str, family: str) -> str:
    """Return the style sheet's rule for a font with `letters` of a `family` of Noto's alone."""
    import noto_cjk_sans_otc
    from fontTools import subset
    from fontTools.ttLib import TTCollection, TTFont

    file = next(Path(noto_cjk_sans_otc.__file__).parent.rglob("*.ttc"))
    with TTCollection(file, lazy=True) as every:
        named = [font["name"].getDebugName(4) for font in every.fonts]
    font = TTFont(file, fontNumber=named.index(family), lazy=True, recalcTimestamp=False)
    options = subset.Options(layout_features=[], hinting=False, name_IDs=[], notdef_outline=True)
    subsetter = subset.Subsetter(options)
    subsetter.populate(text=letters)
    subsetter.subset(font)
    font.flavor = "woff"
    made = io.BytesIO()
    font.save(made)
    source = f"url(data:font/woff;base64,{b64encode(made.getvalue()).decode()})"
    return f'@font-face {{ font-family: "{FAMILY}"; src: {source} format("woff"); }}'
