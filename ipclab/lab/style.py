"""One visual language for all figures: fonts by language, colours and markers by mechanism, equal
bytes each time.
"""

import io
import re
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import font_manager
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure as Canvas

from ipclab.backends.installed import backends
from ipclab.lab.catalogue import LANGUAGES
from ipclab.paths import table_beside

# Okabe and Ito's palette, which colour-blind readers can tell apart; grey for what is not measured
# here.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, RED, PINK = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
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
HATCHES = ("", "///", "...", "\\\\\\", "xx", "--", "++", "oo")
PNG_DPI = 150
_TEXT = re.compile(r"<text.*?</text>", re.DOTALL)


@cache
def load_fonts() -> None:
    """Make the fonts of every language known to matplotlib; raises `ValueError` when one is not
    there.
    """
    import noto_cjk_sans_otc

    for entry in files(noto_cjk_sans_otc).iterdir():
        if entry.name.endswith(".ttc"):
            font_manager.fontManager.addfont(str(entry))
    for language in LANGUAGES.values():
        font_manager.findfont(language["font"], fallback_to_default=False)


@cache
def settings(lang: str) -> dict[str, Any]:
    """Return matplotlib's settings for readers of `lang`: our look, fonts that have the letters,
    our palette.
    """
    load_fonts()
    cycle = mpl.cycler(color=[colour for colour, _ in SERIES])  # type: ignore[attr-defined]
    ours: Any = mpl.rc_params_from_file(
        Path(__file__).with_name("ipclab.mplstyle"), use_default_template=False
    )
    return {**ours, "font.family": [LANGUAGES[lang]["font"]], "axes.prop_cycle": cycle}


def look(level: object, place: int) -> tuple[str, str]:
    """Return colour and marker of a mechanism, or those of the `place`-th level of any other
    factor.
    """
    return _own_look(level) or SERIES[place % len(SERIES)]


def stroke(
    ax: Any, level: object, place: int, leading: Sequence[object] | None = None
) -> dict[str, Any]:
    """Return colour and dash of that level's line: two of one figure that are alike in grey have
    other dashes.

    Levels that are not among `leading` are thin and grey.
    """
    if leading is not None and level not in leading:
        return {"color": PALE, "linestyle": "-", "linewidth": 0.7, "zorder": 1}
    colour, marker = look(level, place)
    taken: dict[object, tuple[str, str, str]] = ax.figure.strokes
    if level not in taken:
        again = 0 if _own_look(level) else place // len(SERIES)
        first = (DASHES.index(DASH_OF.get(marker, "-")) + again) % len(DASHES)
        dashes = [*DASHES[first:], *DASHES[:first]]
        alike = [
            dash
            for other_colour, other_marker, dash in taken.values()
            if other_marker == marker and near(other_colour, colour)
        ]
        free = [dash for dash in dashes if dash not in alike]
        taken[level] = colour, marker, (free or dashes)[0]
    return {"color": colour, "linestyle": taken[level][2], "linewidth": 1.0}


def lightness(colour: Any) -> float:
    """Return the lightness L* (0 black to 100 white) of a colour of sRGB (CIE 15:2004; IEC
    61966-2-1).
    """
    encoded = np.array(to_rgb(colour))
    linear = np.where(encoded <= GAMMA_FROM, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ (0.2126, 0.7152, 0.0722))
    if luminance <= (6 / 29) ** 3:
        return luminance * (29 / 3) ** 3
    return 116 * float(luminance ** (1 / 3)) - 16


def near(one: Any, other: Any) -> bool:
    """Tell whether two colours cannot be told apart in grey."""
    return abs(lightness(one) - lightness(other)) < APART


def _own_look(level: object) -> tuple[str, str] | None:
    backend = backends().get(str(level))
    own = backend.look if backend and backend.look[0] else LOOKS.get(str(level))
    return own and (own[0], own[1])


def svg(drawn: Canvas) -> str:
    """Return a canvas as SVG and fix its layout; equal drawings give equal text.

    Letters are drawn as shapes, so that no reader needs our fonts, and lie over them once more
    unseen, as text that can be searched and selected.
    """
    shapes = _saved(drawn)
    # what is drawn next keeps this layout, which takes as long as the drawing
    drawn.set_layout_engine("none")
    with mpl.rc_context({"svg.fonttype": "none"}):
        texts = "\n".join(_TEXT.findall(_saved(drawn)))
    hovered = "".join(map(_hovered, getattr(drawn, "hover", ())))
    unseen = f'<g fill-opacity="0">{texts}{hovered}</g>'
    return shapes.removesuffix("</svg>\n") + f"{unseen}\n</svg>\n"


def _hovered(mark: tuple[Any, float, float, str]) -> str:
    """Return an unseen circle over a mark (axes, x, y, words) that tells its words when pointed at."""
    ax, x, y, words = mark
    right, up = ax.transData.transform((x, y)) * 72 / ax.figure.dpi
    down = ax.figure.get_figheight() * 72 - up
    return f'<circle cx="{right:.1f}" cy="{down:.1f}" r="6"><title>{escape(words)}</title></circle>'


def _saved(drawn: Canvas) -> str:
    text = io.StringIO()
    drawn.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()


def png(drawn: Canvas) -> bytes:
    """Return a canvas as PNG; equal drawings give equal bytes."""
    content = io.BytesIO()
    drawn.savefig(content, format="png", dpi=PNG_DPI, metadata={"Software": None})
    return content.getvalue()


def pdf(svg_text: str) -> bytes:
    """Return a drawing as a PDF page of its own size; equal drawings give equal bytes."""
    import typst

    quoted = svg_text.replace("\\", "\\\\").replace('"', '\\"')
    page = "#set page(width: auto, height: auto, margin: 0pt)"
    source = f'{page}\n#image(bytes("{quoted}"), format: "svg")'
    return bytes(
        typst.compile(
            source.encode(),
            format="pdf",
            timestamp=0,
            font_paths=print_fonts(),
            ignore_system_fonts=True,
        )
    )


@cache
def print_fonts() -> Any:
    """Return the fonts that PDF files are set in."""
    import manimgx_fonts_cjk
    from typst import Fonts

    return Fonts(
        include_system_fonts=False,
        font_paths=[str(Path(manimgx_fonts_cjk.__file__).parent)],
    )
