"""Verdicts: on the texts' own tables, and on facts on both sides of each rule."""

import pytest

from ipclab.claims import payload, round_trip
from ipclab.claims.claim import FAILS, HOLDS, NOT_TESTABLE, UNDECIDED, Claim, Quantity, at_least, at_most, judge
from ipclab.claims.published import texts
from ipclab.facts.fact import Fact
from ipclab.facts.round_trip import SIZE_NAMES
from ipclab.paths import Paths
from tests.commands import ROOT

EVERY = [*payload.CLAIMS, *round_trip.CLAIMS]
OWN = texts(Paths(ROOT))
ON_OWN_TABLE = {
    **{"0.1": FAILS, "0.1b": HOLDS, "0.2": FAILS, "0.3": FAILS, "0.4": HOLDS, "0.5": HOLDS, "0.6": HOLDS},
    **{"0.7": NOT_TESTABLE, "0.8": NOT_TESTABLE, "0.9": NOT_TESTABLE, "0.10": FAILS, "0.11": HOLDS, "0.12": FAILS},
    **{"3.1": HOLDS, "3.2": HOLDS, "3.3": HOLDS, "3.4": HOLDS, "3.5": HOLDS, "3.6": FAILS},
}


@pytest.mark.parametrize("claim", EVERY, ids=lambda claim: claim.id)
def test_verdict_on_the_texts_own_table(claim: Claim) -> None:
    assert judge(claim, OWN).word == ON_OWN_TABLE[claim.id]
    assert bool(claim.unstated) == (ON_OWN_TABLE[claim.id] == NOT_TESTABLE)


def claim(bounds: tuple[float, float], *quantities: Quantity) -> Claim:
    return Claim("9.9", "000", "1", "en", "quote", "meaning", lambda facts: quantities, bounds)


@pytest.mark.parametrize(
    ("bounds", "quantity", "word"),
    [
        (at_least(2), Quantity(3, 2.5, 4), HOLDS),
        (at_least(2), Quantity(1, 0.5, 1.5), FAILS),
        (at_least(2), Quantity(2.1, 1.9, 2.4), UNDECIDED),
        (at_most(2), Quantity(1, 0.5, 1.5), HOLDS),
        (at_most(2), Quantity(3, 2.5, 4), FAILS),
        ((2, 3), Quantity(2.5, 2.1, 2.9), HOLDS),
        ((2, 3), Quantity(2.5, 1.9, 3.1), UNDECIDED),
        ((84, 84), Quantity(88, 88, 88), FAILS),
    ],
)
def test_an_interval_that_straddles_the_bound_is_undecided(bounds, quantity, word) -> None:
    assert judge(claim(bounds, quantity), {}).word == word


def test_all_quantities_must_hold_and_one_can_fail_the_claim() -> None:
    good, bad, open_ = Quantity(3, 3, 3), Quantity(1, 1, 1), Quantity(2, 1, 3)
    assert judge(claim(at_least(2), good, good), {}).word == HOLDS
    assert judge(claim(at_least(2), good, open_), {}).word == UNDECIDED
    assert judge(claim(at_least(2), good, open_, bad), {}).word == FAILS


@pytest.mark.parametrize(
    "claim", [each for each in EVERY if each.id not in ("0.12", "3.6")], ids=lambda claim: claim.id
)
def test_without_facts_nothing_is_claimed(claim: Claim) -> None:
    assert judge(claim, {}).word == NOT_TESTABLE


@pytest.mark.parametrize(("share", "word"), [(0.003, FAILS), (0.5, HOLDS)])
def test_the_flush_claim_changes_with_the_data(share: float, word: str) -> None:
    flush = next(each for each in payload.CLAIMS if each.id == "0.7")
    facts = {"payload.share.write.flush": Fact("x", share, "share", low=share * 0.9, high=share * 1.1)}
    assert judge(flush, facts).word == word


def test_sizes_and_bandwidths_come_from_bytes_not_from_labels() -> None:
    assert OWN["payload.moved.small"].value == 88
    assert OWN["payload.moved.medium"].value == 14_152
    assert OWN["payload.moved.large"].value == 1_384_120
    write = payload.moved(OWN, "write", "large").value
    assert round(write / 1e9, 3) == 1.941


def test_the_texts_own_sums_and_ratios() -> None:
    ratios = [each.value for each in payload.write_over_read(OWN)]
    assert [round(value, 2) for value in ratios] == [1.25, 1.76, 3.14]
    spreads = sorted(round(100 * each.value, 1) for each in payload.spreads(OWN))
    assert spreads == [11.5, 18.8, 21.6, 25.0, 33.0, 37.9]
    assert [round(each.value, 2) for each in round_trip.slower(OWN)] == [3.42, 3.08, 3.98, 3.27]
    for size in (100, 10_000, 500_000, 2_000_000):
        name = SIZE_NAMES[size]
        for backend in ("posix-shm", "zmq-ipc"):
            mean, total = (OWN[f"round_trip.published.{backend}.{name}{tail}"].value for tail in ("", ".total"))
            assert isinstance(mean, float)
            assert isinstance(total, float)
            assert abs(50_000 * mean - total) <= 0.0051e9
