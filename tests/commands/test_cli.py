"""The command line from outside: one line for what is wrong, the exit code that belongs to it,
nothing left.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from ipclab.console import PATH
from ipclab.errors import NEAREST, LabError, UsageError, hint
from ipclab.paths import Paths
from ipclab.report.pages.report import render_run
from ipclab.session.progress import Progress
from ipclab.store.files import write_whole
from tests.support.bundled import make_run
from tests.support.commands import ROOT, Run, environment, ran

WRONG_USE, FAILED, NOBODY = 2, 1, 65534


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("measure --profile quik", "did you mean 'quick'"),
        ("measure --size -4", "give a number of bytes above 0"),
        ("measure --size many", "'many' is no number of bytes: write 65536 or 64KiB"),
        ("measure --study payload --size 1.5KiB --backend none", "no backend 'none'"),
        ("measure --level size=64", "give --size instead"),
        ("measure --placement crss", "placement=crss is not possible"),
        ("measure --run nowhere", "is no run"),
        ("report --run nowhere", "is no run"),
        ("report", "measure one: make measure"),
        ("report --lang fr", "unknown language 'fr'; there are ko, zh, en"),
        ("report --lang ", "no language is given; there are ko, zh, en"),
        ("report --format docx", "there are html, pdf, ipynb"),
        ("report --out /proc/reports", "cannot write into /proc/reports"),
        ("report --run x --profile quick", "RUN or PROFILE, not both"),
        ("doctor --seconds nan", "'--seconds'"),
        ("doctor --seconds 61", "'--seconds'"),
        ("mesure", "No such command"),
    ],
)
def test_wrong_use_is_one_line_with_the_fix(
    ipclab: Run, tmp_path: Path, words: str, says: str
) -> None:
    done = ipclab(*words.split(" "))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (WRONG_USE, "", 1)
    assert done.stderr.startswith("ipclab: ")
    assert says in done.stderr
    assert not list((tmp_path / "data").rglob("*.json"))


PLACES = (  # every argument that names a file or a folder
    "measure --run",
    "measure --scratch",
    "report --run",
    "report --out",
    "report --claims",
    "bundle run.ipclab",
    "bundle",
    "import",
    "check --out",
    "choose --need",
    "choose --size 64 --run",
    "choose --size 64 --out",
    "compare",
    "compare --out",
    "ab pipe unix --output",
)


def test_a_place_that_cannot_be_looked_up_is_one_line(ipclab: Run, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("pool")
    (tmp_path / "pool").symlink_to("loop")
    loops = [(words, "loop", "Too many levels of symbolic links") for words in PLACES]
    for words, place, why in [(PLACES[0], "a" * 256, "File name too long"), *loops]:
        done = ipclab(*words.split(), place)
        told = (done.returncode, done.stdout, done.stderr.count("\n"), why in done.stderr)
        assert told == (WRONG_USE, "", 1, True), words
    assert not (tmp_path / "data").exists()


def test_the_name_that_looks_alike_is_told_alone_else_what_there_is() -> None:
    many = ["beta", *(f"name-{number}" for number in range(70))]
    assert hint("betta", many) == "did you mean 'beta'?"
    assert hint("xyz", many[:3]) == "there are beta, name-0, name-1"
    assert hint("xyz", many).startswith("there are 71, such as ")
    assert len(hint("xyz", many).split("such as ")[1].split(", ")) == NEAREST


def test_a_data_folder_that_is_a_loop_or_a_file_is_one_line(ipclab: Run, tmp_path: Path) -> None:
    data, measuring = tmp_path / "data", ("measure", "--study", "payload", "--profile", "smoke")
    data.symlink_to("data")
    looped = ipclab(*measuring)
    data.unlink()
    data.write_text("in the way")
    in_the_way = ipclab(*measuring)
    assert looped.returncode in (FAILED, WRONG_USE) and in_the_way.returncode == FAILED
    for done, says in ((looped, "Too many levels of symbolic links"), (in_the_way, "IPCLAB_DATA")):
        assert says in done.stderr and done.stderr.count("\n") == 1


def test_a_folder_that_is_closed_is_one_line(tmp_path: Path) -> None:
    tmp_path.chmod(0)  # and root, who may all the same, is nobody for a while
    os.seteuid(NOBODY if os.getuid() == 0 else os.getuid())
    try:
        with pytest.raises(click.BadParameter, match="Permission denied"):
            PATH.convert(str(tmp_path / "run"), None, None)
    finally:
        os.seteuid(os.getuid())
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_standard_output_is_one_line(unbuffered: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "ipclab", "--version"],
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert (done.returncode, done.stderr.count("\n")) == (WRONG_USE, 1)
    assert "No space left on device" in done.stderr


def test_claims_that_are_absent_are_refused_before_a_notebook_runs(
    paths: Paths, tmp_path: Path
) -> None:
    run = make_run(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match=r"cannot read the claims in .*nowhere"):
        render_run(
            paths, run, ["en"], ["html"], tmp_path / "reports", Progress(), tmp_path / "nowhere"
        )


def test_a_device_is_not_written_over(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(LabError, match="it is no regular file"):
        write_whole(pipe, b"content")
    assert pipe.is_fifo()


def test_backends_are_listed_with_reasons(ipclab: Run) -> None:
    lines = ipclab("backends").stdout.splitlines()
    assert [line.split()[0] for line in lines] == sorted(line.split()[0] for line in lines)
    assert all(
        line.split(None, 1)[1].startswith(("ready", "not testable here: ")) for line in lines
    )


def test_check_without_reports_says_what_to_do(ipclab: Run, tmp_path: Path) -> None:
    done = ipclab("check", "--out", str(tmp_path / "reports"))
    assert done.returncode == FAILED
    assert "make report" in done.stdout


def test_clean_finds_nothing_in_a_fresh_checkout(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ipclab", "clean"]
    done = ran(command, cwd=tmp_path, env=environment(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, "nothing was left behind\n", "")


def test_make_help_lists_the_targets() -> None:
    told = ran(["make", "help"], cwd=ROOT)
    for target in ("report", "measure", "test", "check", "lab", "clean"):
        assert f"make {target}" in told.stdout


ODD = 'it\'s "$HOME" `id` 한국어 #1;'
TOLD = """#!/bin/sh
printf '<%s>' "$0" "$@"
"""
NO_COMMAND = {"help", "test", "test-all", "test-fast", "check-code", "lock", "newest"}


def test_make_takes_a_checkout_and_a_run_whose_names_have_quotes(tmp_path: Path) -> None:
    root = tmp_path / ODD
    for script in (".venv/bin/python", "scripts/setup.sh"):
        (root / script).parent.mkdir(parents=True)
        (root / script).write_text(TOLD)
        (root / script).chmod(0o755)
    makefile = (ROOT / "Makefile").read_text()
    (root / "Makefile").write_text(makefile)
    targets = re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE)
    given = [f"{name}={ODD.replace('$', '$$')}" for name in ("RUN", "A", "B", "NEED")]
    for target in {*targets} - NO_COMMAND:
        done = ran(["make", target, *given], cwd=root)
        assert (done.returncode, done.stderr) == (0, ""), target
        assert done.stdout.startswith(f"<scripts/setup.sh><{root}/.venv>")
        if target != "setup":
            assert f"<{root}/.venv/bin/python>" in done.stdout
        if target in ("report", "measure", "choose", "compare", "reference"):
            assert f"<{ODD}>" in done.stdout
        if target == "lab":  # it asks for no news, and Ctrl-C ends it at once
            assert f"<--LabApp.app_settings_dir={root}/scripts/jupyterlab>" in done.stdout
            assert "<--ServerApp.answer_yes=True>" in done.stdout


def test_a_missing_python_is_one_line(tmp_path: Path) -> None:
    command = ["bash", str(ROOT / "scripts/setup.sh"), str(tmp_path / "env")]
    env = {"PATH": "/usr/bin:/bin", "PYTHON": "python-that-is-not-there"}
    done = ran(command, env=env)
    assert done.returncode == FAILED
    assert done.stderr.count("\n") == 1
    assert "install Python 3.11 or newer" in done.stderr
