"""Figures: neighbouring series differ in lightness, dash, marker or hatch; no median lies outside
its axes.
"""

from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import pytest

from ipclab.frames.derived import studies_measured
from ipclab.lab import canvas, shell
from ipclab.lab.figure import FIGURES
from ipclab.lab.lab import Lab
from ipclab.marks import pictures, style
from ipclab.marks.bars import bars, leading, limit
from ipclab.marks.curves import lines
from ipclab.marks.named_rows import dots
from ipclab.paths import checkout
from ipclab.store.bundle import opened
from tests.support.beyond import beyond
from tests.support.commands import ROOT
from tests.support.cut import cut
from tests.support.few import some
from tests.support.grey import alike

NOTEBOOKS = {
    "01_payload": "payload",
    "02_shared_dict": "shared_dict",
    "03_multiplexer": "multiplexer",
    "04_round_trip": "round_trip",
    "05_file_io": "file_io",
    "06_stream": "stream",
    "07_faults": "faults",
}


def drawn(name: str, patch: pytest.MonkeyPatch, folder: Path) -> dict[str, Any]:
    """Execute a notebook on the reference run in this process; return the canvas of each figure by
    its title.
    """
    found: dict[str, Any] = {}
    values: dict[str, Any] = {"display": lambda *_, **__: None}
    complete = canvas.complete

    def kept(figure: Any) -> None:
        complete(figure)
        figure.draw_without_rendering()
        found[f"figure {len(found)}"] = figure

    patch.setenv(FIGURES, str(folder))
    patch.setattr(canvas, "complete", kept)
    patch.setattr(shell, "namespace", lambda: values)
    for saved, content in (("svg", "<svg/>"), ("png", b""), ("pdf", b"")):
        patch.setattr(pictures, saved, lambda *_, content=content: content)
    for cell in nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4).cells:
        if cell.cell_type == "code":
            exec(cell.source, values)
            if "run" in values and "lab" not in values:
                values["run"] = str(checkout().reference)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", some([*NOTEBOOKS], 3))
def test_neighbours_differ_in_grey_every_median_is_shown_and_nothing_is_drawn_beyond_its_data(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    figures = drawn(name, monkeypatch, tmp_path)
    if NOTEBOOKS[name] in studies_measured(opened(checkout(), checkout().reference)):
        assert figures
    assert {title: found for title, figure in figures.items() if (found := alike(figure))} == {}
    assert {title: found for title, figure in figures.items() if (found := cut(figure))} == {}
    assert {title: found for title, figure in figures.items() if (found := beyond(figure))} == {}


@pytest.fixture
def lab() -> Lab:
    return Lab.of(opened(checkout(), checkout().reference), checkout(), "en")


def rows(levels: list[str]) -> pd.DataFrame:
    made = [
        {"backend": level, "size_bytes": size, "value": 1.0 + n}
        for n, level in enumerate(levels)
        for size in (1, 9)
    ]
    return pd.DataFrame(made).assign(unit="ns", op="round-trip", metric="p50")


def test_lines_of_like_mechanisms_get_other_dashes(lab: Lab) -> None:
    like = ["posix-shm", "zmq-ipc"]  # both squares, blue and orange of one lightness
    with canvas.blank(lab, (4, 3)) as figure:
        assert style.look(like[0], 0)[1] == style.look(like[1], 1)[1]
        assert style.near(style.look(like[0], 0)[0], style.look(like[1], 1)[0])
        ax = figure.subplots()
        lines(rows(like), x="size_bytes", hue="backend", ax=ax)
        assert alike(figure) == []
        ax.lines[-1].set_linestyle("-")
        ax.lines[0].set_linestyle("-")
        assert len(alike(figure)) == 1


def test_panels_that_share_an_axis_show_the_values_of_all(lab: Lab) -> None:
    with canvas.blank(lab, (6, 3)) as figure:
        panels = figure.subplots(1, 2, sharey=True)
        for ax, times in zip(panels, (1e6, 1.0), strict=True):
            frame = rows(["unix", "tcp"])
            lines(
                frame.assign(value=frame.value * times),
                x="size_bytes",
                hue="backend",
                ax=ax,
                log="xy",
            )
        canvas.complete(figure)
        figure.draw_without_rendering()
        assert cut(figure) == []
        panels[1].set_ylim(0.5, 5)
        assert len(cut(figure)) == 2


def test_a_planted_pair_of_bars_and_a_pale_line_are_found(lab: Lab) -> None:
    with canvas.blank(lab, (4, 3)) as figure:
        ax = figure.subplots()
        bars(rows(["tcp", "unix"]).query("size_bytes == 1"), y="size_bytes", hue="backend", ax=ax)
        assert alike(figure) == []
        for container in ax.containers:
            container.patches[0].set(hatch="", facecolor=style.BLUE)
        ax.plot([0, 1], [0, 1], color=style.YELLOW)
        assert ["pale" in line for line in alike(figure)] == [False, True]


def test_a_mechanism_without_a_look_has_one_colour_in_each_placement(lab: Lab) -> None:
    frame = rows(["nobodys", "unix"])
    with canvas.blank(lab, (4, 3)) as figure:
        ax = figure.subplots()
        dots(frame, y="backend", hue="size_bytes", ax=ax)
        at_row: dict[int, set[str]] = {}
        for line in ax.lines:
            if len(line.get_xdata()) and line.get_marker() not in ("|", "None"):
                at_row.setdefault(round(float(line.get_ydata()[0])), set()).add(line.get_color())
        assert [len(colours) for colours in at_row.values()] == [1, 1]


def test_only_the_leading_levels_are_named(lab: Lab) -> None:
    every = ["tcp", "unix", "pipe", "zmq-ipc", "zmq-tcp", "mp-pipe", "mp-queue"]
    frame = rows(every)
    few = leading(frame, x="size_bytes", hue="backend", most=3)
    assert few == every[:3]
    assert leading(frame, x="size_bytes", hue="backend", most=2, greatest=True) == [
        "mp-queue",
        "mp-pipe",
    ]
    with canvas.blank(lab, (4, 3)) as figure:
        ax = figure.subplots()
        lines(frame, x="size_bytes", hue="backend", ax=ax, leading=few)
        assert set(ax.get_legend_handles_labels()[1]) == {*few, "others"}
        assert [line.get_color() for line in ax.lines].count(style.PALE) == len(every) - len(few)


def test_an_axis_ends_near_the_values_and_shows_the_limit(lab: Lab) -> None:
    frame = rows(["tcp"]).assign(low=1e-6, high=1e6)
    bound = frame.assign(value=500.0, study="limits")
    with canvas.blank(lab, (4, 3)) as figure:
        ax, other = figure.subplots(1, 2)
        for each in (ax, other):
            lines(frame, x="size_bytes", hue="backend", ax=each, log="xy")
        limit(bound, x="size_bytes", ax=other, label="limit")
        canvas.complete(figure)
        assert ax.get_ylim()[0] >= 0.1 and ax.get_ylim()[1] <= 10
        assert 500 < other.get_ylim()[1] <= 5000


def test_ticks_have_room_within_a_decade_too(lab: Lab) -> None:
    with canvas.blank(lab, (4.2, 2)) as figure:
        ax, _, _ = figure.subplots(1, 3)
        frame = rows(["tcp", "unix"]).query("size_bytes == 1").assign(value=[290.0, 710.0])
        dots(frame, y="backend", ax=ax, log="x")
        canvas.complete(figure)
        figure.draw_without_rendering()
        assert 2 <= len([tick for tick in ax.get_xticks() if 290 <= tick <= 710]) <= 3


def test_a_bar_a_dot_and_a_line_beyond_their_data_are_found(lab: Lab) -> None:
    frame = rows(["tcp", "unix"])
    with canvas.blank(lab, (4, 3)) as figure:
        ax = figure.subplots()
        lines(frame, x="size_bytes", hue="backend", ax=ax)
        assert beyond(figure) == []
        ax.broken_barh([(1, 7e9)], (1, 0.5))
        ax.scatter([5], [0.5])
        ax.plot([1, 9.5], [1, 1])
        assert len(beyond(figure)) == 3
        other = figure.add_subplot()
        other.plot([0, 1], [0, 1])
        assert "no frame" in beyond(figure)[-1]


def test_an_interval_and_a_stacked_bar_lie_within_their_data(lab: Lab) -> None:
    with canvas.blank(lab, (4, 3)) as figure:
        ax, other = figure.subplots(1, 2)
        lines(rows(["tcp"]).assign(low=0.5, high=3.0), x="size_bytes", hue="backend", ax=ax)
        bars(rows(["tcp", "unix"]), y="size_bytes", hue="backend", ax=other)
        assert beyond(figure) == []
        ax.errorbar([1], [1], yerr=[[0.1], [9.0]])
        other.barh([0], [1.5], left=[3.0])
        assert len(beyond(figure)) >= 2
