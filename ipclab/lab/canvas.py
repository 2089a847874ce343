"""A figure in the making: axes for a cell, saved and shown once the cell has drawn.

It is drawn once; for readers of other languages its texts are said again.
"""

import os
import re
import warnings
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure as Canvas
from matplotlib.text import Text

from ipclab.lab.data import Data
from ipclab.lab.figure import FIGURES, Figure
from ipclab.marks import drawn, style
from ipclab.marks.pictures import pictures
from ipclab.store.files import write_whole
from ipclab.words import labels
from ipclab.words.words import DASH, NOT_MEASURED, Words

LEGEND_COLUMNS = 6
PIXELS_AN_INCH = 96  # of a screen, as CSS has them
LINE = 0.3  # inches: as high as a figure is that only says that nothing was measured
_HAN, _LATIN = "[\u4e00-\u9fff]", "[A-Za-z0-9]"
_HAN_BESIDE_LATIN = re.compile(f"(?<={_HAN})(?={_LATIN})|(?<={_LATIN})(?={_HAN})")


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
    """Return the figure of a drawn canvas, saved as SVG, PNG and PDF; `title`, `alt`: msgids."""
    sketch = drawn.sketch_of(canvas)
    if nothing := sketch.empty and not sketch.rows:
        canvas.set_figheight(LINE)
    layout = canvas.get_layout_engine()
    complete(canvas)
    relabelled = Relabelled(canvas)
    folder = Path(os.environ.get(FIGURES) or lab.paths.figures / "lab")
    figures = []
    for reader in (lab, *lab.others):
        lang = reader.words.lang
        if reader is not lab or lang == "zh":
            relabelled.say(reader)
        settings: Any = style.settings(lang)
        with mpl.rc_context(settings), warnings.catch_warnings():
            warnings.filterwarnings("error", message="Glyph .* missing")
            canvas.set_layout_engine(layout or "none")
            contents = pictures(canvas, sketch)
        for suffix, content in contents.items():
            write_whole(folder / f"{name}.{lang}.{suffix}", content)
        alt_text = reader.say(NOT_MEASURED if nothing else alt)
        caption = reader.say(title)
        made = Figure(
            contents["svg"].decode(),
            caption if alt_text == DASH else alt_text,
            caption,
            name,
            sketch.rows,
            b64encode(contents.get("png", b"")).decode(),
            round(canvas.get_figwidth() * PIXELS_AN_INCH),
            lang,
            absent=nothing,
        )
        figures.append(made)
    first, *others = figures
    return replace(first, others={other.lang: other for other in others})


def complete(canvas: Any) -> None:
    """Add what waits for the final layout: legend, names beside lines; translate all texts."""
    sketch = drawn.sketch_of(canvas)
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
                title=_name_of_amounts(sketch),
                fontsize=8,
                title_fontsize=8,
            )
    for text in canvas.findobj(Text):
        words = text.get_text()
        if words and "$" not in words:  # no mathematics
            text.set_text(sketch.say(words))
    for draw in sketch.later or ():
        draw()


def _name_of_amounts(sketch: drawn.Drawn) -> str | None:
    """Return what the levels of a legend are of, where these are amounts, which do not tell it."""
    factors = [name for name, levels in sketch.places.items() if name and len(levels) > 1]
    return sketch.words.label(factors[0]) if factors[:1] and factors[0] in labels.UNITS else None


class Relabelled:
    """A canvas whose texts are those of its lab; `say` replaces them by those of another."""

    def __init__(self, canvas: Any) -> None:
        self.canvas = canvas
        self.first: dict[Text, str] = {text: text.get_text() for text in canvas.findobj(Text)}
        self.shown = {said: said for said in self.first.values()}  # the first text of each
        self.again: Callable[[str], str] = str
        every = [axis for ax in canvas.axes for axis in (ax.xaxis, ax.yaxis)]
        formatters = dict.fromkeys(axis.get_major_formatter() for axis in every)
        for formatter in formatters:  # shared axes have one
            formatter.format_ticks = partial(self._ticks, formatter.format_ticks)

    def _ticks(self, own: Callable[[Any], list[str]], values: Any) -> list[str]:
        """Return the labels of ticks as the axis writes them, in the words of the reader."""
        return [self.again(said) for said in own(values)]

    def say(self, lab: Data) -> None:
        """Give the figure the texts and the fonts of the readers of `lab`."""
        sketch = drawn.sketch_of(self.canvas)
        sketch.words, sketch.say = lab.words, lab.say
        self.again = partial(_again, lab.words)
        shown = {}
        family = style.settings(lab.words.lang)["font.family"]
        for ax in self.canvas.axes:
            ax.tick_params(which="both", labelfontfamily=family)
        for text in self.canvas.findobj(Text):
            text.set_fontfamily(family)
            # a legend that was made anew has other artists with the same texts
            if said := self.first.get(text) or self.shown.get(text.get_text()):
                text.set_text(self.again(said))
                shown[text.get_text()] = said
        self.shown = shown


def _again(words: Words, said: str) -> str:
    """Return a text in the words of a reader; Chinese stands apart from Latin, as on pages."""
    written = words.translate(said)
    return _HAN_BESIDE_LATIN.sub(" ", written) if words.lang == "zh" else written
