"""The nbconvert exporter `typstpdf`: `jupyter nbconvert --to typstpdf`."""

from ipclab.report import typst
from ipclab.report.compiler import compile_pdf
from ipclab.report.document import Document
from ipclab.report.exporter import DocumentExporter


class TypstPDFExporter(DocumentExporter):
    """An accessible, archivable PDF, by Typst."""

    output_mimetype = "application/pdf"
    export_from_notebook = "PDF via Typst"

    def _file_extension_default(self) -> str:
        return ".pdf"

    def convert(self, read: Document) -> bytes:
        """Return the PDF."""
        return compile_pdf(typst.source(read), read.date)
