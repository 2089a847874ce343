"""How much of a profile a study takes: its own row, that of the usual one, or that of all."""

from dataclasses import replace

from ipclab.studies.arms import under
from ipclab.studies.profile import PROFILES


def test_a_studys_effort_is_of_a_profile_of_the_usual_one_or_of_all() -> None:
    rows = {"all": 1, "some": {"quick": 2}, "most": {"usual": 3, "quick": 4}}
    assert under("quick", rows) == {"all": 1, "some": 2, "most": 4}
    assert under("full", rows) == {"all": 1, "most": 3}


def test_turns_that_are_longer_than_a_study_asks_stay() -> None:
    own = {"turn_ns": 10, "turns": 3}
    short, long = replace(PROFILES["quick"], turn_ns=9), replace(PROFILES["quick"], turn_ns=11)
    assert short.with_own(own) == replace(short, turn_ns=10, turns=3)
    assert long.with_own(own) == replace(long, turns=3)
