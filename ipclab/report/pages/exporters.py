"""The nbconvert exporters: `jupyter nbconvert --to ipclabhtml | typstpdf`; reports' too."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nbconvert
from nbconvert.exporters import HTMLExporter
from nbconvert.exporters.exporter import Exporter, FilenameExtension
from traitlets import Bool, Unicode, default

from ipclab.errors import LabError
from ipclab.report.pages import page
from ipclab.report.pages.document import Document, read_document
from ipclab.report.pages.outputs import Lost
from ipclab.report.pages.typeset import compiled

STANDARDS: tuple[list[str], ...] = (
    ["ua-1", "a-3a"],
    ["a-3b"],
    [],
)  # the first that a document can fulfil


class OfDocument(Exporter):
    """What both exporters do: read a notebook as a `Document`, and say what it loses."""

    locale: Any = Unicode("", help="folder of the catalogues; the package's own when empty").tag(
        config=True
    )

    @contextmanager
    def document(self, nb: Any, resources: dict[str, Any] | None) -> Iterator[Document]:
        """Give the document of a notebook, and say on stderr what of it was lost.

        An error ends nbconvert with one line.
        """
        about = (resources or {}).get("metadata", {})
        locale = Path(self.locale) if self.locale else None
        try:
            name = str(about.get("name", ""))
            document = read_document(nb, Path(about.get("path", ".") or "."), locale, name)
            yield document
        except LabError as error:
            raise SystemExit(f"ipclab: {error}") from error
        for lost in dict.fromkeys([*document.lost, *document.asides]):
            print(f"ipclab: {document.title}: {lost}", file=sys.stderr)


class ReportHTMLExporter(OfDocument, HTMLExporter):
    """A standalone page: contents, scrolling tables, inline drawings, dark mode and print."""

    export_from_notebook = "HTML report"

    # A report has no code and no numbers of cells.
    exclude_input = exclude_input_prompt = exclude_output_prompt = Bool(True).tag(config=True)

    @default("template_name")
    def _template_name_default(self) -> str:
        return page.TEMPLATE

    @default("extra_template_basedirs")
    def _extra_template_basedirs_default(self) -> list[str]:
        return [str(page.TEMPLATES), *self.extra_template_paths]

    def get_prefix_root_dirs(self) -> list[str]:
        """Return where nbconvert is installed: a person's own templates change no page."""
        return [str(Path(nbconvert.__file__).parents[4] / "share/jupyter")]

    def from_notebook_node(  # type: ignore[override]
        self, nb: Any, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str, dict[str, Any]]:
        """Return (page, resources)."""
        with self.document(nb, resources) as document:
            return self._page(document, resources)

    def convert(self, document: Document) -> str:
        """Return the page, which loads nothing."""
        return self._page(document, None)[0]

    def _page(
        self, document: Document, resources: dict[str, Any] | None
    ) -> tuple[str, dict[str, Any]]:
        made = page.Page(document)
        asked = {**(resources or {}), "ipclab_page": made.about}
        shown, used = super().from_notebook_node(made.notebook, asked)
        used.pop("ipclab_page")
        return made.finished(shown), used


class TypstPDFExporter(OfDocument):
    """An accessible, archivable PDF, by Typst."""

    output_mimetype, export_from_notebook = "application/pdf", "PDF via Typst"
    file_extension = FilenameExtension(".pdf").tag(config=True)

    def from_notebook_node(  # type: ignore[override]  # nbconvert names another type
        self, nb: Any, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[bytes, dict[str, Any]]:
        """Return (content, resources)."""
        made = self._init_resources(resources)  # type: ignore[no-untyped-call]
        with self.document(nb, made) as document:
            return self.convert(document), made

    def convert(self, document: Document) -> bytes:
        """Return the document as PDF/UA-1 and PDF/A-3a, stamped with its date (UTC by default).

        What cannot be that, because of what somebody else made, is less, and says so.
        """
        moment = datetime.fromisoformat(document.date)
        stamp = int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
        for standards in STANDARDS:
            try:
                return bytes(
                    compiled(document, format="pdf", pdf_standards=standards, timestamp=stamp)
                )
            except LabError as error:
                if not standards:
                    raise
                refusal = error
                document.lose(Lost("standard", refusal.why), None)
        raise refusal
