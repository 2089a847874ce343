"""The limits as a study, and the bound that no copying mechanism can beat."""

import numpy as np
import pandas as pd
import pytest

from ipclab.frames import limits
from ipclab.frames.derived import LAUNCH_VALUES
from ipclab.frames.points import VALUES, frame, launch_rows, point_rows
from ipclab.store.point import Point
from ipclab.store.samples import Measured
from ipclab.studies.interface import Sweep
from ipclab.studies.limits import LAUNCHES, MEMCPY_SIZES, LimitsStudy
from ipclab.studies.limits.floors import Floors
from ipclab.studies.profile import PROFILES
from tests.made import make_launch

SIZE = 2_000_000
COPY_NS = 50_000


def measured(study: str, backend: str, op: str, ns: int, **levels: str) -> Measured:
    point = Point(study, backend, SIZE, "cross", {**levels})
    return Measured(point, [make_launch(**{op: [ns, ns + 1, ns + 2]})], "budget")


def points(*results: Measured) -> pd.DataFrame:
    return frame([row for each in results for row in point_rows(each)], VALUES)


def launches(*results: Measured) -> pd.DataFrame:
    return frame([row for each in results for row in launch_rows(each)], LAUNCH_VALUES)


COPIES = launches(measured("limits", "memcpy", "copy", COPY_NS))


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


def test_a_result_stands_over_the_best_launch_of_the_limit_that_matches_it() -> None:
    lucky = [make_launch(wake=[ns]) for ns in (9_000, 1_000, 7_000)]
    wake = Measured(Point("limits", "futex-wake", 0, "cross"), lucky, "budget")
    allowed = launches(measured("limits", "memcpy", "copy", COPY_NS), wake)
    handed = points(measured("payload", "shm-mmap", "handover", 404_000))
    for place, woken in ((0, 1_000), (1, 7_000), (2, 9_000), (3, 9_000)):
        (over,) = limits.with_limits(handed, allowed, place).over_limit.dropna()
        assert over == pytest.approx(404_001 / (2 * (COPY_NS + 1) + woken))


def echoes(*sizes_ns: tuple[int, int]) -> dict[tuple[str, int, str], list[float]]:
    return {("echo-shm-futex", size, "cross"): [float(ns)] for size, ns in sizes_ns}


def test_what_is_read_in_place_is_bounded_by_the_least_message() -> None:
    known = Floors(echoes((100, 5_000), (SIZE, 600_000)))
    levels = {"backend": "iceoryx2", "size_bytes": SIZE, "placement": "cross", "wait": "block"}
    copied, in_place = (known.under("round_trip", "round-trip", levels | {"receive": how}) for how in ("bytes", "view"))
    assert copied and in_place
    assert (copied.ns, in_place.ns) == (600_000, 5_000)
    assert in_place.limits == (("echo-shm-futex", 100, "cross"),)


def test_a_message_that_a_reader_holds_has_no_bound() -> None:
    known = Floors({("memcpy", size, "same"): [float(size)] for size in (1_000, 100_000)})
    levels = {"size_bytes": 10_000, "placement": "free"}
    for backend, arm, bounded in (
        ("zmq-pub", "read-many", False), ("zmq-pub", "published", True), ("shared-memory", "read-many", True)
    ):  # fmt: skip
        found = known.under("shared_dict", "read.transport", levels | {"backend": backend, "arm": arm})
        assert bool(found) == bounded
        assert not found or found.ns == pytest.approx(10_000)


def test_a_limit_is_wide_until_a_second_launch_comes_near_its_best() -> None:
    times = {
        ("pipe", 1, "same"): [50.0, 70.0, 56.0],
        ("unix", 1, "same"): [50.0, 70.0, 54.0],
        ("tcp", 1, "same"): [1.0],
    }
    assert Floors(times).wide() == [("pipe", 1, "same")]


def test_beaten_is_what_lies_below_its_limit_by_more_than_noise() -> None:
    rows = [(1.2, 60, 50), (0.97, 52, 50), (0.97, 49, 50), (0.94, 60, 50), (float("nan"), 1, 2)]
    found = pd.DataFrame(rows, columns=["over_limit", "high", "limit"])
    assert list(limits.beaten(found).index) == [2, 3]


def test_points_cover_every_study_and_the_sizes_asked_for() -> None:
    study = LimitsStudy()
    if not study.backends():
        pytest.skip("the native package is not built here")
    found = study.points(PROFILES["quick"], Sweep(sizes=(12_345,)))
    sizes = {point.size_bytes for point in found if point.backend == "memcpy"}
    assert sizes >= {*MEMCPY_SIZES, 12_345, 1_384_120, 100}
    assert len({point.id for point in found}) == len(found)
    assert not [point for point in found if point.backend.startswith("cache-line") and point.placement == "same"]
    efforts = {name: study.effort(profile).least_launches for name, profile in PROFILES.items()}
    assert efforts.pop("smoke") == PROFILES["smoke"].most_launches
    assert set(efforts.values()) == {LAUNCHES}
    assert np.all([point.block == "limits" for point in found])
