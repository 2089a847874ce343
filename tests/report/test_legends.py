"""Legends: none is cut at the edges of its figure."""

from typing import Any

from matplotlib.figure import Figure

from ipclab.marks.pictures import _fit_legend


def test_a_legend_wider_than_its_figure_has_fewer_columns() -> None:
    for words, columns in (("name", 6), ("a rather long name", 4), ("a name " * 30, 1)):
        canvas: Any = Figure(figsize=(7, 4), layout="constrained")
        ax = canvas.subplots()
        for line in range(6):
            ax.plot([0, 1], [line, line], label=f"{words} {line}")
        handles, names = ax.get_legend_handles_labels()
        canvas.legend(handles, names, loc="outside lower center", ncols=6, fontsize=8)
        _fit_legend(canvas)
        (legend,) = canvas.legends
        assert legend._ncols == columns
        assert [text.get_text() for text in legend.get_texts()] == names
        assert columns == 1 or legend.get_window_extent().width <= canvas.bbox.width
