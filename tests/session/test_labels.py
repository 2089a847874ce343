"""Runs of nodes that share a checkout: each has its label, none continues or hides another's, each
gives its file.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from ipclab.errors import LabError, UsageError
from ipclab.paths import Paths
from ipclab.session.progress import Progress
from ipclab.session.request import Request
from ipclab.session.session import measure_run
from ipclab.store.bundle import verify
from ipclab.store.record import Record
from ipclab.store.schema import parse_run
from ipclab.studies.calibration import CalibrationStudy
from ipclab.studies.interface import Sweep
from ipclab.studies.limits import LimitsStudy
from tests.support.made import ASKED

SMALL = Request(("payload",), "smoke", sweep=Sweep((84,), ("shm-mmap",)))
WORDS = (
    "measure",
    "--study",
    "payload",
    "--profile",
    "smoke",
    "--size",
    "84",
    "--backend",
    "shm-mmap",
)


@pytest.fixture(autouse=True)
def nothing_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure neither limits nor calibration: whose run it is does not depend on them."""
    for always in (LimitsStudy, CalibrationStudy):
        monkeypatch.setattr(always, "points", lambda self, profile, sweep: [])


def cut_off(run: Record) -> Record:
    """Return `run` as a kill leaves it: not finished, with a point missing."""
    name = next(name for name in run.about["files"] if name.startswith("points/payload/"))
    del run.about["files"][name]
    (run.path / name).unlink()
    run.about["finished"] = None
    run.save()
    return run


@pytest.mark.slow
def test_a_run_is_continued_by_its_own_label_alone(paths: Paths) -> None:
    first = cut_off(measure_run(paths, replace(SMALL, label="n1"), Progress()))
    second = measure_run(paths, replace(SMALL, label="n2"), Progress())
    without = measure_run(paths, SMALL, Progress())
    again = measure_run(paths, replace(SMALL, label="n1"), Progress())
    assert (
        len({first.path, second.path, without.path}) == 3
        and again.path == first.path
        and again.complete
    )
    assert [run.about["parameters"].get("label") for run in (again, second, without)] == [
        "n1",
        "n2",
        None,
    ]
    assert Request.continuing(first.path).parameters() == again.about["parameters"]
    with pytest.raises(UsageError, match="its label is 'n1'"):
        Request.continuing(first.path, "n2")
    with pytest.raises(UsageError, match="it has no label"):
        Request.continuing(without.path, "n2")


@pytest.mark.slow
def test_two_nodes_measure_at_once_in_one_checkout(paths: Paths) -> None:
    first = cut_off(measure_run(paths, replace(SMALL, label="n1"), Progress()))
    with first.held():  # as the first node's job does while it measures
        second = measure_run(paths, replace(SMALL, label="n2"), Progress())
    assert second.complete and second.path != first.path


@pytest.mark.slow
def test_a_measured_run_is_one_file_with_its_label(
    ipclab: Callable[..., "CompletedProcess[str]"], tmp_path: Path
) -> None:
    done = ipclab(*WORDS, "--label", "node-07", "--bundle", "07.ipclab")
    assert done.returncode == 0 and done.stdout.splitlines()[0] == "07.ipclab"
    contents, index = verify(tmp_path / "07.ipclab")
    assert parse_run(index, contents.run)["parameters"]["label"] == "node-07"
    runs = len(list((tmp_path / "data/runs").glob("*/*/run.json")))
    again = ipclab(*WORDS, "--label", "node-07", "--bundle", "07.ipclab")
    assert (again.returncode, again.stdout, again.stderr.count("\n")) == (
        2,
        "",
        1,
    ) and "is there already" in again.stderr
    # refused before it measured
    assert len(list((tmp_path / "data/runs").glob("*/*/run.json"))) == runs


@pytest.mark.parametrize("label", ["../x", "a b", "<b>", "-x", "x" * 65, "x\n"])
def test_what_is_no_label_is_refused(label: str) -> None:
    with pytest.raises(UsageError, match="is no label"):
        replace(SMALL, label=label)


def test_a_bundle_goes_where_it_can(
    ipclab: Callable[..., "CompletedProcess[str]"], tmp_path: Path
) -> None:
    done = ipclab(*WORDS, "--bundle", "nowhere/x.ipclab")
    assert done.returncode == 2 and "its folder is not there, or closed" in done.stderr
    assert not (tmp_path / "data").exists()


def test_a_label_that_was_forged_is_refused() -> None:
    about = {
        "schema": 2, "begun": "2026-11-20T10:00:00+00:00", "finished": None, "seed": 1, "sessions": [], "files": {},
        "parameters": {"profile": "quick", "studies": [], "sizes": None, "backends": None, "label": "<script>"},
        "machine": {"digest": "abc", "facts": {}, "reasons": {}}, "failures": {}, "points": {}, "questions": ASKED,
    }  # fmt: skip
    with pytest.raises(LabError, match="cannot be read"):
        parse_run(json.dumps(about).encode(), "it")
