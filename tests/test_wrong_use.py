"""Requests that cannot mean anything, or cannot be written down, are one line and leave nothing."""

from pathlib import Path

import pytest

from ipclab.errors import LabError, UsageError
from ipclab.measure.request import Request
from ipclab.measure.session import measure
from ipclab.paths import Paths
from ipclab.measure.progress import Silent
from ipclab.studies.interface import Sweep
from ipclab.studies.installed import study


def refused(paths: Paths, told: str, **request: object) -> None:
    """Check that measuring is refused in one line, with exit code 2, and that nothing was begun."""
    with pytest.raises(UsageError) as caught:
        measure(paths, Request(**request), Silent())  # type: ignore[arg-type]
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2
    assert not paths.data.exists()


def test_mistyped_names_get_the_nearest(paths: Paths) -> None:
    refused(paths, "unknown profile 'quik'; did you mean 'quick'?", profile="quik")
    refused(paths, "unknown study 'paylod'; did you mean 'payload'?", studies=("paylod",))
    refused(
        paths,
        "unknown backend 'shm-map'; did you mean 'shm-mmap'?",
        studies=("payload",),
        sweep=Sweep(None, ("shm-map",)),
    )
    assert study("payload").name == "payload"


@pytest.mark.parametrize("size", [0, -4])
def test_a_size_that_is_none_is_refused(size: int) -> None:
    with pytest.raises(UsageError, match=f"size {size} is not possible; give a number of bytes above 0"):
        Sweep((84, size))


def test_a_size_that_holds_no_whole_float_is_refused(paths: Paths) -> None:
    refused(paths, "size 6 holds no whole float32; give a multiple of 4", studies=("payload",), sweep=Sweep((84, 6)))


def test_a_run_that_is_none_is_refused(paths: Paths, tmp_path: Path) -> None:
    refused(paths, "is no run", studies=("payload",), run=tmp_path, sweep=Sweep((84,), ("file",)))


def test_a_data_folder_that_cannot_be_written_is_one_line(paths: Paths, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("in the way")
    with pytest.raises(LabError, match=r"cannot write .*; free some room"):
        measure(paths, Request(("payload",), "smoke", sweep=Sweep((84,), ("file",))), Silent())
