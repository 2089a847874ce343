"""A canvas as SVG, and by Typst as PNG picture and PDF page: equal drawings give equal bytes."""

import io
import re
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd
from matplotlib.backends.backend_svg import FigureCanvasSVG, RendererSVG
from matplotlib.figure import Figure as Canvas

from ipclab.marks.drawn import Drawn
from ipclab.stats.quantity import Quantity
from ipclab.words.catalogue import N_

NO_DATE = {"Date": None, "Creator": None}
_TEXT = re.compile(r"<text.*?</text>", re.DOTALL)
PNG_DPI = 150
DPI = 72  # of SVG


def png(svg_text: str) -> bytes:
    """Return a drawing as a PNG picture; equal drawings give equal bytes."""
    return _page(svg_text, format="png", ppi=PNG_DPI)


def _page(svg_text: str, **options: Any) -> bytes:
    import typst

    quoted = svg_text.replace("\\", "\\\\").replace('"', '\\"')
    page = "#set page(width: auto, height: auto, margin: 0pt)"
    source = f'{page}\n#image(bytes("{quoted}"), format: "svg")'
    fonts = {"font_paths": print_fonts(), "ignore_system_fonts": True}
    return bytes(typst.compile(source.encode(), **fonts, **options))


@cache
def print_fonts() -> Any:
    """Return the fonts that PDF files are set in."""
    import manimgx_fonts
    import manimgx_fonts_cjk
    from typst import Fonts

    packages = (manimgx_fonts_cjk, manimgx_fonts)
    return Fonts(
        include_system_fonts=False,
        font_paths=[str(Path(package.__file__).parent) for package in packages],
    )


def svg(drawn: Canvas, sketch: Drawn) -> str:
    """Return a canvas as SVG; equal drawings give equal text.

    Letters are drawn as shapes, so that no reader needs our fonts, and lie over them once more
    unseen, as text that can be searched and selected.
    """
    text, unseen = io.StringIO(), io.StringIO()
    renderers: Any = RendererSVG
    letters = renderers(1, 1, unseen).writer
    as_shapes = renderers._draw_text_as_path

    def twice(renderer: Any, *words: Any) -> None:
        as_shapes(renderer, *words)
        seen, renderer.writer = renderer.writer, letters
        renderer._draw_text_as_text(*words)
        renderer.writer = seen

    canvas: Any = FigureCanvasSVG(drawn)
    usual, drawn.dpi = drawn.dpi, DPI
    if engine := drawn.get_layout_engine():
        engine.execute(drawn)
    drawn.dpi = usual
    drawn.set_layout_engine("none")
    with patch.object(renderers, "_draw_text_as_path", twice):
        # `savefig` would draw all of it once more for the layout
        canvas.print_svg(text, metadata=NO_DATE)
    letters.flush()
    texts = "\n".join(_TEXT.findall(unseen.getvalue()))
    hovered = "".join(_hovered(sketch))
    over = f'<g fill-opacity="0">{texts}{hovered}</g>'
    return text.getvalue().removesuffix("</svg>\n") + f"{over}\n</svg>\n"


def _hovered(sketch: Drawn) -> Iterator[str]:
    """Yield an unseen circle over each mark with an interval: it tells its name and its value."""
    columns = ["value", "unit", "low", "high"]
    for ax, part, xs, ys, name in sketch.series:
        if not {*columns} <= {*part}:
            continue
        for x, y, measured in zip(xs, ys, part[columns].itertuples(index=False), strict=True):
            if pd.isna([x, y, *measured]).any():
                continue
            value = sketch.words.numbers.format(Quantity(*measured), "interval")
            words = escape(sketch.say(N_("{word}: {value}"), word=name, value=value))
            right, up = ax.transData.transform((x, y)) * DPI / ax.figure.dpi
            down = ax.figure.get_figheight() * DPI - up
            yield f'<circle cx="{right:.1f}" cy="{down:.1f}" r="6"><title>{words}</title></circle>'


def _fit_legend(canvas: Any) -> None:
    """Give a legend below the panels that is wider than its figure fewer columns."""
    columns = len(canvas.legends and canvas.legends[0].get_texts())
    while columns > 1 and canvas.legends[0].get_window_extent().width > canvas.bbox.width:
        wide = canvas.legends[0]
        columns = min(columns, wide._ncols) - 1
        names = [text.get_text() for text in wide.get_texts()]
        look = {"loc": "outside lower center", "ncols": columns, "prop": wide.prop}
        look |= {"title": wide.get_title().get_text() or None, "title_fontproperties": wide.prop}
        wide.remove()
        canvas.legend(wide.legend_handles, names, **look)


def pictures(canvas: Any, sketch: Drawn) -> dict[str, bytes]:
    """Return the forms of a drawn canvas by suffix: svg, png, and pdf of its own size."""
    _fit_legend(canvas)
    drawing = svg(canvas, sketch)
    return {
        "svg": drawing.encode(),
        "png": png(drawing),
        "pdf": _page(drawing, format="pdf", timestamp=0),
    }
