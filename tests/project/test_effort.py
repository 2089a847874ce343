"""How much of a profile a study takes is data: no code asks for a profile by its name."""

import ast
from collections.abc import Iterator
from dataclasses import replace

from ipclab.studies.arms import under
from ipclab.studies.profile import PROFILES
from tests.project.test_sorting import MODULES

ONLY_PROFILES = {"smoke", "quick", "standard"}  # another name of one is a level, too


def asking(source: str) -> Iterator[str]:
    """Yield what compares a profile's name with a text, and tables in code by such names."""
    for node in ast.walk(ast.parse(source)):
        asks = set[object]()
        if isinstance(node, ast.Compare):
            parts = list(ast.walk(node))
            names = {ast.unparse(each) for each in parts if isinstance(each, ast.Attribute)}
            if names & {"profile.name", "effort.name"}:
                asks = {each.value for each in parts if isinstance(each, ast.Constant)}
                asks &= PROFILES.keys()
        elif isinstance(node, ast.Dict):
            asks = {key.value for key in node.keys if isinstance(key, ast.Constant)}
            asks = asks & ONLY_PROFILES if asks <= {*PROFILES, "usual"} else set()
        if asks:
            yield ast.unparse(node)


def test_what_asks_for_a_profile_is_seen() -> None:
    asks = ["profile.name in ('smoke', 'quick')", "effort.name != 'full'", "{'quick': 4}"]
    for source in asks:
        assert list(asking(source)) == [source]
    assert list(asking("profile.name in named_only; touch == 'full'; {'full': 1}")) == []


def test_no_module_asks_for_a_profile() -> None:
    found = {file.name: list(asking(file.read_text(encoding="utf-8"))) for file in MODULES}
    assert {name: asks for name, asks in found.items() if asks} == {}


def test_a_studys_effort_is_of_a_profile_of_the_usual_one_or_of_all() -> None:
    rows = {"all": 1, "some": {"quick": 2}, "most": {"usual": 3, "quick": 4}}
    assert under("quick", rows) == {"all": 1, "some": 2, "most": 4}
    assert under("full", rows) == {"all": 1, "most": 3}


def test_turns_that_are_longer_than_a_study_asks_stay() -> None:
    own = {"turn_ns": 10, "turns": 3}
    short, long = replace(PROFILES["quick"], turn_ns=9), replace(PROFILES["quick"], turn_ns=11)
    assert short.with_own(own) == replace(short, turn_ns=10, turns=3)
    assert long.with_own(own) == replace(long, turns=3)
