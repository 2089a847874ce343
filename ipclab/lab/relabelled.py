"""A drawn figure's texts, said again to readers of other languages: it is drawn only once."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import matplotlib as mpl
from matplotlib.text import Text
from matplotlib.ticker import Formatter

from ipclab.lab.data import Data
from ipclab.marks import drawn, style
from ipclab.words.words import Words

_HAN, _LATIN = "[\u4e00-\u9fff]", "[A-Za-z0-9]"
_HAN_BESIDE_LATIN = re.compile(f"(?<={_HAN})(?={_LATIN})|(?<={_LATIN})(?={_HAN})")


class Relabelled:
    """A canvas whose texts are those of its lab; `say` replaces them by those of another."""

    def __init__(self, canvas: Any) -> None:
        self.canvas = canvas
        self.first: dict[Text, str] = {text: text.get_text() for text in canvas.findobj(Text)}
        self.shown = {said: said for said in self.first.values()}  # the first text of each
        self.ticks = []
        for ax in canvas.axes:
            for axis in (ax.xaxis, ax.yaxis):
                own = axis.get_major_formatter()
                if not isinstance(own, TicksAgain):  # shared axes have one
                    self.ticks.append(TicksAgain(own))
                    axis.set_major_formatter(self.ticks[-1])

    def say(self, lab: Data) -> None:
        """Give the figure the texts and the fonts of the readers of `lab`."""
        sketch = drawn.sketch_of(self.canvas)
        sketch.words, sketch.say = lab.words, lab.say
        again = partial(_again, lab.words)
        shown = {}
        for ticks in self.ticks:
            ticks.again = again
        settings: Any = style.settings(lab.words.lang)
        with mpl.rc_context(settings):
            family = mpl.rcParams["font.family"]
            for ax in self.canvas.axes:
                ax.tick_params(which="both", labelfontfamily=family)
            for text in self.canvas.findobj(Text):
                text.set_fontfamily(family)
                # a legend that was made anew has other artists with the same texts
                if said := self.first.get(text) or self.shown.get(text.get_text()):
                    text.set_text(again(said))
                    shown[text.get_text()] = said
        self.shown = shown


def _again(words: Words, said: str) -> str:
    """Return a text in the words of a reader; Chinese stands apart from Latin, as on pages."""
    written = words.translate(said)
    return _HAN_BESIDE_LATIN.sub(" ", written) if words.lang == "zh" else written


class TicksAgain(Formatter):
    """Writes an axis' ticks as its own formatter does, and then in the words of a reader."""

    def __init__(self, own: Formatter) -> None:
        self.own = own
        self.again: Callable[[str], str] = str

    def set_axis(self, axis: Any) -> None:
        """Serve the axis that the own formatter serves."""
        super().set_axis(axis)
        self.own.set_axis(axis)

    def set_locs(self, locs: Any) -> None:
        """Tell the own formatter where ticks are."""
        self.own.set_locs(locs)

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the label of one tick."""
        return self.again(self.own(x, pos))

    def format_ticks(self, values: Any) -> list[str]:
        """Return the labels of all ticks."""
        return [self.again(said) for said in self.own.format_ticks(values)]

    def get_offset(self) -> str:
        """Return what all labels share."""
        return self.own.get_offset()
