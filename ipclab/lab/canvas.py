"""A figure in the making: axes for a cell, saved and shown with its words when the cell has drawn."""

import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axis import Axis
from matplotlib.figure import Figure as Canvas
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator

from ipclab.errors import LabError
from ipclab.lab import style
from ipclab.lab.data import Data, why_empty
from ipclab.store.files import write_whole

MIME = "image/svg+xml"
LEGEND_COLUMNS = 6
FIGURES = "IPCLAB_FIGURES"  # set while a report is made: where its figures go


@dataclass(frozen=True)
class Figure:
    """An SVG drawing, its translated `alt` and `caption`, its file name without suffix, and what it
    was drawn from.

    `drawn` names the studies and the number of rows that the helpers of `ipclab.lab.marks` drew.
    """

    svg: str = field(repr=False)
    alt: str
    caption: str
    name: str
    drawn: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.alt.strip():
            raise LabError(
                f"figure {self.name!r}",
                "it has no alt text",
                "say in words what it shows",
            )

    def _ipython_display_(self) -> None:
        """Show the title, which a report sets itself, and below it the drawing."""
        from IPython.display import display

        title = f"<strong>{escape(self.caption)}</strong>"
        data, metadata = self._repr_mimebundle_()
        display({"text/html": title}, raw=True)  # type: ignore[no-untyped-call]
        display(data, metadata=metadata, raw=True)  # type: ignore[no-untyped-call]

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        words = {
            "alt": self.alt,
            "caption": self.caption,
            "name": self.name,
            "drawn": self.drawn,
        }
        return {MIME: self.svg, "text/plain": self.caption}, {MIME: words}


_HAN, _LATIN = "[\u4e00-\u9fff]", "[A-Za-z0-9]"
APART = re.compile(f"(?<={_HAN})(?={_LATIN})|(?<={_LATIN})(?={_HAN})")


def named(names: Mapping[Any, str] | Iterable[str]) -> Mapping[Any, str]:
    """Return what levels are called (msgids); levels that are listed are called what they are."""
    return names if isinstance(names, Mapping) else {name: name for name in names}


@contextmanager
def blank(
    lab: Data, size: tuple[float, float], names: Mapping[Any, str] | Iterable[str] = ()
) -> Iterator[Any]:
    """Give an empty canvas of `size` (inches) for readers of the lab's language, as the helpers of
    drawing need it.

    `names` are what levels are called (msgids) where that is not what they are called elsewhere.
    """
    settings: Any = style.settings(lab.words.lang)
    with mpl.rc_context(settings):
        canvas: Any = Canvas(figsize=size)
        # The lab, what was drawn, whether axes had nothing to draw, what waits for the final
        # layout, what marks tell.
        canvas.lab, canvas.drawn, canvas.bare, canvas.later, canvas.hover = (
            lab,
            {},
            False,
            [],
            [],
        )
        # how far the data of each axis reach
        canvas.names, canvas.data_ends = named(names), {}
        # the lines' looks by level; the values that logarithmic axes show
        canvas.strokes, canvas.extent = {}, {}
        yield canvas


def complete(canvas: Any) -> str:
    """Add what waits for the final layout (the legend, where axes have none, names beside lines);
    return the SVG.
    """
    if not canvas.legends and not any(axes.get_legend() for axes in canvas.axes):
        handles = [axes.get_legend_handles_labels() for axes in canvas.axes]
        found = {label: handle for shown in handles for handle, label in zip(*shown, strict=True)}
        if found:
            columns = min(len(found), LEGEND_COLUMNS)
            canvas.legend(
                list(found.values()),
                list(found),
                loc="outside lower center",
                ncols=columns,
                fontsize=8,
            )
    _translate(canvas)
    for draw in canvas.later:
        draw()
    if canvas.lab.words.lang == "zh":
        _space(canvas)
    return style.svg(canvas)


def _translate(canvas: Any) -> None:
    """Translate what a notebook gave to matplotlib as it is: labels, titles, a legend's words. Not
    mathematics.
    """
    for text in canvas.findobj(Text):
        words = text.get_text()
        if words and "$" not in words:
            text.set_text(canvas.lab.say(words))


def _space(canvas: Any) -> None:
    """Set Chinese apart from Latin letters and digits, as pages and print do by themselves."""
    for text in canvas.findobj(Text):
        text.set_text(APART.sub(" ", text.get_text()))
    for axis in canvas.findobj(Axis):
        if isinstance(
            axis.get_major_locator(), FixedLocator
        ):  # whose labels are written anew at each drawing
            written = [label.get_text() for label in axis.get_ticklabels()]
            axis.set_ticklabels([APART.sub(" ", label) for label in written])


@contextmanager
def drawing(
    lab: Data, name: str, title: str, *, alt: str = "",
    names: Mapping[Any, str] | Iterable[str] = (),
    size: tuple[float, float] = (7.0, 3.6), panels: int | tuple[int, int] = 1, share: str = "",
) -> Iterator[Any]:  # fmt: skip
    """Give axes to draw into; the figure is then saved as SVG, PNG and PDF, and shown.

    `title`, `alt` (the title, where it is not given) and every label that is drawn are msgids: they
    are translated here, and placeholders filled like those of prose. So are `names`: what levels
    are called in this figure (in a list: what they are). `panels` is a number of axes side by side
    or (rows, columns), `share` the axes that they share ("x", "y").

    >>> with lab.figure("payload-bandwidth", "How much moves in a second?", alt="...") as ax:
    ...     lines(bandwidth, x="size_bytes", hue="backend", ax=ax, log="xy")
    """
    from IPython.display import display

    np.random.seed(0)  # seaborn's jitter and bootstraps: a figure is drawn the same way each time
    with blank(lab, size, names) as canvas:
        rows, columns = panels if isinstance(panels, tuple) else (1, max(1, panels))
        axes = canvas.subplots(
            rows, columns, squeeze=False, sharex="x" in share, sharey="y" in share
        )
        yield axes[0, 0] if panels == 1 else axes[0] if isinstance(panels, int) else axes
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="Glyph .* missing")
            svg, png = complete(canvas), style.png(canvas)
        nothing = canvas.bare and not canvas.drawn
        alt_text = why_empty(lab) if nothing else lab.say(alt or title)
        figure = Figure(svg, alt_text, lab.say(title), name, dict(canvas.drawn))
        folder = Path(os.environ.get(FIGURES) or lab.paths.figures / "lab")
        contents = {"svg": svg.encode(), "png": png, "pdf": style.pdf(svg)}
        for suffix, content in contents.items():
            write_whole(folder / f"{name}.{lab.words.lang}.{suffix}", content)
        display(figure)  # type: ignore[no-untyped-call]
