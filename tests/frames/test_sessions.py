"""Sessions of one run: from three on, intervals of values and ratios are between sessions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from ipclab.frames.contests import contests, side_of
from ipclab.frames.points import VALUES, launch_rows, point_rows
from ipclab.frames.rows import quantity
from ipclab.stats import paired
from ipclab.stats.compare import Side, compare
from ipclab.stats.family import ALPHA, range_level
from ipclab.stats.intervals import SESSION_ERROR, mean_of, statistic_estimate
from ipclab.stats.sessions import SESSION_HEATS, by_session, several
from ipclab.store.point import Point
from ipclab.store.samples import Measured
from ipclab.studies.questions import question
from tests.support.made import MAIN, framed, make_launch

LUCK = (1.0, 1.3, 0.9)  # of each session


def measured(backend: str, ns: int, luck: Sequence[float] = LUCK) -> Measured:
    """Return a point with three launches in each session, which differ by 1 ns."""
    launches = []
    for session, factor in enumerate(luck):
        for number in range(1, 4):
            launch = make_launch((), **{"round-trip": [round(ns * factor) + number] * 8})
            heat = session * SESSION_HEATS + number
            launch.facts |= {"round": heat, "heat": heat}
            launches.append(launch)
    point = Point("round_trip", backend, 100, "cross", MAIN, "", ("round-trip",))
    return Measured(point, launches, "enough")


def row_of(of: Measured, metric: str) -> Any:
    points = framed(point_rows(of), VALUES)
    (row,) = points[points.metric == metric].itertuples()
    return row


def test_two_sessions_leave_one_degree_of_freedom_and_are_none() -> None:
    by_heat = {1: 1.0, 2: 3.0, SESSION_HEATS + 1: 5.0}
    assert by_session(by_heat) is by_heat and not several(by_heat)
    by_heat = {1: 1.0, 2: 4.0, SESSION_HEATS + 1: 5.0, 2 * SESSION_HEATS + 7: 4.0}
    assert by_session(by_heat) == pytest.approx(
        {0: 2.0, SESSION_HEATS: 5.0, 2 * SESSION_HEATS: 4.0}
    )
    assert by_session(by_heat, logs=False) == {0: 2.5, SESSION_HEATS: 5.0, 2 * SESSION_HEATS: 4.0}


def test_a_value_is_the_mean_of_sessions_and_its_interval_lies_between_them() -> None:
    row = row_of(measured("unix", 10_000), "p50")
    means = [mean_of([begin + n for n in (1, 2, 3)]) for begin in (10_000, 13_000, 9_000)]
    between = statistic_estimate(means, 72)
    assert (row.value, row.low, row.high) == (between.value, between.low, between.high)
    assert (row.launches, row.heats, row.by_heat) == (
        9,
        (0, SESSION_HEATS, 2 * SESSION_HEATS),
        tuple(means),
    )
    time = quantity(row)
    # what is computed of it has no term of sessions once more
    assert (2 * time).ends == (2 * between.low, 2 * between.high)
    rate = row_of(measured("unix", 10_000), "bandwidth")
    assert rate.value == pytest.approx(100 * 1e9 / row.value)
    assert quantity(rate).value == pytest.approx(rate.value)


def test_fewer_sessions_keep_the_term_of_another_one() -> None:
    row = row_of(measured("unix", 10_000, LUCK[:2]), "p50")
    launches = [10_001.0, 10_002.0, 10_003.0, 13_001.0, 13_002.0, 13_003.0]
    within = statistic_estimate(launches, 48, session=SESSION_ERROR)
    assert (row.low, row.high) == (within.low, within.high)
    assert len(row.heats) == 6


def test_a_ratio_is_judged_by_sessions_whose_number_no_look_decides() -> None:
    random, sides = np.random.default_rng(1), []
    for slower in (1.0, 1.5):
        heats = {}
        for session, factor in enumerate(LUCK):
            own = random.normal(0, 0.02) if slower > 1 else 0.0
            for number in range(1, 6):
                heats[session * SESSION_HEATS + number] = 1e4 * factor * slower * np.exp(own)
        sides.append(Side([*heats.values()], heats=heats))
    found = compare(sides[0], sides[1])
    assert (found.verdict, found.launches) == ("slower", (3, 3))
    assert found.level == range_level(2, ALPHA)
    ratios = paired.log_ratios(sides[0].heats, sides[1].heats)
    assert len(ratios) == len(LUCK)
    assert found.ratio == pytest.approx(np.exp(ratios.mean()))


def test_what_a_contest_says_of_a_value_is_what_the_point_says() -> None:
    both = [measured("unix", 10_000), measured("tcp", 20_000)]
    launches = framed(
        [row for each in both for row in launch_rows(each)], ("op", "metric", "value")
    )
    medians = launches[(launches.backend == "unix") & (launches.metric == "p50")]
    assert side_of(medians).medians == pytest.approx([10_002.0, 13_002.0, 9_002.0], rel=1e-6)
    assert side_of(medians).rounds == []
    compared = contests(question("round_trip"), launches)
    (row,) = compared[compared.among == "all"].itertuples()
    points = [row_of(each, "p50").value for each in both]
    assert (row.best, row.value) == pytest.approx(points, rel=1e-12)
    assert row.ratio == float(str(row.value)) / float(str(row.best))
