"""Whose launches wait when there is too little time for all."""

from types import SimpleNamespace
from typing import Any

from ipclab.session.goals import left_out


def state(seconds: float, precedence: int = 0, taken: int = 1) -> Any:
    """Return a point that lacks two launches, each of which takes so many seconds."""
    return SimpleNamespace(
        precedence=precedence,
        taken=["a launch"] * taken,
        lacks=lambda: 2,
        seconds=lambda: seconds if taken else 0.0,
        can_vary=lambda: True,
    )


STATES = {"files": state(90.0), "trips": state(5.0), "writes": state(1.0)}
HEATS = [["files"], ["trips"], ["writes"]]


def test_of_equal_precedence_what_takes_least_goes_on() -> None:
    assert left_out(STATES, HEATS, 1_000.0, 1_000.0) == frozenset()
    assert left_out(STATES, HEATS, 100.0, 100.0) == {"files"}
    assert left_out(STATES, HEATS, 3.0, 3.0) == {"files", "trips"}


def test_what_is_more_important_goes_on_before_it() -> None:
    states = {**STATES, "files": state(90.0, precedence=-1)}
    assert left_out(states, HEATS, 185.0, 185.0) == {"trips"}


def test_what_was_never_launched_is_not_left_out() -> None:
    states = {**STATES, "files": state(90.0, taken=0)}
    assert left_out(states, HEATS, 1.0, 1.0) == {"trips", "writes"}
