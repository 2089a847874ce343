"""What notebooks share beside the lab: pairs of mechanisms, further metrics of a point, plain numbers, names apart."""

import pandas as pd
import pytest

from ipclab.errors import UsageError
from ipclab.frames.address import narrowed
from ipclab.frames.contests import pairs
from ipclab.lab import canvas, prose, table
from ipclab.lab.data import Data
from ipclab.lab.drawing import _apart
from ipclab.lab.numbers import trimmed
from ipclab.lab.quotes import Kept, Quoted
from ipclab.stats.quantity import Quantity
from tests.test_ratios import DATA


def _launches(medians: dict[tuple[str, str], float]) -> pd.DataFrame:
    spread = [1 + 0.001 * launch for launch in range(12)]
    rows = [
        {"backend": name, "placement": place, "value": middle * each}
        for (name, place), middle in medians.items()
        for each in spread
    ]
    return pd.DataFrame(rows)


def test_a_pair_that_changes_its_order_is_told_at_each_level() -> None:
    found = pairs(
        _launches({("a", "same"): 10, ("b", "same"): 20, ("a", "cross"): 20, ("b", "cross"): 10}), "placement"
    )
    assert found.set_index("placement").verdict.to_dict() == {"same": "slower", "cross": "faster"}
    assert list(found["first"] + found.other) == ["ab", "ab"]


def test_without_launches_there_are_no_pairs() -> None:
    assert pairs(_launches({}).reindex(columns=["backend", "placement", "value"]), "placement").empty


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
    monkeypatch.setattr(Data, "points", lambda _data, _study, **levels: narrowed(whole, levels))
    found = DATA.cells(whole[whole.metric == "p50"], p99="p99", total=("launch", "total")).set_index("point")
    assert (found.p99["x"].value, found.total["x"].value) == (8.0, 7.0)
    assert found.loc["y", ["p99", "total"]].isna().all()


def test_levels_have_no_zeros_at_their_end() -> None:
    assert [trimmed(text) for text in ("50.0 µs", "1.50×", "1,000 B", "0.05", "100")] == [
        *("50 µs", "1.5×", "1,000 B", "0.05", "100")
    ]


def test_names_move_apart_around_their_middle() -> None:
    assert _apart([0.0, 1.0, 2.0, 50.0], 10.0) == [-9.0, 1.0, 11.0, 50.0]


def test_a_quoted_figure_and_table_may_share_a_name() -> None:
    made = table.Table("One write", [table.Column("Time")], [["3 ns"]], name="writes")
    drawn = canvas.Figure("<svg/>", "a line", "Writes", "writes")
    gain = Quantity(2.0, "1", 1.5, 3.0, sources=("payload/a/write/p50",))
    shown = [each._repr_mimebundle_() for each in (made, drawn, Kept({"gain": gain, "says": "Faster."}))]
    quoted = Quoted("01_payload", [each if isinstance(each, tuple) else (each, {}) for each in shown])
    assert quoted.table("writes").rows == [["3 ns"]]
    assert quoted.figure("writes") == drawn
    assert (quoted.gain, quoted.says) == (gain, "Faster.")
    with pytest.raises(UsageError, match=r"unknown table of 01_payload 'write'.*did you mean 'writes'"):
        quoted.table("write")
    with pytest.raises(AttributeError, match="it keeps gain, says"):
        quoted.gained  # noqa: B018


def test_a_paragraph_whose_value_is_empty_disappears() -> None:
    told = prose.render("One.\n\n{says}\n\nTwo.", str, lambda text: text.replace("{says}", ""))
    assert told.split() == ["One.", "Two."]


def test_columns_that_hold_nothing_are_left_out_of_a_table_and_named() -> None:
    frame = pd.DataFrame({"backend": ["a", "b"], "x": [1.0, 2.0], "y": [None, None]}).set_index("backend")
    made = table.tabulated(DATA, frame, "caption", spec="", notes=["first"], name="name")
    assert [len(row) for row in made.rows] == [2, 2]
    assert list(made.notes) == ["first", "Left out, since nothing is in them: y."]
    nothing = table.tabulated(DATA, frame[["y"]], "caption", spec="", name="name")
    assert list(nothing.rows) == []
    assert [len(row) for row in table.tabulated(DATA, frame.iloc[:1], "caption", spec="", name="name").rows] == [3]


def test_columns_without_a_name_are_lines_to_write_on() -> None:
    form = pd.DataFrame([["Author", "", "Date", ""], ["Reviewer", "", "Approver", ""]], columns=[""] * 4)
    made = table.tabulated(DATA, form, "", spec="", name="control")
    assert (made.rows, made.notes) == ([list(row) for row in form.to_numpy()], [])
