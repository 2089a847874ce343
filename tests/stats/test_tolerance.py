"""Deadlines: how many launches they take, how often they hold, and what is refused; on simulated
launches.
"""

from math import comb

import numpy as np
import pytest

from ipclab_report.claims.tolerance import (
    DRIFTS,
    ERROR,
    FAILED,
    FEW,
    FOLLOWS,
    HOLDS,
    NO_TIMES,
    Deadline,
    follows,
    statement,
    tolerance_limit,
)

ASKED = Deadline(0.95, 0.95)
CHAINS = 150
TRIALS = 1_000


@pytest.mark.parametrize(
    ("coverage", "confidence", "rank", "launches"),
    # 59, 93 and 124 are those of nuclear practice (Nutt and Wallis, Reliab. Eng. Syst. Saf. 83,
    # 2004, 57-77).
    [(0.95, 0.95, 1, 59), (0.95, 0.95, 2, 93), (0.95, 0.95, 3, 124), (0.90, 0.95, 1, 29), (0.99, 0.95, 1, 299),
     (0.95, 0.99, 1, 90), (0.99, 0.99, 1, 459), (0.5, 0.5, 1, 1)],
)  # fmt: skip
def test_so_many_launches_are_needed_as_tables_print(coverage, confidence, rank, launches) -> None:
    deadline = Deadline(coverage, confidence, rank)
    assert deadline.launches == launches
    assert deadline.confidence_of(launches) >= confidence
    assert launches == rank or deadline.confidence_of(launches - 1) < confidence


def test_the_confidence_is_a_binomial_sum() -> None:
    assert ASKED.confidence_of(59) == pytest.approx(1 - 0.95**59, rel=1e-12)
    below = sum(comb(93, k) * 0.95**k * 0.05 ** (93 - k) for k in range(92))
    assert Deadline(0.95, 0.95, 2).confidence_of(93) == pytest.approx(below, rel=1e-9)


def test_the_limit_is_the_largest_or_the_one_before_and_none_of_too_few() -> None:
    values = np.random.default_rng(1).permutation(np.arange(1.0, 94.0))
    assert tolerance_limit(values, ASKED) == 93
    assert tolerance_limit(values, Deadline.of("95/95/2")) == 92
    assert tolerance_limit(values[:58], ASKED) is None
    assert tolerance_limit(values[:92], Deadline.of("95/95/2")) is None


def _simulated(shape: str, random: np.random.Generator) -> tuple[np.ndarray, float]:
    """Return 59 launches of a machine and the value below which 95 % of its launches lie."""
    if shape == "heavy-tailed":  # no mean
        return 1 + random.pareto(0.9, ASKED.launches), 0.05 ** (-1 / 0.9)
    if shape == "bimodal":  # 6 % of launches are ten times as slow
        slow = random.random(ASKED.launches) < 0.06
        values = np.where(slow, 10.0, 1.0) * (1 + random.random(ASKED.launches) / 10)
        return values, 10 * (1 + (1 - 0.05 / 0.06) / 10)
    return random.choice([10.0, 20.0, 30.0], ASKED.launches, p=[0.6, 0.36, 0.04]), 20.0


@pytest.mark.parametrize("shape", ["heavy-tailed", "bimodal", "ties"])
def test_a_deadline_covers_what_it_says_whatever_the_shape(shape: str) -> None:
    random, said, held = np.random.default_rng(7), 0, 0
    for _ in range(TRIALS):
        values, truth = _simulated(shape, random)
        found = statement(values, ASKED)
        said += found.value is not None
        held += found.value is not None and found.value >= truth
    noise = 3 * (0.05 * 0.95 / said) ** 0.5
    assert held / said >= 0.95 - noise, (held, said)
    assert said / TRIALS >= 1 - ERROR - 0.02, said  # exchangeable launches are hardly ever refused


@pytest.mark.parametrize("kept", [0.5, 0.7, 0.9])
def test_launches_that_follow_from_each_other_are_refused(kept: float) -> None:
    random, states, wrong = np.random.default_rng(3), [], 0
    for _ in range(CHAINS):
        chain = [random.normal()]
        while len(chain) < ASKED.launches:
            chain.append(kept * chain[-1] + (1 - kept**2) ** 0.5 * random.normal())
        found = statement(np.exp(chain), ASKED)
        states.append(found.state)
        wrong += found.value is not None and found.value < np.exp(1.6449)
    assert sum(state in (DRIFTS, FOLLOWS) for state in states) >= 0.85 * len(states)
    assert FOLLOWS in states
    assert wrong <= 0.05 * len(states)


def test_a_drift_and_what_alternates_are_refused() -> None:
    random = np.random.default_rng(5)
    noise = random.random(ASKED.launches)
    assert statement(10 + noise + np.linspace(0, 1, ASKED.launches), ASKED).state == DRIFTS
    assert statement(10 + noise + 2 * (np.arange(ASKED.launches) % 2), ASKED).state == FOLLOWS
    assert statement(10 + noise, ASKED).state == HOLDS


def test_what_is_not_known_is_not_bounded() -> None:
    values = 10 + np.random.default_rng(5).random(ASKED.launches)
    assert (
        statement(values, ASKED, failures=1).state,
        statement(values, ASKED, failures=1).value,
    ) == (FAILED, None)
    assert (statement(values[:58], ASKED).state, statement(values[:58], ASKED).value) == (FEW, None)
    assert statement([*values[:58], np.nan], ASKED).state == NO_TIMES
    assert statement([], ASKED).state == FEW
    assert follows([3.0] * 59) == 1.0


@pytest.mark.parametrize(
    "text", ["95", "95/", "95/100", "0/95", "95/95/0", "95/95/1/1", "nan/95", "a/b", ""]
)
def test_a_deadline_that_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Deadline.of(text)


def test_a_deadline_of_too_many_launches_is_refused() -> None:
    with pytest.raises(ValueError, match="launches"):
        _ = Deadline(0.9999999, 0.95).launches
    with pytest.raises(ValueError, match="launches"):
        _ = Deadline(0.95, 0.95, 200).launches
