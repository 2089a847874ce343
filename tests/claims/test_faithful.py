"""What is said to be as published follows from the run, and from nothing else."""

import re
from typing import Any

import pandas as pd
import pytest

from ipclab.claims import differences
from ipclab.claims import faithful as module
from ipclab.claims.differences import faithful, identical_but, less_of, statements_decided
from ipclab.claims.faithful import (
    LACKING,
    OTHER,
    SAME,
    TIMES,
    UNSTATED,
    Faithfulness,
    faithfulness,
)
from ipclab.lab.data import Data
from ipclab.lab.lab import Lab
from ipclab.paths import checkout
from ipclab.stats.quantity import Quantity
from ipclab.store.run import RunFolder
from ipclab.studies.installed import studies
from ipclab.words.words import Words
from tests.support.commands import ROOT
from tests.support.told import reference

FACTS = {"python": "3.11.7", "go": "1.27.3", "os_name": "Ubuntu 24.04"}
ROWS = [(100, "a", 5e4), (100, "b", 5e4), (2_000_000, "a", 40.0), (2_000_000, "b", 11.0)]


def lab(**notes: Any) -> Data:
    told = {"parameters": {"profile": "quick"}, "machine": {"facts": FACTS}, "questions": {}}
    about = {**told, "points": {}, "notes": notes}
    return Data(RunFolder(ROOT, about), Words.load("en"), checkout())


def trips() -> pd.DataFrame:
    frame = pd.DataFrame(ROWS, columns=["size_bytes", "backend", "value"])
    same: dict[str, Any] = {"study": "round_trip", "arm": "published", "placement": "free"}
    same |= {"op": "launch", "metric": "iterations", "launches": 5, "samples": 500}
    return frame.assign(point=["a", "b", "long a", "long b"], **same)


def compared(row: dict[str, Any], frame: pd.DataFrame | None = None, **where: Any) -> Faithfulness:
    rows = trips() if frame is None else frame
    named = {"what": "Round trips", **row}
    return module._compared(lab(), "Round trips", named, rows, rows, where)


def test_a_count_is_the_texts_or_so_many_times_it() -> None:
    row = {"text": 50_000, "metric": "launch.iterations"}
    whole = compared(row, size_bytes=100)
    assert (whole.how, whole.here, whole.differs) == (SAME, (50_000, 50_000), False)
    part = compared(row, size_bytes=2_000_000)
    assert (part.how, part.here, part.differs) == (TIMES, (11, 40), True)
    assert part.times == pytest.approx((11 / 50_000, 40 / 50_000))
    one_of_two = trips().assign(value=[50_000.0, 49_999.0, 50_000.0, 50_000.0])
    assert compared(row, one_of_two).how == TIMES


def test_more_launches_than_the_text_differ_in_nothing_but_fewer_do() -> None:
    row = {"text": 1, "column": "launches", "more": True}
    assert not compared(row).differs
    assert compared({**row, "text": 10}).differs
    assert compared({"text": 1, "column": "launches"}).differs


def test_levels_that_were_not_run_are_named() -> None:
    sizes = compared({"text": [100, 10_000, 2_000_000], "level": "size_bytes"})
    assert (sizes.how, sizes.lacking, sizes.here) == (LACKING, (10_000,), [100, 2_000_000])
    assert compared({"text": [100], "level": "size_bytes"}).how == SAME
    assert compared({"text": [100], "level": "size_bytes"}, placement="cross").how == LACKING


def test_what_was_not_measured_is_not_said_to_be_the_same() -> None:
    for row in (
        {"text": 1, "metric": "launch.absent"},
        {"text": 1, "each": "write"},
        {"text": 40, "set": "large"},
    ):
        one = compared(row)
        assert (one.how, one.here, one.differs) == (LACKING, "", True)


def test_files_are_those_that_the_run_made() -> None:
    made = lab(file_io={"sets": {"large": {"count": 8, "bytes": 536_870_912}}})
    for row, how, times in (
        ({"text": 40}, TIMES, (0.2, 0.2)),
        ({"text": 536_870_912, "of": "bytes"}, SAME, (1.0, 1.0)),
    ):
        of_set = {"what": "files", "set": "large", **row}
        one = module._compared(made, "", of_set, trips(), trips(), {})
        assert (one.how, one.times) == (how, times)


@pytest.mark.parametrize(
    ("row", "how"),
    [
        ({"fact": "python"}, UNSTATED),
        ({"fact": "absent", "text": "3.14"}, UNSTATED),
        ({"fact": "python", "text": "3.14"}, OTHER),
        ({"fact": "python", "text": "3.8+", "least": True}, SAME),
        ({"fact": "go", "text": "1.28+", "least": True}, OTHER),
        ({"fact": "os_name", "text": "Linux"}, SAME),  # any of its kind
        ({"fact": "os_name", "text": "macOS"}, OTHER),
    ],
)
def test_versions_stand_beside_those_of_the_text(row: dict[str, Any], how: str) -> None:
    assert module._fact(lab(), "", {"what": "Python", **row}).how == how


def told(monkeypatch: pytest.MonkeyPatch, *made: Faithfulness) -> tuple[str, pd.DataFrame]:
    monkeypatch.setattr(differences, "faithfulness", lambda *_: [*made])
    return identical_but(lab(), "round_trip"), faithful(lab(), "round_trip")


SIZES: dict[str, Any] = {"how": LACKING, "lacking": (500,), "factor": "size_bytes"}


def test_the_line_names_every_difference_and_says_so_of_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    same = Faithfulness("Round trips", "Warm-up", 100, 100, SAME)
    assert told(monkeypatch, same)[0] == "identical in all 1 parameters"
    part = Faithfulness(
        "Round trips", "Round trips", 50_000, (578, 578), TIMES, times=(0.0116,) * 2
    )
    sizes = Faithfulness("Round trips", "Size", [100, 500], [100], **SIZES)
    line, table = told(monkeypatch, same, part, sizes)
    assert line == "identical but for: Round trips (578 of 50,000); Size (1 of 2 values)"
    hows = [*table.Faithful]
    assert hows[:2] == ["the same", "× 0.0116"]
    assert hows[2].startswith("not run here: 500") and "quick" in hows[2]


def test_of_many_differences_counts_are_named_first_and_the_rest_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = Faithfulness("A", "Program", "theirs", "ours", OTHER)
    trips = Faithfulness("A", "Round trips", 50_000, (578, 579), TIMES, times=(0.01, 0.01))
    told(monkeypatch, program, trips, Faithfulness("A", "Size", [100, 500], [100], **SIZES))
    line = identical_but(lab(), "round_trip", 2)
    cut = "Round trips (578 to 579 of 50,000); Size (1 of 2 values) and 1 more"
    assert line == f"identical but for: {cut}"


def test_each_arm_says_what_it_ran_less_of_than_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs and machines are told for the text as a whole."""
    of_trips = ("A", "Round trips", 50_000)
    told(
        monkeypatch,
        Faithfulness("A", "Program", "theirs", "ours", OTHER, arms=("published", "whole")),
        Faithfulness(*of_trips, (50_000,) * 2, SAME, arms=("whole",)),
        Faithfulness(*of_trips, (578,) * 2, TIMES, times=(0.01, 0.01), arms=("published",)),
        Faithfulness("Machine", "Kernel", "", "6.18", UNSTATED),
    )
    assert less_of(lab(), "round_trip", "published") == "Round trips (578 of 50,000)"
    assert less_of(lab(), "round_trip", "whole") == "the same"
    assert less_of(lab(), "round_trip", "gap") == "not run by the text"


def test_a_claim_is_told_by_what_it_compares_where_another_arm_stands_for_its_own() -> None:
    made = Lab.of(reference(), checkout(), "en")
    trips = made.points("round_trip", op="round-trip", metric="mean")

    def less(arm: str, placement: str) -> str:
        points = trips[(trips.arm == arm) & (trips.placement == placement)].point
        return less_of(made, "round_trip", "published", [*points])

    assert less("whole", "free") == less_of(made, "round_trip", "published") == "the same"
    assert re.fullmatch(r"Round trips \(\d+ to [\d,]+ of 50,000\)", less("published", "free"))
    moved = r"Round trips \(.* of 50,000\); Placement \(two CPUs instead of scheduler's choice\)"
    assert re.fullmatch(moved, less("published", "cross"))


def test_no_word_of_the_table_is_that_of_a_level() -> None:
    """`same` alone would be printed as a placement, `mmap` as a mechanism."""
    words = Words.load("en")
    said = [text for text in differences.SAID.values() if "{" not in text]
    for study in studies():
        for experiment in module._table(study).get("experiment", ()):
            values = [row.get(side) for row in experiment["row"] for side in ("text", "here")]
            said += [value for value in values if isinstance(value, str)]
    assert len(said) > 20
    assert [text for text in said if words.level("", text) != text] == []


def test_what_both_ways_were_measured_says_how_many_values_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    effect = [Quantity(2.1, "", 1.8, 2.4), Quantity(1.0, "", 0.9, 1.1)]
    one = Faithfulness("Round trips", "Placement", "free", "free", SAME, effect=effect)
    _, table = told(monkeypatch, one)
    assert [*table["Changes the result"]] == ["1 of 2 values, 1 to 2.1 times"]


def test_a_study_without_a_text_has_no_parameters() -> None:
    assert faithfulness(lab(), "stream") == []
    assert identical_but(lab(), "stream") == ""


def test_statements_are_counted_that_this_machine_can_test() -> None:
    untestable = "not testable here"
    words = ["holds", "fails", "undecided", untestable, untestable]
    table = pd.DataFrame({"here": words, "unmeasured": [False] * 4 + [True]})
    said = statements_decided(lab(), table)
    assert said == "Decided: 2 of the 4 statements that this machine can test."
