"""A figure in the making: axes for a cell, saved and shown once the cell has drawn."""

import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axis import Axis
from matplotlib.figure import Figure as Canvas
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator

from ipclab.lab import formats
from ipclab.lab.data import Data
from ipclab.marks import drawn, style
from ipclab.store.files import write_whole
from ipclab.words.words import ABSENT, DASH

MIME = "image/svg+xml"
TITLE = "ipclab-title"  # marks the title that is shown above a drawing
LEGEND_COLUMNS = 6
FIGURES = "IPCLAB_FIGURES"  # set while a report is made: where its figures go
_HAN, _LATIN = "[\u4e00-\u9fff]", "[A-Za-z0-9]"
_HAN_BESIDE_LATIN = re.compile(f"(?<={_HAN})(?={_LATIN})|(?<={_LATIN})(?={_HAN})")


@dataclass(frozen=True)
class Figure:
    """An SVG drawing, translated `alt` and `caption`, file name without suffix, and its data.

    `drawn` names the studies and the number of rows that the helpers of `ipclab.marks.marks` drew.
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
        display({"text/html": title}, metadata={TITLE: True}, raw=True)  # type: ignore[no-untyped-call]
        display(data, metadata=metadata, raw=True)  # type: ignore[no-untyped-call]

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        words = asdict(self)
        return {MIME: words.pop("svg"), "text/plain": self.caption}, {MIME: words}


@contextmanager
def blank(
    lab: Data,
    size: tuple[float, float],
    names: drawn.Names = (),
) -> Iterator[Any]:
    """Give an empty canvas of `size` (inches) for readers of the lab's language.

    `names` are what levels are called (msgids) where that is not what they are called elsewhere.
    """
    style.know(lab.run.questions.mechanisms)
    settings: Any = style.settings(lab.words.lang)
    with mpl.rc_context(settings):
        canvas: Any = Canvas(figsize=size)
        drawn.begin(canvas, lab.words, lab.say, drawn.named(names))
        yield canvas


def finished(lab: Data, canvas: Any, name: str, title: str, alt: str) -> Figure:
    """Return the figure of a drawn canvas, saved as SVG, PNG and PDF; `title`, `alt`: msgids."""
    sketch = drawn.of(canvas)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="Glyph .* missing")
        svg = complete(canvas)
    nothing = sketch.empty and not sketch.rows
    alt_text = lab.say(ABSENT if nothing else alt)
    if alt_text == DASH:
        alt_text = lab.say(title)
    folder = Path(os.environ.get(FIGURES) or lab.paths.figures / "lab")
    contents = {"svg": svg.encode()}
    if find_spec("typst"):  # which comes with ipclab-report
        contents |= {"png": formats.png(svg), "pdf": formats.pdf(svg)}
    for suffix, content in contents.items():
        write_whole(folder / f"{name}.{lab.words.lang}.{suffix}", content)
    return Figure(svg, alt_text, lab.say(title), name, sketch.rows)


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
    sketch = drawn.of(canvas)
    _translate(canvas, sketch)
    for draw in sketch.later or ():
        draw()
    if sketch.words.lang == "zh":
        _space(canvas)
    return formats.svg(canvas, sketch.hover)


def _translate(canvas: Any, sketch: drawn.Drawn) -> None:
    """Translate a notebook's own labels, titles and legend words, but no mathematics."""
    for text in canvas.findobj(Text):
        words = text.get_text()
        if words and "$" not in words:
            text.set_text(sketch.say(words))


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
