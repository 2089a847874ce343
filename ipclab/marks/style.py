"""One visual language for all figures: fonts by language, colours and markers by mechanism."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import font_manager
from matplotlib.colors import to_rgb

from ipclab.marks import drawn
from ipclab.paths import table_beside
from ipclab.store.questions import Mechanism
from ipclab.words.catalogue import LANGUAGES

# Okabe and Ito's palette, which colour-blind readers can tell apart; grey for what is not measured
# here.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, RED, PINK = "#0072B2", "#D55E00", "#CC79A7"
GREY = "#888888"
PALE = "#BBBBBB"  # what is not named in a figure
GAMMA_FROM = 0.04045
APART = 10.0  # lightness by which greys can be told apart in print
OCHRE = "#8A6B00"  # the palette's yellow is too light for a line
LOOKS = table_beside(__file__, "looks.toml")
# What levels without a look of their own get, in their order.
SERIES = (
    (BLUE, "o"),
    (ORANGE, "s"),
    (GREEN, "D"),
    (RED, "^"),
    (PINK, "v"),
    (SKY, "P"),
    (BLACK, "X"),
    (OCHRE, "h"),
)
DASHES = ("-", "--", ":", "-.")
# by marker; others are whole
DASH_OF = {"^": "--", "D": "--", "v": ":", "h": ":", "P": "-.", "X": "-."}


@cache
def settings(lang: str) -> dict[str, Any]:
    """Return matplotlib's settings for readers of `lang`: look, fonts, palette."""
    cycle = mpl.cycler(color=[colour for colour, _ in SERIES])  # type: ignore[attr-defined]
    ours: Any = mpl.rc_params_from_file(
        Path(__file__).with_name("ipclab.mplstyle"), use_default_template=False
    )
    _load_fonts()
    return {**ours, "font.family": [LANGUAGES[lang]["font"]], "axes.prop_cycle": cycle}


@cache
def _load_fonts() -> None:
    """Make all languages' fonts known to matplotlib; `ValueError` when one is not there."""
    import noto_cjk_sans_otc

    for entry in files(noto_cjk_sans_otc).iterdir():
        if entry.name.endswith(".ttc"):
            font_manager.fontManager.addfont(str(entry))
    for language in LANGUAGES.values():
        font_manager.findfont(language["font"], fallback_to_default=False)


def know(mechanisms: Mapping[str, Mechanism]) -> None:
    """Draw the mechanisms of a run as it says."""
    LOOKS.update({name: [*known.look] for name, known in mechanisms.items() if known.look[0]})


def look(level: object, place: int) -> tuple[str, str]:
    """Return a mechanism's colour and marker, or those of a factor's `place`-th level."""
    colour, marker = LOOKS.get(str(level)) or SERIES[place % len(SERIES)]
    return colour, marker


def dash(ax: Any, level: object, place: int) -> str:
    """Return the dash of that level's line; two alike in grey have other dashes."""
    colour, marker = look(level, place)
    taken = drawn.sketch_of(ax).strokes
    if level not in taken:
        again = 0 if str(level) in LOOKS else place // len(SERIES)
        first = (DASHES.index(DASH_OF.get(marker, "-")) + again) % len(DASHES)
        dashes = [*DASHES[first:], *DASHES[:first]]
        alike = {
            known
            for other_colour, other_marker, known in taken.values()
            if other_marker == marker and near(other_colour, colour)
        }
        free = [each for each in dashes if each not in alike]
        taken[level] = colour, marker, (free or dashes)[0]
    return taken[level][2]


def lightness(colour: Any) -> float:
    """Return the lightness L* (0 to 100) of an sRGB colour (CIE 15:2004; IEC 61966-2-1)."""
    encoded = np.array(to_rgb(colour))
    linear = np.where(encoded <= GAMMA_FROM, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ (0.2126, 0.7152, 0.0722))
    if luminance <= (6 / 29) ** 3:
        return luminance * (29 / 3) ** 3
    return 116 * float(luminance ** (1 / 3)) - 16


def near(one: Any, other: Any) -> bool:
    """Tell whether two colours cannot be told apart in grey."""
    return abs(lightness(one) - lightness(other)) < APART
