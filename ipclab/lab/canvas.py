"""A figure in the making: axes for a cell, saved and shown once the cell has drawn."""

import os
import warnings
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure as Canvas
from matplotlib.text import Text

from ipclab.lab.data import Data
from ipclab.lab.figure import FIGURES, Figure
from ipclab.lab.relabelled import Relabelled
from ipclab.marks import drawn, style
from ipclab.marks.pictures import pictures
from ipclab.store.files import write_whole
from ipclab.words.words import ABSENT, DASH

LEGEND_COLUMNS = 6
PIXELS_AN_INCH = 96  # of a screen, as CSS has them
LINE = 0.3  # inches: as high as a figure is that only says that nothing was measured


@contextmanager
def blank(lab: Data, size: tuple[float, float], names: drawn.Names = ()) -> Iterator[Any]:
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
    """Return the figure of a drawn canvas, saved as SVG, PNG and PDF; `title`, `alt`: msgids.

    It is drawn once; for readers of other languages its texts are replaced and it is saved again.
    """
    sketch = drawn.sketch_of(canvas)
    if nothing := sketch.empty and not sketch.rows:
        canvas.set_figheight(LINE)
    layout = canvas.get_layout_engine()
    complete(canvas)
    relabelled = Relabelled(canvas)
    figures = {}
    for reader in (lab, *lab.others):
        if reader is not lab or reader.words.lang == "zh":
            relabelled.say(reader)
        settings: Any = style.settings(reader.words.lang)
        with mpl.rc_context(settings), warnings.catch_warnings():
            warnings.filterwarnings("error", message="Glyph .* missing")
            canvas.set_layout_engine(layout or "none")
            contents = pictures(canvas, sketch)
        alt_text = reader.say(ABSENT if nothing else alt)
        caption = reader.say(title)
        _save(lab, f"{name}.{reader.words.lang}", contents)
        png = b64encode(contents.get("png", b"")).decode()
        figures[reader.words.lang] = Figure(
            contents["svg"].decode(),
            caption if alt_text == DASH else alt_text,
            caption,
            name,
            sketch.rows,
            png,
            round(canvas.get_figwidth() * PIXELS_AN_INCH),
            reader.words.lang,
            absent=nothing,
        )
    first, *others = figures.values()
    return replace(first, others={other.lang: other for other in others})


def _save(lab: Data, name: str, contents: Mapping[str, bytes]) -> None:
    folder = Path(os.environ.get(FIGURES) or lab.paths.figures / "lab")
    for suffix, content in contents.items():
        write_whole(folder / f"{name}.{suffix}", content)


def complete(canvas: Any) -> None:
    """Add what waits for the final layout: legend, names beside lines; translate all texts."""
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
    sketch = drawn.sketch_of(canvas)
    _translate(canvas, sketch)
    for draw in sketch.later or ():
        draw()


def _translate(canvas: Any, sketch: drawn.Drawn) -> None:
    """Translate a notebook's own labels, titles and legend words, but no mathematics."""
    for text in canvas.findobj(Text):
        words = text.get_text()
        if words and "$" not in words:
            text.set_text(sketch.say(words))
