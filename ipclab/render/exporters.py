"""The nbconvert exporters: `jupyter nbconvert --to ipclabhtml | typstpdf`; reports' too."""

from base64 import b64encode
from datetime import UTC, datetime
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from markdown_it.token import Token
from nbconvert.exporters import Exporter
from nbconvert.exporters.exporter import FilenameExtension
from traitlets import Unicode

from ipclab.errors import LabError
from ipclab.lab import prose
from ipclab.render import svg
from ipclab.render.document import WORDS, Document, read
from ipclab.render.typeset import compiled, printed_date

EPOCH = "1970-01-01"  # of what no report has dated


class DocumentExporter(Exporter):
    """An exporter of an executed notebook, read as a `Document`; subclasses convert it."""

    locale = Unicode("", help="folder of the catalogues; the package's own when empty").tag(
        config=True
    )

    def convert(self, document: Document) -> str | bytes:
        """Return the document in the exporter's format."""
        raise NotImplementedError

    def from_notebook_node(  # type: ignore[override]  # nbconvert names another type
        self, nb: Any, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str | bytes, dict[str, Any]]:
        """Return (content, resources); what a report cannot show ends nbconvert with one line.

        Raises LabError instead when `resources` say that a report asks (`ipclab`).
        """
        nb, resources_made = super().from_notebook_node(nb, resources, **kw)
        folder = Path(resources_made.get("metadata", {}).get("path", ".") or ".")
        locale = Path(self.locale) if self.locale else None
        try:
            return self.convert(read(nb, folder, locale)), resources_made
        except LabError as error:
            if resources_made.get("ipclab"):
                raise
            raise SystemExit(f"ipclab: {error}") from error


class ReportHTMLExporter(DocumentExporter):
    """A standalone page: contents, scrolling tables, inline drawings, dark mode and print."""

    output_mimetype, export_from_notebook = "text/html", "HTML report"
    file_extension = FilenameExtension(".html").tag(config=True)

    def convert(self, document: Document) -> str:
        """Return the page, which loads nothing; the template escapes what was not made here."""
        from jinja2 import Environment, PackageLoader, StrictUndefined

        environment = Environment(
            loader=PackageLoader("ipclab.render"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
        )
        script = files("ipclab.render").joinpath("templates/report.js").read_text("utf-8")
        return environment.get_template("report.html").render(
            document=document,
            date=printed_date(document),
            words={key: document.translate(word) for key, word in WORDS["page"].items()},
            html=lambda tokens: prose.to_html([_lowered(token) for token in tokens]),
            inline=svg.inline,
            script=script,
            digest=f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}",
        )


def _lowered(token: Token) -> Token:
    """Return a heading one level lower, anything else as it is: the page's title is its h1."""
    if not token.type.startswith("heading_"):
        return token
    level = min(6, int(token.tag[1]) + 1)
    return token.copy(tag=f"h{level}")


class TypstPDFExporter(DocumentExporter):
    """An accessible, archivable PDF, by Typst."""

    output_mimetype, export_from_notebook = "application/pdf", "PDF via Typst"
    file_extension = FilenameExtension(".pdf").tag(config=True)

    def convert(self, document: Document) -> bytes:
        """Return the document as PDF/UA-1 and PDF/A-3a, stamped with its date (UTC by default)."""
        moment = datetime.fromisoformat(document.date or EPOCH)
        stamp = int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
        return bytes(
            compiled(document, format="pdf", pdf_standards=["ua-1", "a-3a"], timestamp=stamp)
        )
