"""Pages hold the Korean and Chinese letters that they show, for machines without a font for them."""

import io
import re
from base64 import b64decode

import pytest
from fontTools.ttLib import TTFont

from ipclab.report.pages.exporters import ReportHTMLExporter
from tests.support.foreign import notebook

SOURCE = re.compile(r"@font-face \{[^}]*url\(data:font/woff;base64,([^)]+)\)")


def page(lang: str, text: str) -> str:
    told = notebook(f"# T\n\n{text}", ipclab={"lang": lang, "date": "2026-11-21"})
    return str(ReportHTMLExporter().from_notebook_node(told)[0])


@pytest.mark.parametrize(
    ("lang", "text"),
    [("ko", "쓰기 한 번의 비용"), ("zh", "一次写入，的代价。"), ("en", "quoted: “공유”")],
)
def test_a_page_holds_a_font_with_the_letters_that_it_shows(lang: str, text: str) -> None:
    made = page(lang, text)
    font = TTFont(io.BytesIO(b64decode(SOURCE.findall(made)[0])))
    held = {chr(code) for code in font.getBestCmap()}
    assert {letter for letter in text if ord(letter) >= 0x2E80} <= held
    assert not held & set("abc012")  # Latin letters are the machine's
    assert "font-src data:" in made and '"ipclab CJK", sans-serif' in made


def test_a_page_without_such_letters_holds_no_font() -> None:
    assert not SOURCE.search(page("en", "All Latin."))
    assert "/*fonts*/" not in page("en", "All Latin.")
