"""Coverage: how many launches it takes, how often it holds, and what is refused; on simulated
launches.
"""

from itertools import product
from math import comb, fsum

import numpy as np
import pytest

from ipclab.claims.tolerance import (
    DRIFTS,
    ERROR,
    FAILED,
    FEW,
    FOLLOWS,
    HOLDS,
    NO_TIMES,
    Coverage,
    follows,
    state,
)

ASKED = Coverage(0.95, 0.95)
CHAINS, TRIALS = 80, 300


@pytest.mark.parametrize(
    ("coverage", "confidence", "rank", "launches"),
    # 59, 93 and 124 are those of nuclear practice (Nutt and Wallis, Reliab. Eng. Syst. Saf. 83,
    # 2004, 57-77).
    [(0.95, 0.95, 1, 59), (0.95, 0.95, 2, 93), (0.95, 0.95, 3, 124), (0.99, 0.99, 1, 459), (0.5, 0.5, 1, 1)],
)  # fmt: skip
def test_so_many_launches_are_needed_as_tables_print(coverage, confidence, rank, launches) -> None:
    asked = Coverage(coverage, confidence, rank)
    assert asked.launches == launches
    assert asked.confidence_of(launches) >= confidence
    assert launches == rank or asked.confidence_of(launches - 1) < confidence


def test_the_confidence_is_a_binomial_sum() -> None:
    for share, launches, rank in product((0.5, 0.95), (1, 4, 58, 459), (1, 2, 5, 20)):
        less = range(min(rank, launches + 1))
        terms = [comb(launches, k) * (1 - share) ** k * share ** (launches - k) for k in less]
        found = Coverage(share, 0.95, rank).confidence_of(launches)
        assert found == pytest.approx(1 - fsum(terms), rel=1e-9, abs=1e-12)
        assert launches >= rank or found == 0


def test_the_confidence_of_many_launches_is_a_number() -> None:
    """The terms of the sum are none: `comb` gives integers that are larger than any float."""
    assert Coverage(0.95, 0.95, 200).confidence_of(5_000) > 0.99
    assert Coverage(0.95, 0.95, 200).confidence_of(3_000) < 0.01
    assert 4_000 < Coverage(0.95, 0.95, 200).launches < 5_000


def test_what_holds_covers_what_it_says_also_of_values_that_are_equal() -> None:
    random, said, held = np.random.default_rng(7), 0, 0
    for _ in range(TRIALS):
        values = random.choice([10.0, 20.0, 30.0], ASKED.launches, p=[0.6, 0.36, 0.04])
        holds = state(values, ASKED) == HOLDS
        said += holds
        held += holds and max(values) >= 20.0
    noise = 3 * (0.05 * 0.95 / said) ** 0.5
    assert held / said >= 0.95 - noise, (held, said)
    assert said / TRIALS >= 1 - ERROR - 0.02, said  # exchangeable launches are hardly ever refused


@pytest.mark.parametrize("kept", [0.5, 0.9])
def test_launches_that_follow_from_each_other_are_refused(kept: float) -> None:
    random, states, wrong = np.random.default_rng(3), [], 0
    for _ in range(CHAINS):
        chain = [random.normal()]
        while len(chain) < ASKED.launches:
            chain.append(kept * chain[-1] + (1 - kept**2) ** 0.5 * random.normal())
        states.append(state(np.exp(chain), ASKED))
        wrong += states[-1] == HOLDS and max(chain) < 1.6449
    assert sum(found in (DRIFTS, FOLLOWS) for found in states) >= 0.85 * len(states)
    assert FOLLOWS in states
    assert wrong <= 0.05 * len(states)


def test_a_drift_and_what_alternates_are_refused() -> None:
    random = np.random.default_rng(5)
    noise = random.random(ASKED.launches)
    assert state(10 + noise + np.linspace(0, 1, ASKED.launches), ASKED) == DRIFTS
    assert state(10 + noise + 2 * (np.arange(ASKED.launches) % 2), ASKED) == FOLLOWS
    assert state(10 + noise, ASKED) == HOLDS


def test_what_is_not_known_is_not_covered() -> None:
    values = 10 + np.random.default_rng(5).random(ASKED.launches)
    assert state(values, ASKED, failures=1) == FAILED
    assert state(values[:58], ASKED) == FEW
    assert state(values, Coverage(0.95, 0.95, 2)) == FEW
    assert state([*values[:58], np.nan], ASKED) == NO_TIMES
    assert state([], ASKED) == FEW
    assert follows([3.0] * 59) == 1.0


def test_a_coverage_that_means_nothing_is_refused() -> None:
    for text in ("95", "95/", "95/100", "0/95", "95/95/2", "nan/95", "a/b", ""):
        with pytest.raises(ValueError):
            Coverage.of(text)
    with pytest.raises(ValueError, match="launches"):
        _ = Coverage(0.9999999, 0.95).launches
