"""A figure that was drawn: what a notebook shows of it, and what a report makes its page of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, Self

from ipclab.lab import shell
from ipclab.words import output
from ipclab.words.catalogue import SOURCE

PNG, SVG = "image/png", "image/svg+xml"
FIGURES = "IPCLAB_FIGURES"  # set while a report is made: where its figures go
SAID = "svg", "alt", "caption"  # what differs by language


@dataclass(frozen=True)
class Figure:
    """An SVG drawing, translated `alt` and `caption`, file name without suffix, and its data.

    `drawn` names the studies and the number of rows that the helpers of `ipclab.marks.marks` drew.
    `png` (base64, `width` pixels as shown) is what Jupyter shows. `others` are the same figure for
    readers of other languages. One that is `absent` had nothing to draw.
    """

    svg: str = field(repr=False)
    alt: str
    caption: str
    name: str
    drawn: Mapping[str, int] = field(default_factory=dict)
    png: str = field(default="", repr=False)
    width: int = 0
    lang: str = SOURCE
    others: Mapping[str, Self] = field(default_factory=dict, repr=False)
    absent: bool = False

    @classmethod
    def of(cls, data: Mapping[str, Any], lang: str) -> Self:
        """Return the figure that an output as data holds, for readers of `lang` and of others."""
        said = output.said(data, lang)
        same = {key: data[key] for key in ("name", "drawn", "absent")}
        others = {
            other: cls(**parts, **same, lang=other)
            for other, parts in data[output.SAID].items()
            if other != lang
        }
        return cls(**said, **same, lang=lang, others=others)

    def data(self) -> dict[str, Any]:
        """Return the output as data."""
        said = {}
        for lang, one in self._each().items():
            said[lang] = {key: getattr(one, key) for key in SAID}
        same = {"name": self.name, "drawn": dict(self.drawn), "absent": self.absent}
        return output.data(output.FIGURE, said, **same)

    def _each(self) -> dict[str, Self]:
        return {self.lang: self, **self.others}

    def shown(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Return data and metadata of what Jupyter shows: the title, and below it the drawing."""
        caption = {lang: one.caption for lang, one in self._each().items()}
        title = {
            output.MIME: output.data(output.TITLE, caption, name=self.name),
            "text/html": f'<strong id="{escape(self.name)}">{escape(self.caption)}</strong>',
        }
        drawing = {output.MIME: self.data(), "text/plain": self.caption}
        drawing |= {PNG: self.png} if self.png else {SVG: self.svg}
        return [(title, {}), (drawing, {PNG: {"width": self.width}} if self.width else {})]

    def _ipython_display_(self) -> None:
        for data, metadata in self.shown():
            shell.display(data, metadata)
