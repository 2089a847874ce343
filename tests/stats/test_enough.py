"""How many launches decide an open pair: an interval shrinks with their square root."""

import math
from dataclasses import replace

import pytest

from ipclab.stats.compare import SAME, SLOWER, UNDECIDED, Comparison
from ipclab.stats.enough import launches_more, launches_that_decide


@pytest.mark.parametrize(
    ("ratio", "room"),
    [
        (1.2, math.log(1.2)),  # until it leaves 1
        (1 / 1.2, math.log(1.2)),
        (1.02, math.log(1.05 / 1.02)),  # until it fits the bound
    ],
)
def test_an_interval_twice_as_wide_as_its_room_needs_four_times_the_launches(
    ratio: float, room: float
) -> None:
    for wide, needed in ((1.99, 20), (0.5, 6)):
        ends = ratio * math.exp(-wide * room), ratio * math.exp(wide * room)
        pair = Comparison(UNDECIDED, "wide-interval", ratio, *ends, launches=(5, 9))
        assert launches_that_decide(pair, 0.05) == needed
        assert launches_more(pair, 0.05) == needed - 5


def test_a_decided_pair_needs_none_and_an_endless_one_the_fewest() -> None:
    for verdict in (SLOWER, SAME):
        assert launches_more(Comparison(verdict, "", 1.2, 1.1, 1.3, launches=(5, 9)), 0.05) == 0
    endless = Comparison(UNDECIDED, "", 1.2, 0.0, math.inf)
    assert launches_that_decide(replace(endless, launches=(2, 2)), 0.05) == 3
    assert launches_that_decide(Comparison(UNDECIDED, "", launches=(7, 9)), 0.05) == 8
    paired = replace(endless, launches=(5, 5), paired=True)
    assert launches_that_decide(paired, 0.05) == 8
