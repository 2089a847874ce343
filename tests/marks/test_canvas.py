"""Canvases: Chinese apart from Latin, and legends that no edge of a figure cuts."""

from types import SimpleNamespace
from typing import Any

import pytest
from matplotlib.figure import Figure

from ipclab.lab.canvas import Relabelled, blank, complete
from ipclab.marks.pictures import _fit_legend
from ipclab.store.questions import Questions


@pytest.mark.parametrize(
    ("lang", "tick", "title"), [("zh", "v0.9 的 TCP", "同一 CPU"), ("ko", "v0.9的TCP", "同一CPU")]
)
def test_chinese_in_a_picture_stands_apart_from_latin_as_in_the_text(
    lang: str, tick: str, title: str
) -> None:
    run = SimpleNamespace(questions=Questions())
    lab: Any = SimpleNamespace(run=run, words=SimpleNamespace(lang=lang, translate=str), say=str)
    with blank(lab, (2, 2)) as canvas:
        ax, beside = canvas.subplots(1, 2, sharey=True)
        ax.set_title("同一CPU")
        ax.set_yticks([0], ["v0.9的TCP"])
        beside.tick_params(labelleft=False)
        complete(canvas)
        Relabelled(canvas).say(lab)
        canvas.draw_without_rendering()
        assert ax.get_title() == title
        assert [label.get_text() for label in ax.get_yticklabels()] == [tick]


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
