"""The core and the answers apart: commands come by entry point, and all that is the core's does
without the answers.
"""

import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import click
import pytest

from ipclab import plugins
from ipclab.commands.cli import GROUP
from ipclab.lab.parameters import read_notebook
from ipclab.paths import Paths
from ipclab.report.pages.report import notebooks_of
from tests.support.commands import ROOT, environment, ran, without_answers

Run = Callable[..., "CompletedProcess[str]"]
HEAVY = ("numpy", "pandas", "babel", "IPython", "ipclab_more.choose")
LOADED = f"""
import sys
from ipclab.__main__ import main
try:
    main()
finally:
    print(sorted(set({HEAVY}) & sys.modules.keys()))
"""


def called(tmp_path: Path, *words: str, **env: str) -> "CompletedProcess[str]":
    """Run the command line in a process of its own; the last line of its output names what heavy it
    has loaded.
    """
    command = [sys.executable, "-c", LOADED, *words]
    return ran(command, env={**environment(tmp_path), **env}, cwd=tmp_path)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--help",), 0),
        (("choose", "--help"), 0),
        (("compare", "--fail-on", "nope"), 2),
        (("report", "--profile", "quik"), 2),
        (("ab", "x", "y", "--format", "line", "--format", "bmf"), 2),
    ],
)
def test_arguments_are_checked_before_anything_heavy_is_loaded(
    tmp_path: Path, words: tuple[str, ...], code: int
) -> None:
    done = called(tmp_path, *words)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (code, "[]"), done.stderr


def test_without_the_answers_the_core_has_its_commands_and_the_others_say_why(
    tmp_path: Path,
) -> None:
    refused = without_answers(tmp_path / "refused")
    listed = called(tmp_path, "--help", PYTHONPATH=refused)
    assert listed.returncode == 0 and "  report " in listed.stdout
    done = called(tmp_path, "ab", "x", "--format", "line", PYTHONPATH=refused)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "command 'ab' cannot be loaded: ipclab_more is refused" in done.stderr


def test_pages_of_the_report_do_without_the_answers() -> None:
    pages = notebooks_of(Paths(ROOT))
    assert "choose" not in {page.stem for page in pages}
    for page in pages:
        for cell in read_notebook(page)["cells"]:
            source = "".join(cell["source"])
            for of_studies in ("ipclab_more.studies", "ipclab_more.fault_frames"):
                source = source.replace(of_studies, "")
            assert "ipclab_more" not in source, page


@click.command()
def backends() -> None:
    """Stand before ours."""
    click.echo("another one's")


no_command = "a word"


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    """Give what adds an entry point of the group to those that are installed."""

    usual = metadata.entry_points

    def add(name: str, value: str) -> None:
        plugins.entries.cache_clear()
        entries = EntryPoints([EntryPoint(name, value, GROUP)])

        def found(**wanted: str) -> Any:
            return entries if wanted == {"group": GROUP} else usual(**wanted)

        monkeypatch.setattr(metadata, "entry_points", found)

    yield add
    plugins.entries.cache_clear()


def test_a_command_of_our_name_stands_before_ours_when_it_can_be_loaded(
    ipclab: Run, added: Callable[[str, str], None]
) -> None:
    added("backends", "tests.answers.test_answers:backends")
    assert ipclab("backends").stdout == "another one's\n"
    added("backends", "tests.answers.test_answers:nothing")
    assert "another one's" not in ipclab("backends").stdout
    added("odd", "tests.answers.test_answers:no_command")
    done = ipclab("odd", "--any", "word")
    assert done.returncode == 2 and "is not a Command of that name" in done.stderr


def test_an_answer_in_the_terminal_loads_nothing_that_draws() -> None:
    asked = "import sys, ipclab_more.choose.shown; print('matplotlib' in sys.modules)"
    assert ran([sys.executable, "-c", asked]).stdout == "False\n"
