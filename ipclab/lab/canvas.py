"""A figure in the making: axes for a cell, saved and shown once the cell has drawn."""

import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axis import Axis
from matplotlib.figure import Figure as Canvas
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator

from ipclab.lab import formats, style
from ipclab.lab.data import ABSENT, Data
from ipclab.store.files import write_whole

Names = Mapping[Any, str] | Iterable[str]  # what levels are called, or those called as they are
MIME = "image/svg+xml"
LEGEND_COLUMNS = 6
FIGURES = "IPCLAB_FIGURES"  # set while a report is made: where its figures go
_HAN, _LATIN = "[\u4e00-\u9fff]", "[A-Za-z0-9]"
_HAN_BESIDE_LATIN = re.compile(f"(?<={_HAN})(?={_LATIN})|(?<={_LATIN})(?={_HAN})")


@dataclass(frozen=True)
class Figure:
    """An SVG drawing, translated `alt` and `caption`, file name without suffix, and its data.

    `drawn` names the studies and the number of rows that the helpers of `ipclab.lab.marks` drew.
    """

    svg: str = field(repr=False)
    alt: str
    caption: str
    name: str
    drawn: dict[str, int] = field(default_factory=dict)

    def _ipython_display_(self) -> None:
        """Show the title, which a report sets itself, and below it the drawing."""
        from IPython.display import display

        title = f"<strong>{escape(self.caption)}</strong>"
        data, metadata = self._repr_mimebundle_()
        display({"text/html": title}, raw=True)  # type: ignore[no-untyped-call]
        display(data, metadata=metadata, raw=True)  # type: ignore[no-untyped-call]

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        words = asdict(self)
        return {MIME: words.pop("svg"), "text/plain": self.caption}, {MIME: words}


def named(names: Names) -> Mapping[Any, str]:
    """Return what levels are called (msgids); levels that are listed are called what they are."""
    return names if isinstance(names, Mapping) else {name: name for name in names}


@contextmanager
def blank(
    lab: Data,
    size: tuple[float, float],
    names: Names = (),
) -> Iterator[Any]:
    """Give an empty canvas of `size` (inches) for readers of the lab's language.

    `names` are what levels are called (msgids) where that is not what they are called elsewhere.
    """
    settings: Any = style.settings(lab.words.lang)
    with mpl.rc_context(settings):
        canvas: Any = Canvas(figsize=size)
        canvas.lab = lab
        canvas.names = named(names)
        canvas.drawn = {}  # by study, how many rows
        canvas.bare = False  # whether axes had nothing to draw
        canvas.later = []  # what waits for the final layout
        canvas.hover = []  # what marks tell
        canvas.strokes = {}  # the lines' looks by level
        canvas.extent = {}  # the values that logarithmic axes show
        canvas.data_ends = {}  # how far the data of each axis reach
        yield canvas


def finished(canvas: Any, name: str, title: str, alt: str) -> Figure:
    """Return the figure of a drawn canvas, saved as SVG, PNG and PDF; `title`, `alt`: msgids."""
    lab = canvas.lab
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="Glyph .* missing")
        svg = complete(canvas)
        png = formats.png(canvas)
    nothing = canvas.bare and not canvas.drawn
    alt_text = lab.say(ABSENT if nothing else alt)
    folder = Path(os.environ.get(FIGURES) or lab.paths.figures / "lab")
    contents = {"svg": svg.encode(), "png": png, "pdf": formats.pdf(svg)}
    for suffix, content in contents.items():
        write_whole(folder / f"{name}.{lab.words.lang}.{suffix}", content)
    return Figure(svg, alt_text, lab.say(title), name, canvas.drawn)


def complete(canvas: Any) -> str:
    """Add what waits for the final layout (legend, names beside lines); return the SVG."""
    if not canvas.legends and not any(axes.get_legend() for axes in canvas.axes):
        named_handles: dict[str, Any] = {}
        for axes in canvas.axes:
            handles, names = axes.get_legend_handles_labels()
            named_handles |= zip(names, handles, strict=True)
        if named_handles:
            canvas.legend(
                list(named_handles.values()),
                list(named_handles),
                loc="outside lower center",
                ncols=min(len(named_handles), LEGEND_COLUMNS),
                fontsize=8,
            )
    _translate(canvas)
    for draw in canvas.later:
        draw()
    if canvas.lab.words.lang == "zh":
        _space(canvas)
    return formats.svg(canvas)


def _translate(canvas: Any) -> None:
    """Translate a notebook's own labels, titles and legend words, but no mathematics."""
    for text in canvas.findobj(Text):
        words = text.get_text()
        if words and "$" not in words:
            text.set_text(canvas.lab.say(words))


def _space(canvas: Any) -> None:
    """Set Chinese apart from Latin letters and digits, as pages and print do by themselves."""
    for text in canvas.findobj(Text):
        text.set_text(_HAN_BESIDE_LATIN.sub(" ", text.get_text()))
    for axis in canvas.findobj(Axis):
        # whose labels are written anew at each drawing
        if isinstance(axis.get_major_locator(), FixedLocator):
            labels = [
                _HAN_BESIDE_LATIN.sub(" ", label.get_text()) for label in axis.get_ticklabels()
            ]
            if any(labels):  # panels that share an axis share its labels, which one of them shows
                axis.set_ticklabels(labels)
