"""The Korean and Chinese letters of a page as a font inside it, for machines that have none."""

import io
import re
from base64 import b64encode
from functools import cache
from pathlib import Path
from typing import Any

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
    import uharfbuzz
    from fontTools.ttLib import TTFont

    asked = uharfbuzz.SubsetInput()
    asked.unicode_set.update(map(ord, letters))
    asked.layout_feature_tag_set.clear()
    asked.name_id_set.clear()
    asked.flags = uharfbuzz.SubsetFlags.NO_HINTING | uharfbuzz.SubsetFlags.NOTDEF_OUTLINE
    part = uharfbuzz.subset(_families()[family], asked)
    font = TTFont(io.BytesIO(part.blob.data), lazy=True, recalcBBoxes=False, recalcTimestamp=False)
    font.flavor = "woff"
    made = io.BytesIO()
    font.save(made)
    source = f"url(data:font/woff;base64,{b64encode(made.getvalue()).decode()})"
    return f'@font-face {{ font-family: "{FAMILY}"; src: {source} format("woff"); }}'


@cache
def _families() -> dict[str, Any]:
    """Return the fonts of Noto's collection by the name of their family."""
    import noto_cjk_sans_otc
    import uharfbuzz
    from fontTools.ttLib import TTCollection

    file = next(Path(noto_cjk_sans_otc.__file__).parent.rglob("*.ttc"))
    blob = uharfbuzz.Blob.from_file_path(str(file))
    with TTCollection(file, lazy=True) as every:
        names = [font["name"].getDebugName(4) for font in every.fonts]
    return {name: uharfbuzz.Face(blob, number) for number, name in enumerate(names)}
