"""A median that another arm, its launches or its limit contradict is one state of several."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest

from ipclab.bounds import states
from ipclab.stats.sessions import SESSION_HEATS
from ipclab.studies.questions import questions
from tests.support.told import reference

ARMS = [[{"arm": "main"}, {"arm": "walls", "wall": "none"}]]
CALM = (99, 100, 100, 101, 102)


def row(value: float, launches: Sequence[float] = CALM, **levels: Any) -> dict[str, Any]:
    made = {"study": "s", "point": str(levels), "backend": "unix", "arm": "main", "wall": None}
    return made | levels | {"op": "trip", "metric": "p50", "value": value, "by_heat": launches}


def found(*rows: dict[str, Any], **more: Any) -> list[tuple[float, float, str]]:
    known = states.states(pd.DataFrame(rows), **more)
    return [tuple(each) for each in known.itertuples(index=False)]


def test_arms_with_the_same_conditions_must_agree_within_a_tenth() -> None:
    apart = row(100), row(153, arm="walls", wall="none")
    near = row(100), row(110, arm="walls", wall="none")
    assert found(*apart, repeats=ARMS) == [(100, 153, states.ARMS)] * 2
    assert found(*near, repeats=ARMS) == [(100, 100, ""), (110, 110, "")]


@pytest.mark.parametrize(
    "other",
    [
        {"arm": "walls", "wall": "net"},
        {"arm": "walls", "wall": "none", "backend": "tcp"},
        {"arm": "gaps", "wall": "none"},
    ],
)
def test_other_conditions_may_take_longer(other: dict[str, Any]) -> None:
    assert found(row(100), row(200, **other), repeats=ARMS) == [(100, 100, ""), (200, 200, "")]


def test_a_run_without_the_factor_of_an_arm_has_one_value() -> None:
    rows = pd.DataFrame([row(100)]).drop(columns="wall")
    assert list(states.states(rows, ARMS).why) == [""]


@pytest.mark.parametrize(
    ("launches", "ends"),
    [
        ((37, 39, 40, 41, 52, 53, 55, 56), (39.5, 54.0)),
        ((26, 27, 43, 44, 45), (26.5, 44)),
        ((26, 27, 28, 29, 43), None),  # one launch is no state
        ((26, 27, 28, 29, 30, 31), None),
        ((26, 43), None),
        ((), None),
    ],
)
def test_launches_in_two_groups_are_two_states(
    launches: tuple[float, ...], ends: tuple[float, float] | None
) -> None:
    middle = 40.0
    ((fast, slow, why),) = found(row(middle, launches))
    assert (fast, slow) == (ends or (middle, middle))
    assert why == (states.LAUNCHES if ends else "")


def test_launches_of_several_sessions_are_looked_at_one_by_one() -> None:
    """The medians of three sessions are alike where each has launches of both states."""
    of_session = (26, 27, 44, 26, 45)
    heats = [session * SESSION_HEATS for session in range(3)]
    medians = pd.DataFrame([row(27, (27, 27, 27)) | {"heats": heats}])
    launches = pd.DataFrame({"point": "{}", "op": "trip", "metric": "p50", "value": of_session * 3})
    stated = states.states(states.of_each_launch(medians, launches))
    assert list(stated.why) == [states.LAUNCHES]
    assert (stated.fast[0], stated.slow[0]) == (26, 44.5)


def test_what_beats_its_limit_is_as_slow_as_that() -> None:
    rows = row(58), row(97), row(40)
    assert found(*rows, below={0: 0.58, 1: 0.97}) == [
        (58, pytest.approx(100), states.LIMIT),
        (97, pytest.approx(100), states.LIMIT),
        (40, 40, ""),
    ]


@pytest.mark.parametrize(
    ("levels", "busy"),
    [
        ({"backend": "unix", "wait": "block", "placement": "same"}, False),
        ({"backend": "unix", "wait": "spin", "placement": "cross"}, True),
        ({"backend": "shm-spin", "placement": "cross"}, True),
        ({"backend": "posix-shm", "wait": "block", "placement": "same"}, True),  # it yields
        ({"backend": "posix-shm", "wait": "block", "placement": "cross"}, False),
        ({"backend": "original", "placement": "same"}, False),  # no mechanism
    ],
)
def test_who_spins_or_yields_needs_an_idle_cpu(levels: dict[str, Any], busy: bool) -> None:
    run = reference()
    assert states.needs_idle_cpu(run, levels | {"op": "round-trip"}) is busy
    assert not states.needs_idle_cpu(run, levels | {"op": "write"})  # where nobody is waited for


def test_a_run_says_what_it_measured_again() -> None:
    for asked in (reference().questions, questions()):
        repeated = asked.of("round_trip").again
        assert ({"arm": "main"}, {"arm": "boundary", "boundary": "none"}) in repeated
        assert asked.of("payload").again == ()
