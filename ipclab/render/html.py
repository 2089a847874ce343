"""The nbconvert exporter `ipclabhtml`: `jupyter nbconvert --to ipclabhtml`."""

from ipclab.render.document import Document
from ipclab.render.exporter import DocumentExporter
from ipclab.render.page import page


class ReportHTMLExporter(DocumentExporter):
    """A standalone page: contents, tables that scroll by themselves, inline drawings, light, dark and print."""

    output_mimetype = "text/html"
    export_from_notebook = "HTML report"

    def _file_extension_default(self) -> str:
        return ".html"

    def convert(self, read: Document) -> str:
        """Return the page."""
        return page(read)
