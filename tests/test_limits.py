"""The limits as a study, and the bound that no copying mechanism can beat."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from ipclab.frames import limits
from ipclab.frames.points import VALUES, frame, point_rows
from ipclab.store.point import Point
from ipclab.store.samples import Measured
from ipclab.studies.interface import Sweep
from ipclab.studies.limits import MEMCPY_SIZES, LimitsStudy
from ipclab.studies.profile import PROFILES
from tests.made import make_launch

SIZE = 2_000_000
COPY_NS = 50_000


def measured(study: str, backend: str, op: str, ns: int, **levels: str) -> Measured:
    point = Point(study, backend, SIZE, "cross", {**levels})
    return Measured(point, [make_launch(**{op: [ns, ns + 1, ns + 2]})], "budget")


def points(*results: Measured) -> pd.DataFrame:
    return frame([row for each in results for row in point_rows(each)], VALUES)


COPIES = points(measured("limits", "memcpy", "copy", COPY_NS))


@pytest.mark.parametrize(
    ("study", "op", "passes"),
    [("round_trip", "round-trip", 4), ("payload", "handover", 2), ("payload", "write", 2), ("payload", "read", 1)],
)
def test_a_result_faster_than_its_copies_names_itself(study: str, op: str, passes: int) -> None:
    slow, fast = int(passes * COPY_NS * 0.95), int(passes * COPY_NS * 0.85)
    assert limits.impossible(points(measured(study, "unix", op, slow)), COPIES) == []
    (line,) = limits.impossible(points(measured(study, "unix", op, fast)), COPIES)
    assert line.startswith(f"{study} unix-")
    assert f"{passes} passes of memcpy over {SIZE} bytes" in line


def test_in_place_is_a_label_that_excuses() -> None:
    for receive, lines in (("view", 0), ("bytes", 1)):
        found = points(measured("round_trip", "iceoryx2", "round-trip", 1_000, receive=receive))
        assert len(limits.impossible(found, COPIES)) == lines


def test_without_limits_nothing_is_called_impossible_and_nothing_is_over_one() -> None:
    found = points(measured("round_trip", "unix", "round-trip", 1))
    assert limits.impossible(found, COPIES.iloc[:0]) == []
    assert limits.with_limits(found, COPIES.iloc[:0]).over_limit.isna().all()


def test_a_result_stands_over_the_limit_that_matches_it() -> None:
    wake = measured("limits", "futex-wake", "wake", 1_000)
    allowed = points(measured("limits", "memcpy", "copy", COPY_NS), wake)
    handed = points(measured("payload", "shm-mmap", "handover", 404_000))
    (over,) = limits.with_limits(handed, allowed).over_limit.dropna()
    copy, asleep = (allowed[(allowed.op == op) & (allowed.metric == "p50")].low.iloc[0] for op in ("copy", "wake"))
    assert over == pytest.approx(404_001 / (2 * copy + asleep))


def test_points_cover_every_study_and_the_sizes_asked_for() -> None:
    study = LimitsStudy()
    if not study.backends():
        pytest.skip("the native package is not built here")
    found = study.points(PROFILES["quick"], Sweep(sizes=(12_345,)))
    sizes = {point.size_bytes for point in found if point.backend == "memcpy"}
    assert sizes >= {*MEMCPY_SIZES, 12_345, 1_384_120, 100}
    assert len({point.id for point in found}) == len(found)
    assert not [point for point in found if point.backend.startswith("cache-line") and point.placement == "same"]
    light = study.effort(replace(PROFILES["full"]))
    assert light.most_launches < PROFILES["full"].most_launches
    assert np.all([point.block == "limits" for point in found])
