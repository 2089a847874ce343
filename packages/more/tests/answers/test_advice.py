"""Advice follows from contests: the strength of its evidence, the price of a wrong choice, the
launches that decide.
"""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ipclab.bounds.states import UNSTEADY
from ipclab.frames.contests import VALUES
from ipclab.lab.lab import lab_of
from ipclab.lab.runs import choose
from ipclab.paths import checkout
from ipclab.report.appendix.advice import (
    ALIKE,
    LEAST,
    NONE,
    ONLY,
    PART,
    STATES,
    STRONG,
    _in_words,
    advised,
    named_entrant,
)
from ipclab.stats.compare import SLOWER, Side, compare

LAUNCHES = 12


def contest(
    scatter: float, *factors: float, launches: int = LAUNCHES, seed: int = 7
) -> pd.DataFrame:
    """Return the contest frame of mechanisms a, b, ... that take 1,000 ns times their factor."""
    drawn = np.random.default_rng(seed)
    sides = {
        name: Side(list(1000 * factor * np.exp(drawn.normal(0, scatter, launches))))
        for name, factor in zip("abcdefgh", factors, strict=False)
    }
    head = {
        "op": "o",
        "question": "",
        "among": "all",
        "placement": "same",
        "size_bytes": 1,
        "race": "",
        "fastest": "a",
    }
    rows = []
    for name in list(sides)[1:]:
        found = compare(sides["a"], sides[name], len(sides))
        told = {
            each: getattr(found, each)
            for each in ("verdict", "reason", "ratio", "low", "high", "level")
        }
        medians = {
            "best": float(np.median(sides["a"].medians)),
            "value": float(np.median(sides[name].medians)),
        }
        rows.append(
            {
                **head,
                "other": name,
                **told,
                **medians,
                "launches": "/".join(map(str, found.launches)),
            }
        )
    made = pd.DataFrame(rows, columns=list(VALUES))
    return made.assign(fast=made.best, slow=made.best, busy=False, other_busy=False, by_level=False)


@pytest.mark.parametrize(
    ("factors", "scatter", "launches", "strength", "shown"),
    [
        ((1, 2, 3), 0.02, 12, STRONG, 2),
        ((1, 1.001, 3), 0.005, 12, STRONG, 1),
        ((1, 1.03, 3), 0.1, 12, PART, 1),
        ((1, 1.03, 1.04), 0.3, 12, LEAST, 0),
        ((1, 2, 3), 0.02, 2, NONE, 0),
        ((1, 2), 0.02, 12, ONLY, 1),
        ((1, 1.001, 1.002), 0.005, 12, ALIKE, 0),
    ],
)
def test_the_strength_of_evidence(
    factors: tuple[float, ...], scatter: float, launches: int, strength: str, shown: int
) -> None:
    row = only(contest(scatter, *factors, launches=launches))
    assert (row["guess"], row["strength"], row["shown"]) == ("a", strength, shown)
    decided = strength in (STRONG, ONLY, ALIKE)
    assert (row["more"] == 0) == decided
    assert (row["loss"] == 0) == decided
    assert (row["within"] < 1.1) == (strength == ALIKE)
    assert math.isnan(row["loss"]) == (strength == NONE)


def only(found: pd.DataFrame) -> dict[str, Any]:
    (row,) = advised(found).to_dict("records")
    return {str(name): value for name, value in row.items()}


def test_with_the_launches_that_were_asked_for_most_contests_are_decided() -> None:
    decided = []
    for seed in range(20):
        row = only(contest(0.1, 1, 1.12, launches=8, seed=seed))
        more = min(int(row["more"]), 60)
        decided.append(
            only(contest(0.1, 1, 1.12, launches=8 + more, seed=seed))["strength"] in (ONLY, ALIKE)
        )
    assert sum(decided) >= 12


@pytest.mark.parametrize(
    ("low", "high", "second", "price"),
    [
        (0.8, 1.5, "b (within 1.50×)", "up to 25%; slowest 1.10×"),
        (0.0002, 36_389.0, "b (undecided)", "over 1,000%; slowest 1.10×"),
    ],
)
def test_what_says_nothing_is_not_told_in_numbers(
    low: float, high: float, second: str, price: str
) -> None:
    row = only(contest(0.3, 1, 1.1))
    loss = 1 / low - 1
    told = row | {"low": low, "high": high, "slower": False, "loss": loss, "times": 1.1}
    paths = checkout()
    lab = lab_of(choose(paths, str(paths.data / "reference.ipclab"), ""), paths, "en")
    words = _in_words(lab, SimpleNamespace(**told))
    assert (words["second"], words["price"]) == (second, price)


def test_the_slower_state_of_the_guess_is_what_a_wrong_choice_costs() -> None:
    found = contest(0.001, 1, 1.25, 3)
    row = only(found.assign(verdict=[UNSTEADY, SLOWER], slow=2000.0))
    assert (row["strength"], row["shown"], row["more"]) == (STATES, 1, 0)
    assert round(row["loss"], 2) == 0.6 and row["slower"]


def test_what_a_wrong_choice_may_cost_grows_with_the_scatter() -> None:
    calm, wild = (only(contest(scatter, 1, 1.04))["loss"] for scatter in (0.1, 0.3))
    assert wild > calm > 0


@pytest.mark.parametrize(
    ("lang", "name", "words"),
    [
        (
            "en",
            "overlapped 2RnC+2C",
            "read, overlapped: 2 read all, then compute; 2 only compute (2RnC+2C)",
        ),
        ("en", "4SYNC", "4 read and compute in turn (4SYNC)"),
        ("ko", "8RnC", "스레드 8개가 읽기를 마친 뒤 계산(8RnC)"),
        ("zh", "mmap 2SYNC", "映射：2个线程交替读取与计算（2SYNC）"),
        ("en", "tcp", "tcp"),
    ],
)
def test_codes_are_explained_where_they_stand(lang: str, name: str, words: str) -> None:
    paths = checkout()
    lab = lab_of(choose(paths, str(paths.data / "reference.ipclab"), ""), paths, lang)
    assert named_entrant(lab, name) == words
