"""What the marks of one figure share: the words of its reader, and what was drawn.

A figure of `lab.figure` has the words of the lab; any other matplotlib figure has English ones, and
what would wait for its final layout is done at once.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from ipclab.words import filling
from ipclab.words.catalogue import SOURCE
from ipclab.words.words import Words

Names = Mapping[Any, str] | Iterable[str]  # what levels are called, or those called as they are
Say = Callable[..., str]
_DRAWN: "WeakKeyDictionary[Any, Drawn]" = WeakKeyDictionary()  # by figure


@dataclass
class Drawn:
    """What is known of one figure.

    `say` translates and fills a text, `names` are what levels are called (msgids) where that is
    not what they are called elsewhere. `rows` counts by study what was drawn, `empty` says that
    some axes had nothing to draw. `series` are the frames that marks were made of, and where these
    are (axes, frame, x, y, name), `places` counts the levels of each factor, `levels` are those in
    rows, by axes, `strokes` are the lines' looks by level, `extents` the values that logarithmic
    axes show and `ends` how far the data of an axis reach, both by axes and "x" or "y". `later`
    waits for the final layout, where a figure has one.
    """

    words: Words
    say: Say
    names: Mapping[Any, str] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    empty: bool = False
    series: list[tuple[Any, Any, Any, Any, str]] = field(default_factory=list)
    places: dict[str, dict[Any, int]] = field(default_factory=dict)
    levels: dict[Any, list[Any]] = field(default_factory=dict)
    strokes: dict[object, tuple[str, str, str]] = field(default_factory=dict)
    extents: dict[tuple[Any, str], tuple[float, float]] = field(default_factory=dict)
    ends: dict[tuple[Any, str], tuple[float, float]] = field(default_factory=dict)
    later: list[Callable[[], None]] | None = None

    def place(self, factor: str | None, level: Any) -> int:
        """Return which level of `factor` it is in this figure: it looks alike in every panel."""
        places = self.places.setdefault(factor or "", {})
        return places.setdefault(level, len(places))

    def at_last(self, draw: Callable[[], None], first: bool = False) -> None:
        """Have `draw` called once the figure is laid out, `first` before what waits; else now."""
        if self.later is None:
            draw()
        elif first:
            self.later.insert(0, draw)
        else:
            self.later.append(draw)


def sketch_of(ax: Any) -> Drawn:
    """Return what is known of the figure of some axes."""
    figure = ax.get_figure(root=True)
    if figure not in _DRAWN:
        words = Words(SOURCE)

        def say(text: str, /, **more: Any) -> str:
            return filling.fill(text, more.__getitem__, words.numbers, markdown=False)

        _DRAWN[figure] = Drawn(words, say)
    return _DRAWN[figure]


def begin(figure: Any, words: Words, say: Say, names: Mapping[Any, str]) -> Drawn:
    """Note whose words a new figure has, and that it will be laid out; return what is known."""
    _DRAWN[figure] = Drawn(words, say, names, later=[])
    return _DRAWN[figure]


def named(names: Names) -> Mapping[Any, str]:
    """Return what levels are called (msgids); levels that are listed are called what they are."""
    return names if isinstance(names, Mapping) else {name: name for name in names}
