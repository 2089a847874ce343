from types import SimpleNamespace
from typing import Any

import pytest

from ipclab.lab.canvas import blank, complete
from ipclab.lab.relabelled import Relabelled
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
