"""`ipclab runs`: what is listed, labelled and deleted are runs of this checkout, and none that is
being measured.
"""

import io
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from ipclab.commands.bundles import clean_placed, pack
from ipclab.errors import LabError, UsageError
from ipclab.paths import Paths
from ipclab.store import run as folder
from ipclab_more.runs import folders
from tests.support.bundled import make_run
from tests.support.commands import ROOT


def test_runs_are_listed_with_label_and_state(paths: Paths) -> None:
    whole, begun = make_run(paths.runs), make_run(paths.runs, "abc", finished=False)
    folders.label(whole, "n1")
    failed = make_run(paths.imported, "def")
    failed.about["failures"] = {"a-point": "it died", "another": "it hung"}
    failed.save()
    told = {row["run"]: row for row in folders.runs_listed(paths)}
    assert list(told[whole.id]) == list(folders.COLUMNS) and told[whole.id]["points"] == "3"
    states = {run: (row["label"], row["state"]) for run, row in told.items()}
    assert states == {
        whole.id: ("n1", "complete"),
        begun.id: ("", "unfinished"),
        failed.id: ("", "2 failed"),
    }


def test_a_label_is_given_and_taken_away(paths: Paths) -> None:
    run = make_run(paths.runs)
    folders.label(run, "n1")
    assert folder.read_run(run.path).about["parameters"]["label"] == "n1"
    folders.label(run, "")
    assert "label" not in folder.read_run(run.path).about["parameters"]
    with pytest.raises(UsageError, match="is no label"):
        folders.label(run, "a/b")
    with run.held(), pytest.raises(LabError, match="being measured"):
        folders.label(run, "n2")


def test_a_run_that_is_deleted_leaves_nothing_and_others_stay(paths: Paths) -> None:
    run, other = make_run(paths.runs), make_run(paths.imported, "abc")
    with run.held(), pytest.raises(LabError, match="being measured"):
        folders.delete(paths, run)
    folders.delete(paths, folders.mine(paths, run.id))
    assert not run.path.exists() and other.path.exists() and clean_placed(paths) == []
    folders.delete(paths, folders.mine(paths, other.id))
    assert not [*paths.data.rglob("*.parquet")]


def test_what_a_killed_deletion_leaves_is_cleaned(paths: Paths) -> None:
    run = make_run(paths.runs)
    paths.imported.mkdir()
    run.path.rename(paths.imported / f"{run.id}.part")
    assert len(clean_placed(paths)) == 1 and not [*paths.data.rglob("*.parquet")]


def test_committed_runs_and_strangers_are_not_deleted(
    ipclab: Callable[..., "CompletedProcess[str]"], tmp_path: Path
) -> None:
    elsewhere = make_run(tmp_path / "elsewhere")
    pack(elsewhere, tmp_path / "one.ipclab")
    committed = str(ROOT / "data/reference.ipclab")
    for name in (str(elsewhere.path), "one.ipclab", committed, str(tmp_path / "data"), "x"):
        done = ipclab("runs", "delete", name, "--yes")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), name
    assert elsewhere.path.exists() and (ROOT / "data/reference.ipclab").is_file()


def test_the_command_lists_labels_and_asks_before_it_deletes(
    ipclab: Callable[..., "CompletedProcess[str]"], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    run = make_run(tmp_path / "data/runs")
    assert ipclab("runs", "label", run.id, "n7").returncode == 0
    listed = ipclab("runs").stdout.splitlines()
    assert listed[0].split() == list(folders.COLUMNS) and listed[1].split()[2] == "n7"
    asked = ipclab("runs", "delete", run.id)  # nobody answers
    assert asked.returncode == 2 and run.path.exists() and "nothing is deleted" in asked.stderr
    assert ipclab("runs", "delete", run.id, "--yes").returncode == 0 and not run.path.exists()
