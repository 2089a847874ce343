"""A run that is continued: whose it is, what of it is measured again, and what stays as it is.

Limits and calibration are not measured: who continues a run does not depend on them.
"""

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ipclab.errors import LabError, UsageError
from ipclab.paths import Paths
from ipclab.session.progress import Progress
from ipclab.session.request import Request
from ipclab.session.session import measure_run
from ipclab.spawn.failures import LaunchError
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.started import Role
from ipclab.store.bundle import verify
from ipclab.store.record import Record, reopened
from ipclab.store.samples import decode
from ipclab.store.schema import parse_run
from ipclab.studies.calibration import CalibrationStudy
from ipclab.studies.interface import Sweep
from ipclab.studies.limits import LimitsStudy
from tests.support.commands import ROOT, Run

pytestmark = pytest.mark.slow
SMALL = Request(("payload",), "smoke", sweep=Sweep((84,), ("shm-mmap", "posix-shm", "file")))
MINE = replace(SMALL, label="n1")


@pytest.fixture(scope="module", autouse=True)
def nothing_beside() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for always in (LimitsStudy, CalibrationStudy):
            patch.setattr(always, "points", lambda self, profile, sweep: [])
        yield


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a finished run of the node n1, which nobody alters."""
    data = tmp_path_factory.mktemp("measured")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPCLAB_DATA", str(data))
        measure_run(Paths(ROOT), MINE, Progress())
    return data


@pytest.fixture
def run(measured: Path, paths: Paths) -> Record:
    """A copy of it, to be altered."""
    shutil.copytree(measured, paths.data)
    (index,) = paths.runs.glob("*/*/run.json")
    return reopened(index.parent)


def open_again(run: Record) -> None:
    """Let the run be as a kill leaves it: not finished."""
    run.about["finished"] = None
    run.save()


def orders(run: Record) -> dict[str, list[int]]:
    """Return the places in the run of each point's launches that are on disk."""
    return {file.name: [each.order for each in decode(file).launches] for file in run.point_files()}


def states(run: Record) -> dict[Path, int]:
    return {file: file.stat().st_mtime_ns for file in (*run.point_files(), run.path / "run.json")}


def test_a_run_is_continued_by_its_own_label_alone_also_while_another_node_measures(
    run: Record, paths: Paths
) -> None:
    missing = run.point_files()[0]
    del run.about["files"][str(missing.relative_to(run.path))]
    missing.unlink()
    open_again(run)
    with run.held():  # as the first node's job does while it measures
        other = measure_run(paths, replace(SMALL, label="n2"), Progress())
    again = measure_run(paths, MINE, Progress())
    assert other.path != run.path == again.path and other.complete and again.complete
    assert [each.about["parameters"]["label"] for each in (again, other)] == ["n1", "n2"]


def test_who_names_a_run_names_no_other_label(run: Record) -> None:
    assert Request.continuing(run.path).parameters() == run.about["parameters"]
    with pytest.raises(UsageError, match="its label is 'n1'"):
        Request.continuing(run.path, "n2")
    del run.about["parameters"]["label"]
    run.save()
    with pytest.raises(UsageError, match="it has no label"):
        Request.continuing(run.path, "n2")


def test_a_finished_run_is_not_measured_again_nor_with_other_parameters(
    run: Record, paths: Paths
) -> None:
    before = states(run)
    assert measure_run(paths, replace(MINE, run=run.path), Progress()).path == run.path
    told = "cannot be continued: it was begun with other parameters or on another machine"
    with pytest.raises(UsageError, match=told):
        measure_run(paths, replace(MINE, run=run.path, sweep=Sweep((88,))), Progress())
    assert states(run) == before


def test_a_run_that_is_measured_is_not_measured_by_another(run: Record, paths: Paths) -> None:
    open_again(run)
    told = "is being measured by another process; wait for it or end it"
    with run.held(), pytest.raises(LabError, match=told):
        measure_run(paths, MINE, Progress())


def test_an_altered_point_is_measured_again_and_said(
    run: Record, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = orders(run)
    altered, cut, *_ = run.point_files()
    altered.write_bytes(altered.read_bytes()[:-1] + b"\0")
    os.truncate(cut, 10)
    half = altered.with_name("half.parquet.part")
    half.write_bytes(b"PAR1")
    open_again(run)
    said = list[str]()
    monkeypatch.setattr(Progress, "say", lambda _, line: said.append(line))
    again = measure_run(paths, MINE, Progress())
    warned = {line.split()[0] for line in said if "is not what was measured" in line}
    assert {Path(name).name for name in warned} == {altered.name, cut.name}
    after = orders(again)
    assert {name for name in before if after[name] != before[name]} == {altered.name, cut.name}
    assert not half.exists() and len(again.about["sessions"]) == 2


def test_the_same_command_measures_failed_points_again(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = replace(SMALL, sweep=Sweep((84,), ("file", "mp-shm")))
    running = Launcher.running

    def fail_files(self: Launcher, roles: list[Role], prefix: str) -> Any:
        if roles[0].arguments.get("arm") == "file":
            raise LaunchError("no such luck")
        return running(self, roles, prefix)

    with monkeypatch.context() as patch:
        patch.setattr(Launcher, "running", fail_files)
        run = measure_run(paths, request, Progress())
    assert run.finished and not run.complete
    assert [*run.about["failures"].values()] == ["no such luck"]
    before = orders(run)
    again = measure_run(paths, request, Progress())
    assert again.path == run.path and again.complete
    after = orders(again)
    assert before.items() <= after.items() and len(after) == len(before) + 1


WORDS = "measure --study payload --profile smoke --size 84 --backend shm-mmap --bundle"


def test_a_measured_run_is_one_file_with_its_label(ipclab: Run, tmp_path: Path) -> None:
    words = (*WORDS.split(), "07.ipclab", "--label", "node-07")
    done = ipclab(*words)
    assert done.returncode == 0 and done.stdout.splitlines()[0] == "07.ipclab"
    contents, index = verify(tmp_path / "07.ipclab")
    assert parse_run(index, contents.run)["parameters"]["label"] == "node-07"
    runs = [*(tmp_path / "data/runs").glob("*/*/run.json")]
    for refused, why in (
        (words, "is there already"),
        ((*WORDS.split(), "nowhere/x.ipclab"), "its folder is not there, or closed"),
    ):
        done = ipclab(*refused)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert why in done.stderr
    # refused before they measured
    assert [*(tmp_path / "data/runs").glob("*/*/run.json")] == runs


def test_what_is_no_label_is_refused() -> None:
    for label in ("../x", "a b", "<b>", "-x", "x" * 65, "x\n"):
        with pytest.raises(UsageError, match="is no label"):
            replace(SMALL, label=label)
