"""The limits as a study, and the bound that no copying mechanism can beat."""

from dataclasses import replace

import numpy as np
import pytest

from ipclab.facts.limits import impossible
from ipclab.facts.rows import Rows, tidy
from ipclab.store.point import Point
from ipclab.studies.profile import PROFILES
from ipclab.store.samples import Measured
from ipclab.studies.interface import Sweep
from ipclab.studies.limits import MEMCPY_SIZES, LimitsStudy
from tests.made import make_launch

SIZE = 2_000_000
COPY_NS = 50_000


def measured(study: str, backend: str, op: str, ns: int, **levels: str) -> Measured:
    point = Point(study, backend, SIZE, "cross", {**levels})
    return Measured(point, [make_launch(**{op: [ns, ns + 1, ns + 2]})], "budget")


def rows(*results: Measured) -> Rows:
    return tidy([measured("limits", "memcpy", "copy", COPY_NS), *results])


@pytest.mark.parametrize(
    ("study", "op", "passes"),
    [("round_trip", "round-trip", 4), ("payload", "handover", 2), ("payload", "write", 2), ("payload", "read", 1)],
)
def test_a_result_faster_than_its_copies_names_itself(study: str, op: str, passes: int) -> None:
    slow, fast = int(passes * COPY_NS * 0.95), int(passes * COPY_NS * 0.85)
    assert list(impossible(rows(measured(study, "unix", op, slow)))) == []
    (line,) = impossible(rows(measured(study, "unix", op, fast)))
    assert line.startswith(f"{study} unix-")
    assert f"{passes} passes of memcpy over {SIZE} bytes" in line


def test_in_place_is_a_label_that_excuses() -> None:
    assert list(impossible(rows(measured("round_trip", "iceoryx2", "round-trip", 1_000, receive="view")))) == []
    assert len(list(impossible(rows(measured("round_trip", "iceoryx2", "round-trip", 1_000, receive="bytes"))))) == 1


def test_without_limits_nothing_is_called_impossible() -> None:
    assert list(impossible(tidy([measured("round_trip", "unix", "round-trip", 1)]))) == []


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
