"""Names from elsewhere at the doors: a run that is read, a terminal, a spreadsheet, an encoding."""

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from ipclab.commands.bundles import pack
from ipclab.errors import LabError, plain
from ipclab.report.sheet import csv
from ipclab.store import run as folder
from tests.support.bundled import make_run
from tests.support.commands import Run

COMMANDS = {
    "escape": "\x1b[31mred",
    "title": "\x1b]0;mine\x07",
    "back": "a\rb\x08",
    "eight-bit": "\x9b31m",
    "turned": "a\u202eb\u2066c",
    "no XML": "a\x00\x0b\uffff",
}
SPOKEN = "한국어 中文 µs – 5\u00a0MB\tx\ny\udcff"


@pytest.mark.parametrize("name", COMMANDS.values(), ids=[*COMMANDS])
def test_a_name_that_commands_is_told_without_its_commands(name: str) -> None:
    assert "?" in plain(name) and len(plain(name)) == len(name)
    assert plain(plain(name)) == plain(name) != name
    assert str(LabError(name, name, name)).count("?") >= 3
    assert plain(SPOKEN) == SPOKEN


def test_a_run_is_read_without_commands(ipclab: Run, tmp_path: Path) -> None:
    names = [*COMMANDS.values()]
    run = make_run(tmp_path / "data/runs")
    run.about["machine"]["facts"]["cpu_model"] = "".join(names)
    run.about["failures"] = {name: name for name in names}
    run.about["parameters"]["studies"] = ["round_trip", *names]
    run.save()
    about = folder.read_run(run.path).about
    assert about["machine"]["facts"]["cpu_model"] == plain("".join(names))
    assert about["failures"] == {plain(name): plain(name) for name in names}
    listed = ipclab("runs")
    assert (listed.returncode, listed.stdout) == (0, plain(listed.stdout))
    assert all(plain(name) in listed.stdout for name in names)


def test_what_is_echoed_of_a_path_commands_no_terminal(ipclab: Run, tmp_path: Path) -> None:
    named = "\x1b[31m\u202e"
    for words in (["report", "--run", named], ["compare", named, named], [named]):
        done = ipclab(*words)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert done.stderr == plain(done.stderr)
    pack(make_run(tmp_path / "data/runs"), tmp_path / named)
    for words in (["import", named], ["choose", "--size", "100", "--run", named]):
        done = ipclab(*words)
        assert "\x1b" not in done.stdout + done.stderr and "\u202e" not in done.stdout


@pytest.mark.parametrize("kind", ["object", "string", "category"])
def test_no_cell_of_a_table_is_computed_by_a_spreadsheet(kind: str) -> None:
    for text in ("=cmd|' /C calc'!A0", "+1+1", "-1-1", "@SUM(A1)", "\t=1"):
        table = pd.DataFrame({"name": pd.Series([text], dtype=kind), text: [-1.5]})
        head, row = csv(table).replace('"', "").splitlines()
        assert head == f"name,'{text}" and row == f"'{text},-1.5"


def test_numbers_and_words_of_a_table_stay() -> None:
    words = ["-1.5e3", "+3", "-inf", "a=b", "", None]
    table = pd.DataFrame({"word": pd.Series(words, dtype=object), "value": [-0.1] * len(words)})
    assert csv(table) == table.to_csv(index=False, lineterminator="\n")


@pytest.mark.parametrize("encoding", ["euc-kr", "ascii"])
def test_a_terminal_is_told_what_its_encoding_lacks(encoding: str) -> None:
    """On standard error by a command that is refused, and on standard output."""
    named = "5\u00a0µs – 한국어 \U0001f600"
    code = "import ipclab.__main__ as m, sys; sys.argv = ['ipclab', 'report', '--run', sys.argv[1]]"
    code += f"\ntry: m.main()\nfinally: print({named!r})"
    env = {**os.environ, "PYTHONUTF8": "0", "LC_ALL": "C.UTF-8", "PYTHONIOENCODING": encoding}
    done = subprocess.run(
        [sys.executable, "-c", code, named], env=env, capture_output=True, timeout=60, check=False
    )
    refused, told = done.stderr.decode(encoding), done.stdout.decode(encoding)
    assert (done.returncode, refused.count("\n")) == (2, 1)
    assert "is no run" in refused and "Traceback" not in refused
    assert told.startswith("5") and "- " in told
