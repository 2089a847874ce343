"""Requests that cannot mean anything, or cannot be written down, are one line and leave nothing."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ipclab.errors import LabError, UsageError
from ipclab.paths import Paths
from ipclab.session.progress import Progress
from ipclab.session.request import Request, levels
from ipclab.session.session import measure_run
from ipclab.spawn import ledger
from ipclab.store.point import Level
from ipclab.studies.interface import Sweep


def refused(paths: Paths, told: str, **request: object) -> None:
    """Check that measuring is refused in one line, with exit code 2, and that nothing was begun."""
    with pytest.raises(UsageError) as caught:
        measure_run(paths, Request(**request), Progress())  # type: ignore[arg-type]
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2
    assert not paths.data.exists()


def test_mistyped_names_get_the_nearest(paths: Paths) -> None:
    refused(paths, "unknown profile 'quik'; did you mean 'quick'?", profile="quik")
    refused(paths, "unknown study 'paylod'; did you mean 'payload'?", studies=("paylod",))
    of_payload = "study payload has no backend 'shm-map'; did you mean 'shm-mmap'?"
    sweep = Sweep(None, ("shm-map",))
    refused(paths, of_payload, studies=("payload",), sweep=sweep)
    refused(paths, "unknown backend 'shm-map'; did you mean 'shm-mmap'?", sweep=sweep)
    refused(paths, "backend 'lmdb'", studies=("payload",), sweep=Sweep(None, ("lmdb",)))


def test_numbers_that_are_none_are_refused() -> None:
    for size in (0, -4):
        why = f"size {size} is not possible; give a number of bytes above 0"
        with pytest.raises(UsageError, match=why):
            Sweep((84, size))
    for seed in (-1, 2**63):
        why = f"seed {seed} is not possible; give a whole number from 0 to"
        with pytest.raises(UsageError, match=why):
            Request(seed=seed)


@pytest.mark.parametrize(
    ("study", "size", "why"),
    [
        ("multiplexer", (64 << 20) + 1, "the multiplexer takes no message of 67,108,865 bytes"),
        ("file_io", (64 << 20) + 1, "files of 67,108,865 bytes are too large: profile smoke has"),
        ("shared_dict", (8 << 20) + 1, "a dictionary of 8,388,609 bytes: making it takes too long"),
    ],
)
def test_a_size_beyond_what_a_study_holds_is_refused(
    paths: Paths, study: str, size: int, why: str
) -> None:
    refused(paths, why, studies=(study,), profile="smoke", sweep=Sweep((size,)))


def test_sizes_and_entries_are_not_asked_for_at_once(paths: Paths) -> None:
    sweep = Sweep((1000,), levels={"entries": (10,)})
    refused(paths, "sizes and entries at once", studies=("shared_dict",), sweep=sweep)


def test_a_size_that_holds_no_whole_float_is_refused(paths: Paths) -> None:
    why = "size 6 holds no whole float32; give a multiple of 4"
    refused(paths, why, studies=("payload",), sweep=Sweep((84, 6)))


def test_a_run_that_is_none_is_refused(paths: Paths, tmp_path: Path) -> None:
    refused(paths, "is no run", studies=("payload",), run=tmp_path, sweep=Sweep((84,), ("file",)))


WRONG_LEVELS = (
    ((), {"entres": (10,)}, "no study here has a factor 'entres'; did you mean 'entries'?"),
    (
        ("payload",),
        {"entries": (10,)},
        "no study here has a factor 'entries'; there is placement",
    ),
    ((), {"entries": ()}, "factor entries has no level; give some, such as 10"),
    *(
        ((), {"readers": (1, bad)}, f"readers={bad} is not possible; give whole numbers above 0")
        for bad in (0, "x", True)
    ),
    ((), {"placement": ("crss",)}, "placement=crss is not possible; did you mean 'cross'?"),
)


@pytest.mark.parametrize(("studies", "levels", "told"), WRONG_LEVELS)
def test_levels_that_no_study_has_are_refused(
    paths: Paths, studies: tuple[str, ...], levels: dict[str, tuple[Level, ...]], told: str
) -> None:
    refused(paths, told, studies=studies, sweep=Sweep(levels=levels))


def test_a_level_has_one_form() -> None:
    why = "names no levels; write FACTOR=LEVEL,LEVEL such as entries=10,100"
    for text in ("entries", "=10", "entries=,"):
        with pytest.raises(UsageError, match=why):
            levels((text,))
    told = levels(("entries=10, 100", "placement=same"))
    assert told == {"entries": (10, 100), "placement": ("same",)}
    assert levels(("entries=--5",)) == {"entries": ("--5",)}  # no number: refused as a level


def swept(*studies: str, sizes: Any = None, backends: Any = None, **levels: Any) -> Request:
    """Return the request of a smoke run of these levels."""
    return Request(studies, "smoke", sweep=Sweep(sizes, backends, levels))


def points_of(request: Request) -> dict[str, Any]:
    return {study.name: points for study, points in request.points()}


def test_levels_replace_those_of_the_studies_that_have_them() -> None:
    """And the others are not swept, unless they are named."""
    request = swept(entries=(7, 5), readers=(2,))
    assert request.parameters()["levels"] == {"entries": [7, 5], "readers": [2]}
    found = points_of(request)
    assert list(found) == ["limits", "shared_dict", "calibration"]
    shared = [point.levels for point in found["shared_dict"]]
    assert {(each["entries"], each["readers"]) for each in shared} == {(5, 2), (7, 2)}
    assert {each["arm"] for each in shared} == {"published", "read-many", "stream", "live"}
    named = points_of(swept("payload", "shared_dict", entries=(7, 5)))
    assert list(named) == ["limits", "payload", "shared_dict", "calibration"]


def test_a_level_replaces_those_of_the_arms_that_have_it() -> None:
    same = swept("round_trip", sizes=(64,), backends=("pipe",), placement=("same",))
    assert {point.placement for point in points_of(same)["round_trip"]} == {"same"}
    gaps = points_of(Request((), "quick", sweep=Sweep(levels={"gap_ns": (9,)})))["round_trip"]
    assert {point.levels["gap_ns"] for point in gaps} == {0, 9}
    files = points_of(swept(threads=(3,), depth=(2,)))["file_io"]
    assert {each.levels["threads"] for each in files if each.levels["arm"] == "soon"} == {3}
    overlapped = [each for each in files if each.backend == "overlapped"]
    assert {each.levels["depth"] for each in overlapped if each.levels["arm"] == "overlap"} == {2}


def test_a_scratch_folder_that_cannot_be_written_is_one_line(paths: Paths, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for scratch in (Path("/proc"), tmp_path / "file" / "below"):
        with pytest.raises(
            LabError, match=f"cannot make files in {scratch}: .*; name another: --scratch DIR"
        ):
            measure_run(paths, Request(("file_io",), "smoke", scratch=scratch), Progress())
    assert not paths.data.exists()


def test_without_room_in_shared_memory_nothing_is_measured(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = Request(("payload",), "smoke", sweep=Sweep((84, 1_382_400), ("shm-mmap",)))
    read_only = SimpleNamespace(f_flag=os.ST_RDONLY)
    for where, name, found, told in (
        (ledger, "SHARED_MEMORY", tmp_path / "no", "no /dev/shm: No such file or directory; mount"),
        (os, "statvfs", lambda _: read_only, "/dev/shm cannot be written; mount it for writing"),
        (ledger, "free_shared_memory", lambda: 1 << 20, "1,048,576 bytes are free and 3,816,816"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(where, name, found)
            with pytest.raises(LabError, match=told):
                measure_run(paths, request, Progress())
    assert not paths.data.exists()
