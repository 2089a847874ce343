"""The nbconvert exporters: `jupyter nbconvert --to ipclabhtml | typstpdf`; reports' too."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nbconvert.exporters.exporter import Exporter, FilenameExtension

from ipclab.errors import LabError
from ipclab.report.pages.document import Document, read_document
from ipclab.report.pages.page import page_of
from ipclab.report.pages.typeset import pdf_of


class OfDocument(Exporter):
    """What both exporters do: read a notebook as a `Document`, and say what it loses."""

    convert: Callable[[Document], str | bytes]

    def from_notebook_node(
        self, nb: Any, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Return (content, resources); say on stderr what of the notebook was lost.

        An error ends nbconvert with one line.
        """
        made = self._init_resources(resources)  # type: ignore[no-untyped-call]
        about = made.get("metadata", {})
        name, folder = str(about.get("name", "")), Path(about.get("path", ".") or ".")
        try:
            document = read_document(nb, folder, name)
            content = self.convert(document)
        except LabError as error:
            raise SystemExit(f"ipclab: {error}") from error
        for lost in dict.fromkeys(document.lost):
            print(f"ipclab: {document.title}: {lost}", file=sys.stderr)
        return content, made


class ReportHTMLExporter(OfDocument):
    """A standalone page: contents, scrolling tables, inline drawings, dark mode and print."""

    output_mimetype, export_from_notebook = "text/html", "HTML report"
    file_extension = FilenameExtension(".html").tag(config=True)
    convert = staticmethod(page_of)


class TypstPDFExporter(OfDocument):
    """An accessible, archivable PDF, by Typst."""

    output_mimetype, export_from_notebook = "application/pdf", "PDF via Typst"
    file_extension = FilenameExtension(".pdf").tag(config=True)
    convert = staticmethod(pdf_of)
