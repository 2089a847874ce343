"""A figure that was drawn: what a notebook shows of it, and what a report makes its page of."""

from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

FIGURE_MIME, PNG = "image/svg+xml", "image/png"
TITLE = "ipclab-title"  # marks the title that is shown above a drawing
FIGURES = "IPCLAB_FIGURES"  # set while a report is made: where its figures go


@dataclass(frozen=True)
class Figure:
    """An SVG drawing, translated `alt` and `caption`, file name without suffix, and its data.

    `drawn` names the studies and the number of rows that the helpers of `ipclab.marks.marks` drew.
    `png` (base64) is what JupyterLab shows of a notebook that somebody else has executed.
    """

    svg: str = field(repr=False)
    alt: str
    caption: str
    name: str
    drawn: dict[str, int] = field(default_factory=dict)
    png: str = field(default="", repr=False)

    def _ipython_display_(self) -> None:
        """Show the title, which a report sets itself, and below it the drawing."""
        from IPython.display import display

        title = f'<strong id="{self.name}">{escape(self.caption)}</strong>'
        data, metadata = self._repr_mimebundle_()
        display({"text/html": title}, metadata={TITLE: True}, raw=True)  # type: ignore[no-untyped-call]
        display(data, metadata=metadata, raw=True)  # type: ignore[no-untyped-call]

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        words = asdict(self)
        shown = {FIGURE_MIME: words.pop("svg"), PNG: words.pop("png"), "text/plain": self.caption}
        return {kind: data for kind, data in shown.items() if data}, {FIGURE_MIME: words}
