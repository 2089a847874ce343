"""The command line from outside: one line for what is wrong, the exit code that belongs to it, nothing left."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands import ROOT, environment

WRONG_USE, FAILED = 2, 1


Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("measure", "--profile", "quik"), "did you mean 'quick'"),
        (("measure", "--study", "payloads"), "did you mean 'payload'"),
        (("measure", "--size", "0"), "give a number of bytes above 0"),
        (("measure", "--size", "-4"), "give a number of bytes above 0"),
        (("measure", "--size", "many"), "not a valid int"),
        (("measure", "--study", "payload", "--size", "85"), "multiple of 4"),
        (("measure", "--study", "payload", "--backend", "shm-map"), "did you mean 'shm-mmap'"),
        (("measure", "--study", "payload", "--backend", "zmq-ipc"), "study payload has no backend"),
        (("measure", "--run", "nowhere"), "is no run"),
        (("report", "--run", "nowhere"), "is no run"),
        (("report",), "measure one: make measure"),
        (("report", "--lang", "kr"), "there are ko, zh, en"),
        (("report", "--lang", ""), "no language is given; there are ko, zh, en"),
        (("report", "--format", "docx"), "there are html, pdf, ipynb"),
        (("report", "--format", ""), "no format is given; there are html, pdf, ipynb"),
        (("report", "--out", "/proc/reports"), "cannot write into /proc/reports"),
        (("calibrate", "--seconds", "nan"), "nan"),
        (("doctor", "--seconds", "inf"), "inf"),
        (("measure", "--seed", "-1"), "seed -1 is not possible"),
        (("report", "--run", "x", "--profile", "quick"), "RUN or PROFILE, not both"),
        (("mesure",), "No such command"),
    ],
)
def test_wrong_use_is_one_line_with_the_fix(ipclab: Run, tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    done = ipclab(*words)
    assert done.returncode == WRONG_USE
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("ipclab: ")
    assert says in done.stderr
    assert not list((tmp_path / "data").rglob("*.json"))


def test_a_data_folder_that_cannot_be_written(ipclab: Run, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where the folder should be")
    done = ipclab("measure", "--study", "payload", "--profile", "smoke")
    assert done.returncode == FAILED
    assert done.stderr.count("\n") == 1
    assert "IPCLAB_DATA" in done.stderr


def test_a_corrupt_run_is_named(ipclab: Run, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.json").write_text('{"schema": 1')
    done = ipclab("report", "--run", str(run))
    assert done.returncode == FAILED
    assert "run.json cannot be read" in done.stderr
    assert done.stderr.count("\n") == 1


def test_backends_are_listed_with_reasons(ipclab: Run) -> None:
    lines = ipclab("backends").stdout.splitlines()
    assert [line.split()[0] for line in lines] == sorted(line.split()[0] for line in lines)
    assert all(line.split(None, 1)[1].startswith(("ready", "not testable here: ")) for line in lines)


def test_check_without_reports_says_what_to_do(ipclab: Run, tmp_path: Path) -> None:
    done = ipclab("check", "--out", str(tmp_path / "reports"))
    assert done.returncode == FAILED
    assert "make report" in done.stdout


def test_clean_finds_nothing_in_a_fresh_checkout(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ipclab", "clean"]
    env = environment(tmp_path)
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "nothing was left behind\n", "")


def test_make_help_lists_the_targets() -> None:
    words = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, timeout=30, check=True).stdout
    for target in ("report", "measure", "test", "check", "lab", "clean"):
        assert f"make {target}" in words


def test_a_missing_python_is_one_line(tmp_path: Path) -> None:
    command = ["bash", str(ROOT / "scripts/setup.sh"), str(tmp_path / "env")]
    env = {"PATH": "/usr/bin:/bin", "PYTHON": "python-that-is-not-there"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == FAILED
    assert done.stderr.count("\n") == 1
    assert "install Python 3.11 or newer" in done.stderr
