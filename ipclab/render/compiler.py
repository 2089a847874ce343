"""The Typst compiler with our fonts and standards."""

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from ipclab.errors import LabError

EPOCH = "1970-01-01"  # of what no report has dated
STANDARDS: list[Any] = ["ua-1", "a-3a"]


def compile_pdf(source: str, date: str) -> bytes:
    """Return the PDF of Typst source, stamped with `date` (ISO 8601, UTC when it names no zone).

    It is PDF/UA-1 and PDF/A-3a: LabError when a glyph, an alt text or a title is missing.
    """
    import typst

    moment = datetime.fromisoformat(date or EPOCH)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    try:
        return typst.compile(
            source.encode(),
            format="pdf",
            font_paths=_fonts(),
            ignore_system_fonts=True,
            pdf_standards=STANDARDS,
            timestamp=int(moment.timestamp()),
        )
    except typst.TypstError as error:
        raise LabError("the PDF compiler refuses", error.message, " ".join(error.hints[:1])) from error


@cache
def _fonts() -> Any:
    import manimgx_fonts_cjk
    import typst

    folder = Path(manimgx_fonts_cjk.__file__).parent
    return typst.Fonts(include_system_fonts=False, font_paths=[str(folder)])
