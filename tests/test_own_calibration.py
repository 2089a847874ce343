"""A run's own calibration: its points, and what its contests say; with made-up launches, and with real workers."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ipclab.frames.calibration import rows
from ipclab.frames.contests import contests
from ipclab.lab.lab import Lab
from ipclab.machine.placement import Placement
from ipclab.measure.calibration import launching
from ipclab.measure.request import Request
from ipclab.paths import Paths
from ipclab.spawn.launcher import Launcher
from ipclab.stats.family import LOOKS
from ipclab.store.point import Point
from ipclab.studies.calibration import EXCHANGES, OP, CalibrationStudy
from ipclab.studies.installed import ALWAYS
from ipclab.studies.interface import Sweep
from ipclab.studies.profile import PROFILES
from tests.bundled import make_run

STUDY = CalibrationStudy()


def launched(points: list[Point], scatter: float, launches: int, favoured: str = "") -> pd.DataFrame:
    """Return the launch frame of a machine whose launches scatter by `scatter`; `favoured` is twice as fast."""
    random, made = np.random.default_rng(7), []
    for point in points:
        ns = 1e5 * int(point.levels["exchanges"]) / EXCHANGES / (2 if point.backend == favoured else 1)
        head = {"study": point.study, "point": point.id, **point.key(), "op": OP, "metric": "p50", "unit": "ns"}
        values = ns * np.exp(random.normal(0, scatter, launches))
        made += [{**head, "launch": k, "round": k, "value": value} for k, value in enumerate(values)]
    return pd.DataFrame(made)


def told(scatter: float, launches: int, favoured: str = "") -> dict[str, dict[str, object]]:
    points = STUDY.points(PROFILES["quick"], Sweep())
    found = rows(contests("calibration", launched(points, scatter, launches, favoured), 0.10))
    return {row["placement"]: row for row in found}


def test_every_run_has_it_whatever_is_swept() -> None:
    for request in (
        Request(("payload",), "quick"),
        Request((), "quick", sweep=Sweep(levels={"entries": (7,)})),
        Request(("round_trip",), "quick", sweep=Sweep(sizes=(64,), backends=("unix",))),
    ):
        found = {each.name: points for each, points in request.points()}
        assert all(found[name] for name in ALWAYS)
        assert len(found["calibration"]) == 2 * ((3 + 3) + (6 + 3) + (9 + 3))
        assert "calibration" not in request.parameters()["studies"]  # runs begun before can be continued


def test_launches_that_decide_nothing_get_the_least_contest() -> None:
    assert {point.levels["copies"] for point in STUDY.points(PROFILES["smoke"], Sweep())} == {3}
    assert STUDY.effort(PROFILES["quick"]).most_launches == LOOKS[1]


def test_a_quiet_machine_finds_what_was_planted_and_imagines_nothing() -> None:
    for row in told(0.01, 12).values():
        assert (row["comparisons"], row["false_alarms"], row["trials"]) == (2 + 5 + 8, 0, 3)
        assert row["found"] == {"0.10": 3, "0.20": 3, "0.50": 3}
        assert row["upper"] == pytest.approx(0.218, abs=1e-3)


def test_a_loud_machine_misses_what_was_planted() -> None:
    for row in told(0.5, 12).values():
        assert row["found"]["0.10"] == 0  # type: ignore[index]


def test_a_copy_that_is_favoured_makes_false_alarms() -> None:
    for row in told(0.01, 12, "echo-1").values():
        assert row["false_alarms"] == row["comparisons"] == 2 + 5 + 8


def test_what_launches_cannot_tell_apart_is_no_comparison() -> None:
    for row in told(0.01, 2).values():
        assert (row["comparisons"], row["false_alarms"], row["upper"]) == (0, 0, 1.0)


def test_a_run_without_it_says_that_it_was_made_before(tmp_path: Path, paths: Paths) -> None:
    run = make_run(tmp_path)
    (run.path.parent / "calibration.json").unlink()
    for lang, words in (("en", "before calibration was part"), ("ko", "교정"), ("zh", "校准")):
        table = Lab.of(run, paths, lang).calibration_table()
        assert not table.rows
        (note,) = table.notes
        assert words in note


def test_a_launch_takes_as_many_exchanges_as_asked(launcher: Launcher) -> None:
    cpu = frozenset([min(os.sched_getaffinity(0))])
    launch = launching(launcher, Placement("same", (cpu,), "same"))
    assert 0 < launch(1) < launch(1_000)
