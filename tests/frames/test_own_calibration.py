"""A run's own calibration: its points, and what its contests say; with made-up launches, and with
real workers.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ipclab.calibrated import EXCHANGES, counted
from ipclab.frames.contests import contests
from ipclab.lab.lab import Lab
from ipclab.paths import Paths
from ipclab.report.appendix.calibration import calibration_table
from ipclab.session.heats import heats
from ipclab.session.request import Request
from ipclab.stats.family import HEAT_LOOKS
from ipclab.store.calibration import Counted
from ipclab.store.point import Point
from ipclab.store.questions import ALWAYS
from ipclab.studies.calibration import OP, CalibrationStudy
from ipclab.studies.interface import Sweep
from ipclab.studies.profile import PROFILES
from ipclab.studies.questions import question
from tests.support.bundled import make_run

STUDY = CalibrationStudy()
PAIRS = 4  # of a quick run


def launched(
    points: list[Point], scatter: float, launches: int, favoured: str = ""
) -> pd.DataFrame:
    """Return the launch frame of a machine whose launches scatter by `scatter`; `favoured` is twice
    as fast.
    """
    random, made = np.random.default_rng(7), []
    for point in points:
        ns = 1e5 * int(point.levels["exchanges"]) / EXCHANGES
        if point.backend == favoured:
            ns /= 2
        head = {"study": point.study, "point": point.id, **point.key()}
        head |= {"op": OP, "metric": "p50", "unit": "ns"}
        values = ns * np.exp(random.normal(0, scatter, launches))
        made += [
            {**head, "launch": k, "round": k, "value": value} for k, value in enumerate(values)
        ]
    return pd.DataFrame(made)


def points_of(profile: str) -> list[Point]:
    return STUDY.points(PROFILES[profile], Sweep())


def told(scatter: float, launches: int, favoured: str = "") -> dict[str, Counted]:
    return of(points_of("quick"), scatter, launches, favoured)


def of(
    points: list[Point], scatter: float, launches: int, favoured: str = ""
) -> dict[str, Counted]:
    frame = launched(points, scatter, launches, favoured)
    return counted(contests(question("calibration"), frame, 0.05))


def test_every_run_has_it_whatever_is_swept() -> None:
    for request in (
        Request(("payload",), "quick"),
        Request((), "quick", sweep=Sweep(levels={"entries": (7,)})),
        Request(("round_trip",), "quick", sweep=Sweep(sizes=(64,), backends=("unix",))),
    ):
        found = {each.name: points for each, points in request.points()}
        assert all(found[name] for name in ALWAYS)
        assert len(found["calibration"]) == 2 * 3 * PAIRS
        # runs begun before can be continued
        assert "calibration" not in request.parameters()["studies"]


def test_launches_that_decide_nothing_get_one_pair() -> None:
    assert {point.levels["pair"] for point in points_of("smoke")} == {1}
    assert STUDY.effort(PROFILES["quick"]).most_launches == HEAT_LOOKS[2]


def test_no_two_pairs_share_a_contestant() -> None:
    points = points_of("quick")
    assert {len(heat) for heat in heats(points)} <= {3 * PAIRS, 3}
    contests_of = contests(question("calibration"), launched(points, 0.01, 12), 0.10)
    names = [*contests_of.point.unique(), *contests_of.other_point]
    assert len(set(names)) == len(points)


SLOWED = {"0.10": 2, "0.20": 1, "0.40": 1}


@pytest.mark.parametrize(
    ("launches", "favoured", "found"),
    [
        (12, "", Counted(PAIRS, 0, SLOWED, SLOWED)),  # a quiet machine imagines nothing
        (12, "echo-slower", Counted(0, 0, SLOWED, {})),  # and no twins are compared
        (2, "", None),  # what launches cannot tell apart is not counted
    ],
)
def test_what_was_planted_is_found_unless_the_slowed_one_looks_fastest(
    launches: int, favoured: str, found: Counted | None
) -> None:
    expected = dict.fromkeys(("cross", "same"), found) if found else {}
    assert told(0.01, launches, favoured) == expected


def test_a_twin_that_is_favoured_makes_false_alarms() -> None:
    for part in told(0.01, 12, "echo-a").values():
        assert part.alarms == part.twins == PAIRS


def test_a_loud_machine_misses_what_was_planted() -> None:
    for part in told(0.5, 12).values():
        assert part.found.get("0.10", 0) < part.planted["0.10"] == 2


def test_fifty_nine_twins_without_alarm_bound_five_per_cent() -> None:
    assert Counted(PAIRS).upper == pytest.approx(0.527, abs=1e-3)
    assert Counted(59).upper < 0.05 < Counted(58).upper


def test_a_run_that_holds_a_few_of_its_points_has_fewer_comparisons() -> None:
    """One alone in its contest is compared with none: that was a traceback."""
    one, other = (
        each
        for each in points_of("quick")
        if (each.placement, each.levels["pair"]) == ("same", 1)
        and each.levels["exchanges"] == EXCHANGES
    )
    assert of([one], 0.01, 12) == {}
    assert of([one, other], 0.01, 12) == {"same": Counted(1)}


def test_a_run_without_it_has_no_table_of_it(tmp_path: Path, paths: Paths) -> None:
    run = make_run(tmp_path)
    (run.path.parent / "calibration.json").unlink()
    assert calibration_table(Lab.of(run, paths, "en")).absent
