"""A figure in the making: axes for a cell, saved and shown with its words when the cell has drawn."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure as Canvas

from ipclab.errors import LabError
from ipclab.lab import style
from ipclab.store.files import write_whole

if TYPE_CHECKING:
    from ipclab.lab.lab import Lab

MIME = "image/svg+xml"
LEGEND_COLUMNS = 6


@dataclass(frozen=True)
class Figure:
    """An SVG drawing, its translated `alt` and `caption`, its file name without suffix, and what it was drawn from.

    `drawn` names the studies and the number of rows that the helpers of `ipclab.lab.drawing` drew.
    """

    svg: str
    alt: str
    caption: str
    name: str
    drawn: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise LabError when there is no alt text."""
        if not self.alt.strip():
            raise LabError(f"figure {self.name!r}", "it has no alt text", "say in words what it shows")

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        words = {"alt": self.alt, "caption": self.caption, "name": self.name, "drawn": self.drawn}
        return {MIME: self.svg, "text/plain": self.caption}, {MIME: words}


class Drawing:
    """What `lab.figure` returns: a context that gives the axes, then saves SVG, PNG and PDF and shows the figure."""

    def __init__(
        self, lab: "Lab", name: str, title: str, alt: str, size: tuple[float, float], panels: int | tuple[int, int], share: str
    ) -> None:
        """Keep the words (msgids already translated, placeholders still open) and the layout."""
        self.lab, self.name, self.title, self.alt = lab, name, title, alt
        self.size, self.panels, self.share = size, panels, share
        self.result: Figure | None = None

    def __enter__(self) -> Any:
        """Return the axes: one, or an array of them when several panels were asked for."""
        self._settings = mpl.rc_context(style.settings(self.lab.lang))
        self._settings.__enter__()
        self.canvas = Canvas(figsize=self.size)
        # What the helpers of `ipclab.lab.drawing` use: the lab, what was drawn, and what waits for the final layout.
        self.canvas.lab, self.canvas.drawn, self.canvas.later = self.lab, {}, []  # type: ignore[attr-defined]
        rows, columns = self.panels if isinstance(self.panels, tuple) else (1, max(1, self.panels))
        shared = {"sharex": "x" in self.share, "sharey": "y" in self.share}
        axes = self.canvas.subplots(rows, columns, squeeze=False, **shared)
        return axes[0, 0] if self.panels == 1 else axes[0] if isinstance(self.panels, int) else axes

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Add the legend, save the files, and show the figure; after an error nothing is saved."""
        try:
            if kind is None:
                self._add_legend()
                self._finish()
        finally:
            self._settings.__exit__(kind, error, at)

    def _add_legend(self) -> None:
        if self.canvas.legends or any(axes.get_legend() for axes in self.canvas.axes):
            return
        found = {label: handle for axes in self.canvas.axes for handle, label in zip(*axes.get_legend_handles_labels())}
        if found:
            columns = min(len(found), LEGEND_COLUMNS)
            self.canvas.legend(list(found.values()), list(found), loc="outside lower center", ncols=columns, fontsize=8)

    def _finish(self) -> None:
        from IPython.display import display

        for draw in self.canvas.later:  # type: ignore[attr-defined]
            draw()
        words = self.lab.say(self.alt), self.lab.say(self.title)
        with style.no_missing_glyphs():
            svg, png = style.svg(self.canvas), style.png(self.canvas)
        self.result = Figure(svg, *words, self.name, dict(self.canvas.drawn))  # type: ignore[attr-defined]
        stem = self.lab.figures / f"{self.name}.{self.lab.lang}"
        makers: dict[str, Callable[[], bytes]] = {"svg": svg.encode, "png": lambda: png, "pdf": lambda: style.pdf(svg)}
        for suffix, make in makers.items():
            write_whole(Path(f"{stem}.{suffix}"), make())
        display(self.result)  # type: ignore[no-untyped-call]
