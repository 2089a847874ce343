"""One visual language for all figures: fonts by language, colours and markers by mechanism, equal bytes each time."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Any

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.figure import Figure as Canvas

FAMILY = {"ko": "Noto Sans CJK KR", "zh": "Noto Sans CJK SC", "en": "Noto Sans CJK KR"}
# Okabe and Ito's palette, which colour-blind readers can tell apart; grey for what is not measured here.
BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, RED, PINK = (
    *("#000000", "#E69F00", "#56B4E9", "#009E73"),
    *("#F0E442", "#0072B2", "#D55E00", "#CC79A7"),
)
GREY = "#888888"
OCHRE = "#8A6B00"  # the palette's yellow is too light for a line
# (colour, marker) of each mechanism, the same in every figure.
LOOKS = {
    "shm-mmap": (BLUE, "o"),
    "posix-shm": (SKY, "s"),
    "mp-shm": (GREEN, "D"),
    "shm-spin": (BLACK, "o"),
    "shm-futex": (BLUE, "v"),
    "iceoryx2": (GREEN, "P"),
    "zmq-ipc": (ORANGE, "s"),
    "zmq-tcp": (ORANGE, "^"),
    "lmdb": (GREEN, "v"),
    "shared-memory": (BLUE, "D"),
    "mpi-window": (BLACK, "P"),
    "zmq-push": (ORANGE, "o"),
    "zmq-pub": (RED, "v"),
    "mpi-bcast": (PINK, "P"),
    "unix": (PINK, "D"),
    "tcp": (RED, "^"),
    "pipe": (PINK, "o"),
    "mp-pipe": (OCHRE, "D"),
    "mp-queue": (OCHRE, "s"),
    "file": (ORANGE, "v"),
    "memcpy": (BLACK, "x"),
    "original": (BLACK, "o"),
    "optimized": (ORANGE, "s"),
    "hybrid": (BLUE, "^"),
    "adaptive": (GREEN, "D"),
    "sync": (BLACK, "D"),
    "overlapped": (BLUE, "o"),
    "mmap": (RED, "s"),
}
UNKNOWN = (GREY, "h")  # a backend of another package
HATCHES = ("", "///", "...", "\\\\\\", "xx", "--", "++", "oo")
PNG_DPI = 150
SETTINGS: dict[str, Any] = {
    "svg.hashsalt": "ipclab",
    "svg.fonttype": "path",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "font.size": 9.0,
    "hatch.linewidth": 0.5,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
}


@cache
def load_fonts() -> None:
    """Make the fonts of every language known to matplotlib; raises `ValueError` when one is not there."""
    import noto_cjk_sans_otc

    for entry in files(noto_cjk_sans_otc).iterdir():
        if entry.name.endswith(".ttc"):
            font_manager.fontManager.addfont(str(entry))
    for family in FAMILY.values():
        font_manager.findfont(family, fallback_to_default=False)


@contextmanager
def canvas(lang: str, width: float, height: float) -> Iterator[Canvas]:
    """Give a canvas of `width` x `height` inches set in the fonts of `lang`; a glyph they lack is an error."""
    load_fonts()
    settings: Any = {**SETTINGS, "font.family": [FAMILY[lang]]}
    with mpl.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("error", message="Glyph .* missing")
        yield Canvas(figsize=(width, height))


def svg(drawn: Canvas) -> str:
    """Return a canvas as SVG and fix its layout; equal drawings give equal text."""
    text = io.StringIO()
    drawn.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    drawn.set_layout_engine("none")  # what is drawn next keeps this layout, which takes as long as the drawing
    return text.getvalue()


def png(drawn: Canvas) -> bytes:
    """Return a canvas as PNG; equal drawings give equal bytes."""
    content = io.BytesIO()
    drawn.savefig(content, format="png", dpi=PNG_DPI, metadata={"Software": None})
    return content.getvalue()
