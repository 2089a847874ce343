"""How series look: neighbours differ in grey, axes end near their values, few names are legible."""

import pandas as pd
import pytest

from ipclab.lab import canvas
from ipclab.lab.lab import Lab
from ipclab.marks import style
from ipclab.marks.bars import bars, dots, leading, limit
from ipclab.marks.curves import lines
from ipclab.paths import checkout
from tests.support.beyond import beyond
from tests.support.cut import cut
from tests.support.grey import alike
from tests.support.told import reference


@pytest.fixture
def lab() -> Lab:
    return Lab.of(reference(), checkout(), "en")


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


def test_a_short_logarithmic_axis_is_lengthened_on_both_sides(lab: Lab) -> None:
    with canvas.blank(lab, (4, 3)) as figure:
        ax = figure.subplots()
        lines(rows(["tcp"]).assign(value=100.0), x="size_bytes", hue="backend", ax=ax, log="xy")
        canvas.complete(figure)
        low, high = ax.get_ylim()
        assert high / low == pytest.approx(4.0)
        assert low * high == pytest.approx(100.0**2, rel=0.05)


def test_ticks_have_room_within_a_decade_too(lab: Lab) -> None:
    with canvas.blank(lab, (4.2, 2)) as figure:
        ax, _, _ = figure.subplots(1, 3)
        frame = rows(["tcp", "unix"]).query("size_bytes == 1").assign(value=[290.0, 710.0])
        dots(frame, y="backend", ax=ax, log="x")
        canvas.complete(figure)
        figure.draw_without_rendering()
        assert 2 <= len([tick for tick in ax.get_xticks() if 290 <= tick <= 710]) <= 3


def test_an_interval_and_a_stacked_bar_lie_within_their_data(lab: Lab) -> None:
    with canvas.blank(lab, (4, 3)) as figure:
        ax, other = figure.subplots(1, 2)
        lines(rows(["tcp"]).assign(low=0.5, high=3.0), x="size_bytes", hue="backend", ax=ax)
        bars(rows(["tcp", "unix"]), y="size_bytes", hue="backend", ax=other)
        assert beyond(figure) == []
        ax.errorbar([1], [1], yerr=[[0.1], [9.0]])
        other.barh([0], [1.5], left=[3.0])
        assert len(beyond(figure)) >= 2
