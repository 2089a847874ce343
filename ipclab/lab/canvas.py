"""A figure in the making: axes for a cell, saved and shown with its words when the cell has drawn."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
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

    svg: str = field(repr=False)
    alt: str
    caption: str
    name: str
    drawn: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.alt.strip():
            raise LabError(f"figure {self.name!r}", "it has no alt text", "say in words what it shows")

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        words = {"alt": self.alt, "caption": self.caption, "name": self.name, "drawn": self.drawn}
        return {MIME: self.svg, "text/plain": self.caption}, {MIME: words}


@contextmanager
def blank(lab: "Lab", size: tuple[float, float]) -> Iterator[Any]:
    """Give an empty canvas of `size` (inches) for readers of the lab's language, as the helpers of drawing need it."""
    settings: Any = style.settings(lab.lang)
    with mpl.rc_context(settings):
        canvas: Any = Canvas(figsize=size)
        # The lab, what was drawn, whether axes had nothing to draw, what waits for the final layout, what marks tell.
        canvas.lab, canvas.drawn, canvas.bare, canvas.later, canvas.hover = lab, {}, False, [], []
        canvas.strokes, canvas.extent = {}, {}  # the lines' looks by level; the values that logarithmic axes show
        yield canvas


def complete(canvas: Any) -> str:
    """Add what waits for the final layout (the legend, where axes have none, names beside lines); return the SVG."""
    if not canvas.legends and not any(axes.get_legend() for axes in canvas.axes):
        handles = [axes.get_legend_handles_labels() for axes in canvas.axes]
        found = {label: handle for shown in handles for handle, label in zip(*shown, strict=True)}
        if found:
            columns = min(len(found), LEGEND_COLUMNS)
            canvas.legend(list(found.values()), list(found), loc="outside lower center", ncols=columns, fontsize=8)
    for draw in canvas.later:
        draw()
    return style.svg(canvas)


@contextmanager
def drawing(
    lab: "Lab", name: str, title: str, *, alt: str,
    size: tuple[float, float] = (7.0, 3.6), panels: int | tuple[int, int] = 1, share: str = "",
) -> Iterator[Any]:  # fmt: skip
    """Give axes to draw into; the figure is then saved as SVG, PNG and PDF below `lab.figures` and shown.

    `title` and `alt` are msgids whose placeholders are filled like prose; `panels` is a number of axes side by side
    or (rows, columns), `share` the axes that they share ("x", "y").

    >>> with lab.figure("payload-bandwidth", _("How much moves in a second?"), alt=_("...")) as ax:
    ...     lines(bandwidth, x="size_bytes", hue="backend", ax=ax, log="xy")
    """
    from IPython.display import display

    np.random.seed(0)  # seaborn's jitter and bootstraps: a figure is drawn the same way each time
    with blank(lab, size) as canvas:
        rows, columns = panels if isinstance(panels, tuple) else (1, max(1, panels))
        axes = canvas.subplots(rows, columns, squeeze=False, sharex="x" in share, sharey="y" in share)
        yield axes[0, 0] if panels == 1 else axes[0] if isinstance(panels, int) else axes
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="Glyph .* missing")
            svg, png = complete(canvas), style.png(canvas)
        told = lab.why_empty() if canvas.bare and not canvas.drawn else lab.say(alt)
        made = Figure(svg, told, lab.say(title), name, dict(canvas.drawn))
        for suffix, content in {"svg": svg.encode(), "png": png, "pdf": style.pdf(svg)}.items():
            write_whole(lab.figures / f"{name}.{lab.lang}.{suffix}", content)
        display(made)  # type: ignore[no-untyped-call]
