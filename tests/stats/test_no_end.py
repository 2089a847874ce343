"""What has no end is infinite and no error, and what says nothing tests nothing."""

import math

from ipclab.report.compare.unpaired import compare_runs
from ipclab.stats import judge
from ipclab.stats.compare import NOT_TESTED, Side, compare
from ipclab.stats.intervals import exp, statistic_estimate
from ipclab.stats.quantity import Quantity, of


def test_an_exponential_without_a_float_is_infinite() -> None:
    assert exp(1e6) == math.inf
    assert exp(-1e6) == 0.0


def test_two_launches_far_apart_are_not_tested_and_no_error() -> None:
    first, second = Side([1.0, 1e280]), Side([1e10, 1e300])
    (found,) = compare_runs([(first, second)])
    assert (found.verdict, found.low, found.high) == (NOT_TESTED, None, None)
    assert found.detectable is None
    for scale in (1e3, 1e150, 1e300):
        one = Side([1.0] * 3, heats=dict.fromkeys(range(3), 1.0))
        other = Side([1.0] * 3, heats={0: 1 / scale, 1: 1.0, 2: scale})
        assert compare(one, other).verdict == NOT_TESTED


def test_an_interval_that_says_nothing_tests_nothing() -> None:
    for low, high in ((0.0, 9.0), (0.05, 9.0), (-math.inf, math.inf), (2.0, math.inf)):
        wide = Quantity(3.0, "ns", low, high)
        assert wide.says_nothing
        assert judge.side(wide, 5.0) == NOT_TESTED
    assert judge.side(Quantity(3.0, "ns", 0.1, 9.0), 5.0) == judge.UNDECIDED


def test_what_may_be_nothing_or_less_keeps_its_interval() -> None:
    for unit in ("count", "share", "B"):
        assert not Quantity(3.0, unit, 0.0, 9.0).says_nothing
    assert not Quantity(0.1, "1", -0.1, 0.3).says_nothing  # a gain


def test_what_is_decided_stays_so_however_wide() -> None:
    assert judge.side(Quantity(5e3, "1", 20.0, 1e5), 1.0) == judge.ABOVE


def test_arithmetic_of_what_has_no_end_has_none() -> None:
    endless = Quantity(2.0, "ns", -math.inf, math.inf)
    known = Quantity(4.0, "ns", 3.0, 5.0)
    inverse = 1 / (endless / known)
    for found in (endless / known, known / endless, endless + known, endless * 2, inverse):
        assert found.ends == (-math.inf, math.inf)
    assert (of(0.0) / 3).value == 0.0
    assert (known / 0).value == math.inf
    huge = Quantity(1e300, "1", 1e299, 1e301)
    assert (huge * huge).value == math.inf and (huge * huge).says_nothing
    far = statistic_estimate([1.0, 1e150, 1e300], 3)
    assert (far.low, far.high) == (-math.inf, math.inf)
