"""Marks draw into any matplotlib axes, outside a lab's figure too."""

from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import pytest

from ipclab.errors import LabError
from ipclab.marks.bars import dots, facets, limit, over, spinning, values_beside
from ipclab.marks.curves import lines

mpl.use("agg")
FRAME = pd.DataFrame(
    {
        "study": "round_trip",
        "size_bytes": [100, 100, 10_000, 10_000],
        "backend": ["tcp", "unix", "tcp", "unix"],
        "placement": "same",
        "value": [18e3, 15e3, 24e3, 19e3],
        "low": [17e3, 14e3, 23e3, 18e3],
        "high": [19e3, 16e3, 25e3, 20e3],
        "unit": "ns",
    }
)
SMALL = FRAME[FRAME.size_bytes == 100]


@pytest.fixture
def ax():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


def test_lines_have_names_units_and_intervals(ax) -> None:
    lines(FRAME, x="size_bytes", hue="backend", ax=ax, log="xy")
    ax.figure.canvas.draw()
    assert ax.get_legend_handles_labels()[1] == ["tcp", "unix"]
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["100\u00a0B", "10\u00a0kB"]
    assert [list(line.get_ydata()) for line in ax.lines[:1]] == [[18e3, 24e3]]


@pytest.mark.parametrize("draw", [lines, dots])
def test_half_of_an_interval_is_not_drawn(ax, draw) -> None:
    """Of few launches it has no end above, and below it may be cut at a limit."""
    axes = {"x": "size_bytes"} if draw is lines else {"y": "backend"}
    rows = FRAME[FRAME.backend == "tcp"].assign(high=[19e3, float("inf")])
    draw(rows if draw is lines else rows[1:], ax=ax, **axes)
    (whole,) = [each for bars in ax.containers[:1] for each in bars.lines[2]]
    drawn = [path for path in whole.get_segments() if pd.notna(path).all() and len(path)]
    assert len(drawn) == (1 if draw is lines else 0)


def test_names_stand_at_the_ends_of_lines(ax) -> None:
    lines(FRAME, x="size_bytes", hue="backend", ax=ax, ends=True)
    assert sorted(text.get_text() for text in ax.texts) == ["tcp", "unix"]


def test_dots_stand_in_named_rows_with_their_values(ax) -> None:
    rows = dots(SMALL, y="backend", ax=ax)
    values_beside(SMALL, rows, y="backend", ax=ax, label="median")
    spinning(rows, ["unix"], ax=ax)
    assert rows == {"tcp": 0, "unix": 1}
    assert [label.get_text() for label in ax.get_yticklabels()] == ["tcp", "unix"]
    assert [text.get_text() for text in ax.texts] == ["median", "18.0\u00a0µs", "15.0\u00a0µs"]
    assert "spins while it waits, at first at least" in ax.get_legend_handles_labels()[1]


@pytest.mark.parametrize("draw", [lines, dots])
def test_a_level_looks_alike_in_each_panel_whatever_else_a_panel_holds(draw) -> None:
    ways = FRAME.assign(backend=["a", "b", "b", "c"], placement=["same", "same", "cross", "cross"])
    figure, axes = plt.subplots(1, 2)
    looks: dict[str, set[Any]] = {}
    for ax, part in facets(ways.rename(columns={"backend": "way"}), "placement", axes):
        draw(part, **{"x": "size_bytes"} if draw is lines else {"y": "placement"}, hue="way", ax=ax)
        for line, name in zip(*ax.get_legend_handles_labels(), strict=True):
            looks.setdefault(name, set()).add((line.get_color(), line.get_marker()))
    plt.close(figure)
    assert set(looks) == {"a", "b", "c"} and {len(kinds) for kinds in looks.values()} == {1}
    assert len(set.union(*looks.values())) == 3


def test_panels_that_share_their_rows_have_each_mechanism_in_its_own() -> None:
    figure, axes = plt.subplots(1, 2, sharey=True)
    orders = ["tcp", "unix"], ["unix", "pipe", "tcp"]
    for ax, order in zip(axes, orders, strict=True):
        frame = pd.DataFrame({"backend": order, "value": [float(len(name)) for name in order]})
        rows = dots(frame.assign(study="round_trip", unit="ns"), y="backend", ax=ax)
    assert [label.get_text() for label in axes[0].get_yticklabels()] == ["tcp", "unix", "pipe"]
    assert rows == {"tcp": 0, "unix": 1, "pipe": 2}
    plt.close(figure)


def test_a_limit_and_a_panel_for_each_level(ax) -> None:
    panels = plt.figure().subplots(1, 2)
    for panel, rows in facets(FRAME, "backend", panels):
        lines(rows, x="size_bytes", ax=panel)
        limit(SMALL.head(1), x="size_bytes", ax=panel, label="a floor")
    assert [panel.get_title() for panel in panels] == ["tcp", "unix"]
    assert all("a floor" in panel.get_legend_handles_labels()[1] for panel in panels)
    plt.close(panels[0].figure)


def test_no_rows_are_said_and_rows_of_two_studies_refused(ax) -> None:
    lines(FRAME.head(0), x="size_bytes", hue="backend", ax=ax)
    assert [text.get_text() for text in ax.texts] == ["Not measured in this run."]
    lines(FRAME, x="size_bytes", hue="backend", ax=ax)
    with pytest.raises(LabError, match="draws one study"):
        lines(FRAME.assign(study="payload"), x="size_bytes", hue="backend", ax=ax)


def test_levels_that_were_not_narrowed_are_refused(ax) -> None:
    loose = pd.concat([FRAME, FRAME.assign(placement="cross")], ignore_index=True)
    with pytest.raises(LabError, match=r"rows share a place.*placement"):
        lines(loose, x="size_bytes", hue="backend", ax=ax)


@pytest.mark.parametrize(
    ("log", "most", "scale"),
    [("xy", 20_000.0, "log"), ("xy", 2_000.0, "linear"), ("x", 20_000.0, "linear")],
)
def test_few_levels_are_dots_on_a_logarithmic_axis_where_values_lie_far_apart(
    ax, log: str, most: float, scale: str
) -> None:
    values = [1_000.0, most]
    rows = SMALL.assign(value=values, low=values, high=values)
    over(rows, x="size_bytes", hue="backend", ax=ax, label="time", log=log)
    assert ax.get_xscale() == scale
    assert (ax.get_xlim()[0] == 0) == (scale == "linear")


@pytest.mark.parametrize("frame", [FRAME, FRAME.iloc[:0]])
def test_panels_say_that_nothing_was_measured_where_that_is_so(frame: pd.DataFrame) -> None:
    figure, panels = plt.subplots(1, 2)
    levels = [part.backend.iloc[0] for _, part in facets(frame, "backend", panels)]
    assert levels == [*frame.backend.unique()]
    assert [text.get_text() for text in panels[0].texts] == (
        [] if levels else ["Not measured in this run."]
    )
    assert not panels[1].texts
    plt.close(figure)
