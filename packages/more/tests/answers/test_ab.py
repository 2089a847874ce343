"""`ipclab ab`: what its trial decides."""

import random
from collections.abc import Callable
from functools import partial
from itertools import count
from math import exp

import pytest

from ipclab.errors import LabError
from ipclab.session.progress import Progress
from ipclab.stats.compare import FASTER, SAME, SLOWER, UNDECIDED
from ipclab.stats.family import HEAT_LOOKS
from ipclab_more.ab.trial import (
    AGAIN,
    EXIT,
    LIMITS,
    A,
    B,
    Round,
    TrialAnswer,
    one_by_one,
    trial,
    trial_judged,
)

SCATTER = 0.05  # of launches, as one CPU has it
TRIALS = 60


class World:
    """A made-up machine: arms with true times, launches with scatter, a clock that each launch
    moves by a second.
    """

    def __init__(
        self, seed: int, slower: float = 0.0, again: float = 0.0, step: float = 0.0, after: int = 0
    ) -> None:
        self.random, self.now, self.launched = random.Random(seed), 0.0, count()
        self.times = {A: 1.0, AGAIN: 1 + again, B: 1 + slower}
        self.step, self.after = step, after  # from which launch on everything is slower by how much

    def took(self, true: float) -> float:
        disturbed = 1 + self.step if next(self.launched) >= self.after else 1.0
        return true * disturbed * exp(self.random.gauss(0, SCATTER))

    def launch(self, arm: str) -> float:
        if arm == LIMITS:
            return self.took(1.0)
        self.now += 1
        return self.took(self.times[arm])

    def trial(
        self, seconds: float = 1_000, limit: bool = True, begin: Callable[[], None] = lambda: None
    ) -> TrialAnswer:
        clock = lambda: self.now  # noqa: E731
        arms = [A, B, AGAIN, LIMITS] if limit else [A, B, AGAIN]
        launches = {arm: partial(self.launch, arm) for arm in arms}
        measured = partial(one_by_one, launches, random.Random(1))
        allowed = {"seconds": seconds, "bound": 0.05, "progress": Progress()}
        return trial(measured, begin, clock, **allowed)  # type: ignore[arg-type]


def answered(slower: float = 0.1, **world: float) -> TrialAnswer:
    return World(1, slower, **world).trial()  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slower", "right", "wrong"), [(0.0, SAME, {FASTER, SLOWER}), (0.10, SLOWER, {FASTER, SAME})]
)
def test_of_simulated_trials_most_are_right_and_at_most_one_in_twenty_is_wrong(
    slower, right, wrong
):
    verdicts = [World(seed, slower).trial().verdict for seed in range(TRIALS)]
    assert sum(verdict in wrong for verdict in verdicts) <= TRIALS / 20
    assert verdicts.count(right) >= 0.9 * TRIALS


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [24, 1_000])
@pytest.mark.parametrize(("slower", "wrong"), [(0.0, {FASTER, SLOWER}), (0.10, {FASTER, SAME})])
def test_a_machine_that_changes_in_the_middle_gives_no_wrong_answer(slower, wrong, seconds):
    found = [World(seed, slower, step=1.0, after=24).trial(seconds) for seed in range(20)]
    assert len([answer for answer in found if answer.verdict in wrong]) <= 1
    assert all("limits" in answer.reason for answer in found if answer.verdict == UNDECIDED)


def test_a_difference_of_a_against_itself_leaves_all_undecided():
    answer = answered(again=0.5)
    assert (answer.verdict, EXIT[answer.verdict]) == (UNDECIDED, 3)
    assert answer.reason.startswith("A again differs from A")


def test_limits_that_differ_leave_all_undecided():
    rounds: list[Round] = [{A: [1], AGAIN: [1.05], B: [2]}, {A: [1.1], AGAIN: [1.02], B: [2.1]}] * 4
    limits = [1, 1.01] * 6 + [3, 3.01] * 6
    changed = [
        {**measured, LIMITS: limits[3 * at : 3 * at + 3]} for at, measured in enumerate(rounds)
    ]
    answer = trial_judged(changed, 0.05)
    assert answer.verdict == UNDECIDED
    assert "limits differ" in answer.reason
    steady = [{**measured, LIMITS: [1, 1.01, 1.02]} for measured in rounds]
    assert trial_judged(steady, 0.05).verdict == SLOWER


@pytest.mark.parametrize(
    ("slower", "verdict", "code"), [(0.5, SLOWER, 1), (-0.5, FASTER, 0), (0.0, SAME, 0)]
)
def test_exit_codes_follow_the_verdict(slower, verdict, code):
    answer = answered(slower)
    assert (answer.verdict, EXIT[answer.verdict], answer.reason) == (verdict, code, "")


def test_a_trial_ends_as_soon_as_a_look_decides():
    # three heats of three arms leave two degrees of freedom: half as slow again is shown by five
    assert len(answered(0.5).rounds) == HEAT_LOOKS[1]
    assert len(answered(3.0).rounds) == HEAT_LOOKS[0]


def test_each_round_launches_every_arm_once_after_a_limit():
    for measured in answered(0.5).rounds:
        assert {arm: len(numbers) for arm, numbers in measured.items()} == {
            **dict.fromkeys((A, B, AGAIN), 1),
            LIMITS: 3,
        }


def test_no_round_begins_after_the_time():
    answer = World(1).trial(seconds=10)
    assert len(answer.rounds) == 4
    assert answer.verdict == UNDECIDED


def test_a_trial_without_native_limits_still_controls_a_against_itself():
    answer = World(1, 0.5).trial(limit=False)
    assert answer.verdict == SLOWER
    assert set(answer.controls) == {AGAIN}


def test_a_launch_that_fails_leaves_all_undecided_with_its_reason():
    rounds = count()

    def begin() -> None:
        if next(rounds) == 20:
            raise LabError("the disk is full")

    answer = World(1, 0.02).trial(begin=begin)
    told = answer.verdict, answer.reason, len(answer.rounds)
    assert told == (UNDECIDED, "the disk is full", 20)


def test_numbers_without_scatter_are_not_judged():
    answer = trial_judged([{A: [5.0], AGAIN: [5.0], B: [6.0]}] * 8, 0.05)
    assert answer.verdict == UNDECIDED
    assert "same number" in answer.reason
