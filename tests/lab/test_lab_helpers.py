"""What notebooks share beside the lab: pairs of mechanisms, further metrics of a point, plain
numbers, names apart.
"""

import dataclasses
import json
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ipclab.errors import LabError, UsageError
from ipclab.frames.rows import narrowed
from ipclab.lab import canvas, data
from ipclab.lab.figure import FIGURES, Figure
from ipclab.lab.lab import Lab
from ipclab.lab.shell import as_written, jupyters
from ipclab.marks.bars import bars, dots, facets
from ipclab.marks.curves import _apart, lines
from ipclab.report.notebooks.quotes import MIME, Kept, Quoted
from ipclab.stats.quantity import Quantity, measured
from ipclab.studies.profile import PROFILES
from ipclab.studies.questions import questions_of
from ipclab.tables import table
from ipclab.tables.tabulation import tabulated
from ipclab.words import labels
from ipclab.words.numbers import trimmed
from ipclab.words.words import Words
from tests.frames.test_ratios import DATA


def test_further_metrics_stand_beside_their_point(monkeypatch: pytest.MonkeyPatch) -> None:
    head = {"study": "s", "unit": "ns", "low": 1.0, "high": 9.0, "launches": 2, "samples": 4}
    whole = pd.DataFrame(
        [
            {"point": "x", "op": "trip", "metric": "p50", "value": 5.0, **head},
            {"point": "x", "op": "trip", "metric": "p99", "value": 8.0, **head},
            {"point": "x", "op": "launch", "metric": "total", "value": 7.0, **head},
            {"point": "y", "op": "trip", "metric": "p50", "value": 6.0, **head},
        ]
    )
    monkeypatch.setattr(Lab, "points", lambda _lab, _study, **levels: narrowed(whole, levels))
    found = DATA.cells(
        whole[whole.metric == "p50"], p99="p99", total=("launch", "total")
    ).set_index("point")
    assert (found.p99["x"].value, found.total["x"].value) == (8.0, 7.0)
    assert found.loc["y", ["p99", "total"]].isna().all()


def test_levels_have_no_zeros_at_their_end() -> None:
    assert [trimmed(text) for text in ("50.0 µs", "1.50×", "1,000 B", "0.05", "100")] == [
        *("50 µs", "1.5×", "1,000 B", "0.05", "100")
    ]


def test_names_move_apart_around_their_middle() -> None:
    assert _apart([0.0, 1.0, 2.0, 50.0], 10.0) == [-9.0, 1.0, 11.0, 50.0]


def test_a_mistyped_attribute_of_a_lab_is_told_with_the_nearest() -> None:
    with pytest.raises(AttributeError, match="no attribute 'cheapst': did you mean 'cheapest'"):
        _ = DATA.cheapst  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"no attribute '_hidden'$"):
        _ = DATA._hidden  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="did you mean 'words'"):
        _ = DATA.wrds  # type: ignore[attr-defined]


def test_a_quoted_figure_and_table_may_share_a_name() -> None:
    made = table.Table("One write", [table.Column("Time")], [["3 ns"]], name="writes")
    drawn = Figure("<svg/>", "a line", "Writes", "writes")
    gain = Quantity(2.0, "1", 1.5, 3.0, sources=("payload/a/write/p50",))
    kept = Kept({"gain": gain, "says": "Faster."})._repr_mimebundle_()
    shown = [made._repr_mimebundle_(), *(data for data, _ in drawn.shown()), kept]
    quoted = Quoted("01_payload", shown)
    assert quoted.table("writes").rows == [["3 ns"]]
    assert quoted.figure("writes") == drawn
    assert (quoted.gain, quoted.says) == (gain, "Faster.")
    with pytest.raises(
        UsageError, match=r"unknown table of 01_payload 'write'.*did you mean 'writes'"
    ):
        quoted.table("write")
    with pytest.raises(AttributeError, match="it keeps gain, says"):
        quoted.gained  # noqa: B018


def test_columns_that_hold_nothing_are_left_out_of_a_table_and_named() -> None:
    frame = pd.DataFrame({"backend": ["a", "b"], "x": [1.0, 2.0], "y": [None, None]}).set_index(
        "backend"
    )
    made = tabulated(DATA, frame, "caption", spec="", notes=["first"], name="name")
    assert [len(row) for row in made.rows] == [2, 2]
    assert list(made.notes) == ["first", "Left out, since nothing is in them: y."]
    pairs_of = frame.assign(x=None)[["x", "y"]]
    pairs_of.columns = pd.MultiIndex.from_tuples([("x", "p99"), ("y", "p99")])
    pairs_of["z", ""] = 1.0
    both = tabulated(DATA, pairs_of, "caption", spec="", name="name").notes
    assert list(both) == ["Left out, since nothing is in them: x, p99; y, p99."]
    nothing = tabulated(DATA, frame[["y"]], "caption", spec="", name="name")
    assert list(nothing.rows) == []
    assert [
        len(row) for row in tabulated(DATA, frame.iloc[:1], "caption", spec="", name="name").rows
    ] == [3]


def test_a_table_of_two_studies_is_refused() -> None:
    rows = ("payload/a/write/p50", "round_trip/b/round-trip/p50")
    frame = pd.DataFrame({"cell": [Quantity(1.0, "ns", sources=(row,)) for row in rows]})
    with pytest.raises(LabError, match="holds one study"):
        tabulated(DATA, frame, "both", spec="", name="both")


def test_columns_without_a_name_are_lines_to_write_on() -> None:
    form = pd.DataFrame(
        [["Author", "", "Date", ""], ["Reviewer", "", "Approver", ""]], columns=[""] * 4
    )
    made = tabulated(DATA, form, "", spec="", name="control")
    assert (made.rows, made.notes) == ([list(row) for row in form.to_numpy()], [])


HERE = pd.DataFrame(
    {
        "study": "round_trip",
        "backend": ["tcp"],
        "size_bytes": 100,
        "placement": "same",
        "op": "round-trip",
    }
).assign(metric="p50", value=1.0, unit="ns")


RUN: Any = SimpleNamespace(questions=questions_of(PROFILES["quick"]))
ASKING = dataclasses.replace(DATA, run=RUN)


@pytest.mark.parametrize(
    ("levels", "near"),
    [
        ({"backend": "unixx"}, "unix"),
        ({"metric": "p51"}, "p50"),
        ({"op": "round-tripp"}, "round-trip"),
        ({"placement": ["same", "crss"]}, "cross"),
        ({"arm": "mainn"}, "main"),
    ],
    ids=str,
)
def test_a_level_that_no_run_can_have_is_told_with_the_nearest(
    levels: dict[str, str], near: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "enriched_points", lambda run, study: HERE)
    with pytest.raises(UsageError, match=f"^round_trip has no .*; did you mean '{near}'"):
        ASKING.points("round_trip", **levels)
    if "metric" not in levels:
        with pytest.raises(UsageError, match=f"did you mean '{near}'"):
            ASKING.samples("round_trip", **levels)


def test_a_mistyped_level_of_an_address_is_told_with_the_nearest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(data, "enriched_points", lambda run, study: HERE)
    with pytest.raises(UsageError, match="no backend 'unixx'; did you mean 'unix'"):
        ASKING.value("round_trip.round-trip[backend=tcp|unixx]")


def test_a_level_that_only_this_run_lacks_gives_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "enriched_points", lambda run, study: HERE)
    for levels in (
        {"backend": "unix"},
        {"placement": "cross"},
        {"size_bytes": 84},
        {"arm": "main"},
        {"op": "write"},
    ):
        assert ASKING.points("round_trip", **levels).empty
    assert len(ASKING.points("round_trip", backend=["tcp", "unix"])) == 1


def test_a_mistyped_factor_of_a_drawing_is_told_with_the_nearest() -> None:
    with canvas.blank(DATA, (2, 2)) as drawing:
        ax = drawing.subplots()
        for draw in (
            partial(lines, x="size_bytes"),
            partial(dots, y="backend"),
            partial(bars, y="placement"),
        ):
            with pytest.raises(UsageError, match=r"no column 'backendd'.*did you mean 'backend'"):
                draw(HERE, hue="backendd", ax=ax)
        with pytest.raises(UsageError, match="did you mean 'backend'"):
            list(facets(HERE, "backendd", [ax]))


def test_a_figure_of_ones_own_needs_no_alt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FIGURES, str(tmp_path))
    with Lab(RUN, DATA.words, DATA.paths).figure("mine", "t") as ax:
        lines(HERE, x="size_bytes", hue="backend", ax=ax, log="xy")
    assert (tmp_path / "mine.en.svg").is_file()


def test_rows_and_columns_of_a_table_may_have_categories_that_no_row_has() -> None:
    levels = pd.Categorical([], ["cross", "same"])
    empty = pd.DataFrame({"placement": levels, "guess": []}).set_index("placement")
    assert labels.in_order(empty).empty


def test_a_quoted_quantity_is_what_was_kept() -> None:
    """JSON has no infinite numbers, and no keys that are numbers."""
    value = Quantity(2.0, "ns", -np.inf, np.inf, "1 x 1", sources=("a/b/c/p50",))
    kept = measured(value, {3: 2.0}, "a/b/c/p50")
    (bundle,) = Kept({"one": kept})._repr_mimebundle_().values()
    told = json.loads(
        json.dumps(bundle), parse_constant=lambda word: word.replace("Infinity", "inf")
    )
    quoted = Quoted("other", [{MIME: told}]).one
    assert isinstance(quoted, Quantity)
    assert (quoted.ends, quoted.launches, quoted.sources) == (
        kept.ends,
        kept.launches,
        kept.sources,
    )
    assert quoted.product == kept.product and quoted / kept == Quantity(
        1.0, n="1 x 1", kind="computed", sources=kept.sources
    )


@pytest.mark.parametrize(("lang", "said"), [("", "Faster."), ("ko", "빠르다.")])
def test_a_quoted_text_is_in_the_language_of_its_reader(lang: str, said: str) -> None:
    told = {MIME: {"says": {"text": {"en": "Faster.", "ko": "빠르다."}}}}
    words = Words.load(lang) if lang else None
    assert Quoted("other", [told], words).says == said


def test_what_jupyter_shows_is_read_as_it_was_written() -> None:
    written = "Told of in [](#a-table).\n\n| a |\n|---|\n| b |\n\n: Of *one* thing {#a-table}\n"
    shown = jupyters(written)
    assert '<strong id="a-table">Of *one* thing</strong>' in shown and shown != written
    assert as_written(shown) == as_written(written) == written
