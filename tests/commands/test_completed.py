"""What a shell offers for words of the command line, by click's own way to ask."""

from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

import ipclab
from ipclab.commands.cli import commands
from tests.support.bundled import make_run

SHARED = "measure --study shared_dict"


def offered(line: str, word: str = "") -> list[str]:
    """Return what is offered for `word` after `line`."""
    shell = ShellComplete(commands, {}, "ipclab", "_IPCLAB_COMPLETE")
    return [item.value for item in shell.get_completions(line.split(), word)]


@pytest.mark.parametrize(
    ("line", "word", "says"),
    [
        ("measure --study", "round", ["round_trip"]),
        ("measure --profile", "", ["smoke", "quick", "standard", "full", "published"]),
        ("measure --placement", "", ["same", "cross", "free"]),
        ("measure --study round_trip --backend", "posix-m", ["posix-mq"]),
        ("measure --study file_io --backend", "posix-m", []),
        (f"{SHARED} --level", "", ["entries=", "readers="]),
        (f"{SHARED} --level", "readers=", [f"readers={count}" for count in (1, 3, 7)]),
        (f"{SHARED} --level", "readers=1,", ["readers=1,3", "readers=1,7"]),
        (f"{SHARED} --level", "other=", []),
        ("values newest --study shared_dict --level", "e", ["entries="]),
        ("ab pipe unix --study shared_dict --level", "r", ["readers="]),
        ("choose --placement", "c", ["cross"]),
    ],
)
def test_names_are_offered(line: str, word: str, says: list[str]) -> None:
    assert offered(line, word) == says


def test_runs_are_offered_the_newest_first_and_then_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IPCLAB_DATA", str(tmp_path))
    runs = [make_run(tmp_path / folder).id for folder in ("runs", "imported")]
    newest_first = ["newest", *sorted(runs, reverse=True)]
    of_run = [f"{command} --run" for command in ("choose", "report", "measure")]
    for line in (*of_run, "values", "bundle", "compare", "runs label", "runs delete"):
        assert offered(line) == newest_first, line
    assert offered("bundle", runs[0][:-1]) == [runs[0]]
    shell = ShellComplete(commands, {}, "ipclab", "_IPCLAB_COMPLETE")
    (file,) = shell.get_completions(["bundle"], "data/ref")
    assert (file.type, file.value) == ("file", "data/ref")


def test_a_notebook_is_offered_names_that_are_there() -> None:
    assert {"Lab", "open", "measure", "lines", "about_run"} <= {*dir(ipclab)}
    assert {*ipclab.__all__} <= {*dir(ipclab)}
    for name in dir(ipclab):
        getattr(ipclab, name)
