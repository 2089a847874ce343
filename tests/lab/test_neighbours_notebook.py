"""The notebook of neighbours: nothing that its figure writes is cut at an edge, in any language."""

import json
from typing import Any

import pytest
from matplotlib.text import Text

from ipclab.report.lab import ReportLab
from tests.support.commands import ROOT

CELLS = {
    cell["id"]: cell
    for cell in json.loads((ROOT / "notebooks" / "neighbours.ipynb").read_text())["cells"]
}


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", "ko", "zh"])
def test_no_word_of_the_figure_is_cut(lang: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = ReportLab.open(str(ROOT / "data" / "reference.ipclab"), lang, "neighbours")
    monkeypatch.setattr(ReportLab, "begin", lambda *_, **__: lab)
    names: dict[str, Any] = {
        "run": "",
        "lang": lang,
        "measure": False,
        "profile": "quick",
        "backends": [],
    }
    for cell in ("cell-2", "cell-worst", "cell-7"):
        exec("".join(CELLS[cell]["source"]), names)
    figure = names["ax"].figure
    figure.draw_without_rendering()
    width = figure.bbox.width
    shown = [ax for ax in figure.axes if ax.get_visible()]
    texts = [text for ax in shown for text in (ax.title, ax.xaxis.label, ax.yaxis.label)]
    texts += [*figure.texts, *(text for legend in figure.legends for text in legend.get_texts())]
    for text in filter(Text.get_text, texts):
        box = text.get_window_extent()
        assert box.x0 >= -1, text.get_text()
        assert box.x1 <= width + 1, text.get_text()


def test_isolation_is_told_of_all_mechanisms_that_it_was_tried_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was told of the first by name alone, as if it paid for every mechanism."""
    lab = ReportLab.open(str(ROOT / "data" / "reference.ipclab"), "en", "neighbours")
    monkeypatch.setattr(ReportLab, "begin", lambda *_, **__: lab)
    names: dict[str, Any] = {"run": "", "lang": "en", "measure": False, "profile": "quick"}
    names["backends"] = []
    for cell in ("cell-2", "cell-worst"):
        exec("".join(CELLS[cell]["source"]), names)
    due = lab.points("neighbours", arm="isolation", op="intended", metric="p50")
    assert names["tried"] == due.backend.nunique()
    gains = dict(zip(names["reliefs"].backend, names["reliefs"].cell, strict=True))
    assert names["asked"] == max(gains, key=lambda backend: gains[backend].value)
    assert names["relieved"] == sum(ratio.low > 1 for ratio in gains.values())
    assert names["relief"].ends == gains[names["asked"]].ends
