"""The nbconvert exporter `typstpdf`: `jupyter nbconvert --to typstpdf`."""

from ipclab.render import typst
from ipclab.render.compiler import compile_pdf
from ipclab.render.document import Document
from ipclab.render.exporter import DocumentExporter


class TypstPDFExporter(DocumentExporter):
    """An accessible, archivable PDF, by Typst."""

    output_mimetype = "application/pdf"
    export_from_notebook = "PDF via Typst"

    def _file_extension_default(self) -> str:
        return ".pdf"

    def convert(self, read: Document) -> bytes:
        """Return the PDF."""
        return compile_pdf(typst.source(read), read.date)
