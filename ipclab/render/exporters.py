"""The nbconvert exporters: `jupyter nbconvert --to ipclabhtml | typstpdf`; `make report` goes through them too."""

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from nbconvert.exporters import Exporter
from traitlets import Unicode

from ipclab.errors import LabError
from ipclab.render import document, typst
from ipclab.render.page import page

STANDARDS: list[Any] = ["ua-1", "a-3a"]
EPOCH = "1970-01-01"  # of what no report has dated


class DocumentExporter(Exporter):
    """An exporter of an executed notebook, read as a `document.Document` first; subclasses say what becomes of it."""

    locale = Unicode("", help="folder of the catalogues; the package's own when empty").tag(config=True)

    def convert(self, read: document.Document) -> str | bytes:
        """Return the document in the exporter's format."""
        raise NotImplementedError

    def from_notebook_node(  # type: ignore[override]  # nbconvert names another type
        self, nb: Any, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str | bytes, dict[str, Any]]:
        """Return (content, resources); what a report cannot show ends nbconvert with one line.

        Raises LabError instead when `resources` say that a report asks (`ipclab`).
        """
        nb, found = super().from_notebook_node(nb, resources, **kw)
        folder = Path(found.get("metadata", {}).get("path", ".") or ".")
        try:
            return self.convert(document.read(nb, folder, Path(self.locale) if self.locale else None)), found
        except LabError as error:
            if found.get("ipclab"):
                raise
            raise SystemExit(f"ipclab: {error}") from error


class ReportHTMLExporter(DocumentExporter):
    """A standalone page: contents, tables that scroll by themselves, inline drawings, light, dark and print."""

    output_mimetype, export_from_notebook = "text/html", "HTML report"

    def _file_extension_default(self) -> str:
        return ".html"

    def convert(self, read: document.Document) -> str:
        """Return the page."""
        return page(read)


class TypstPDFExporter(DocumentExporter):
    """An accessible, archivable PDF, by Typst."""

    output_mimetype, export_from_notebook = "application/pdf", "PDF via Typst"

    def _file_extension_default(self) -> str:
        return ".pdf"

    def convert(self, read: document.Document) -> bytes:
        """Return the PDF."""
        return compile_pdf(typst.source(read), read.date)


def compile_pdf(source: str, date: str) -> bytes:
    """Return the PDF of Typst source, stamped with `date` (ISO 8601, UTC when it names no zone).

    It is PDF/UA-1 and PDF/A-3a: LabError when a glyph, an alt text or a title is missing.
    """
    from typst import TypstError
    from typst import compile as compiled

    moment = datetime.fromisoformat(date or EPOCH)
    stamp = int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    options: dict[str, Any] = {"font_paths": _fonts(), "pdf_standards": STANDARDS, "timestamp": stamp}
    try:
        return bytes(compiled(source.encode(), format="pdf", ignore_system_fonts=True, **options))
    except TypstError as error:
        raise LabError("the PDF compiler refuses", error.message, " ".join(error.hints[:1])) from error


@cache
def _fonts() -> Any:
    import manimgx_fonts_cjk
    from typst import Fonts

    return Fonts(include_system_fonts=False, font_paths=[str(Path(manimgx_fonts_cjk.__file__).parent)])
