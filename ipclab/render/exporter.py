"""What both nbconvert exporters share: an executed notebook is read as a document first."""

from pathlib import Path
from typing import Any

from nbconvert.exporters import Exporter
from traitlets import Unicode

from ipclab.errors import LabError
from ipclab.render import document


class DocumentExporter(Exporter):
    """An exporter of `document.Document`; subclasses say what becomes of it."""

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
