"""What the documents say is so: the example backend is measured, named files and targets exist."""

import re
import shlex
import sys
import tomllib
from pathlib import Path
from subprocess import CompletedProcess

import pytest
import yaml
from nbformat import v4
from validate_pyproject.api import Validator

from ipclab.words.output import FIGURE, TABLE
from ipclab_more.ab.command import ab
from tests.support import reading
from tests.support.bundled import make_run
from tests.support.commands import ROOT, WITHOUT_NATIVE, environment, ran

DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def blocks(document: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", document.read_text(), re.DOTALL)


def plugged(folder: Path, document: str, name: str, group: str) -> dict[str, str]:
    """Write the module `name` of a document into `folder` with its entry point; return an
    environment that has it.
    """
    code, project = blocks(ROOT / document, "python")[0], blocks(ROOT / document, "toml")[0]
    entry = re.search(r'^[\w-]+ = ".*:.*"$', project, re.MULTILINE)
    assert entry
    return plug(folder, code, name, group, entry[0].replace('"', ""))


def plug(folder: Path, code: str, name: str, group: str, entry: str) -> dict[str, str]:
    """Write a module `name` with its entry point; return an environment that has it."""
    (folder / f"{name}.py").write_text(code)
    (folder / "sitecustomize.py").write_text(WITHOUT_NATIVE)  # limits take most of the time
    about = folder / f"{name}-0.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n")
    (about / "entry_points.txt").write_text(f"[{group}]\n{entry}\n")
    return {**environment(folder), "PYTHONPATH": f"{folder}:{ROOT}"}


def python(env: dict[str, str], *words: str) -> "CompletedProcess[str]":
    return ran([sys.executable, *words], 240, env=env)


def ipclab(env: dict[str, str], *words: str) -> "CompletedProcess[str]":
    return python(env, "-m", "ipclab", *words)


@pytest.mark.slow
def test_the_example_backend_is_found_and_measured(tmp_path: Path) -> None:
    env = plugged(tmp_path, "docs/backends.md", "file_drop", "ipclab.backends")
    words = "measure --study round_trip --backend file-drop --size 100 --profile smoke"
    done = ipclab(env, *words.split())
    assert done.returncode == 0, done.stderr
    made = list((tmp_path / "data").rglob("points/round_trip/file-drop-*.parquet"))
    assert len(made) >= 2
    assert not list((tmp_path / "tmp").iterdir())


def test_the_example_of_an_event_loop_answers(tmp_path: Path) -> None:
    done = python(environment(tmp_path), "-c", blocks(ROOT / "docs/backends.md", "python")[-1])
    assert (done.stdout, done.stderr) == ("".join(f"answer {number}\n" for number in range(3)), "")
    assert not list((tmp_path / "tmp").iterdir())


@pytest.mark.slow
def test_the_example_command_is_found_and_run(tmp_path: Path) -> None:
    (code,) = blocks(ROOT / "docs/internals.md", "python")
    env = plug(tmp_path, code, "slowest", "ipclab.commands", "slowest = slowest:slowest")
    run = make_run(tmp_path / "runs")
    done = ipclab(env, "slowest", str(run.path), "--count", "2")
    assert done.returncode == 0 and "Traceback" not in done.stderr  # a made-up machine is named
    assert [line.split()[1] for line in done.stdout.splitlines()] == ["round-trip:"] * 2


PARAMETERS = """run: str = ""
lang: str = "en"
measure: bool = False
profile: str = "quick"
sizes: list[int] = []"""


@pytest.mark.parametrize("name", ["backends", "studies"])
def test_the_pyproject_of_an_example_is_whole(name: str) -> None:
    project = tomllib.loads(blocks(ROOT / "docs" / f"{name}.md", "toml")[0])
    assert Validator()(project) and project["project"].keys() >= {"name", "version", "entry-points"}


@pytest.mark.matrix
def test_the_example_study_measures_something_real(tmp_path: Path) -> None:
    env = plugged(tmp_path, "docs/studies.md", "fork_cost", "ipclab.studies")
    tagged = v4.new_code_cell(PARAMETERS, metadata={"tags": ["parameters"]})
    cells = blocks(ROOT / "docs/studies.md", "python")[1:]
    notebook, done = tmp_path / "fork.ipynb", tmp_path / "done.ipynb"
    notebook.write_text(v4.writes(v4.new_notebook(cells=[tagged, *map(v4.new_code_cell, cells)])))
    given = ("-p", "measure", "true", "-p", "profile", "smoke", "-k", "python3", "-l", "python")
    sizes = ("-y", "sizes: [4096, 65536, 1048576]")
    ended = python(env, "-m", "papermill", str(notebook), str(done), *given, *sizes)
    assert ended.returncode == 0, ended.stderr
    shown = reading.cells_of(done)
    (figure,) = reading.told(shown, FIGURE)
    assert figure["drawn"] == {"fork_cost": 3}
    (table,) = reading.told(shown, TABLE)
    assert [row[0] for row in table["rows"]] == ["4\u00a0KiB", "64\u00a0KiB", "1\u00a0MiB"]
    finding, said = ("".join(each["data"]["text/markdown"]) for each in reading.outputs(shown)[-2:])
    assert "4 KiB" in finding.replace("\u00a0", " ")
    interval = r"[\d.,]+–[\d.,]+|no interval"  # of the two that smoke has
    assert re.search(
        rf"Touched memory makes a fork [\d.,]+× \\\[({interval})\\\] as long\.", said
    ), said
    assert not list((tmp_path / "tmp").glob("ipclab-*"))


OF_TODAY = [path for path in DOCUMENTS if path.name != "CHANGELOG.md"]  # which tells of others


@pytest.mark.parametrize("document", OF_TODAY, ids=lambda path: path.name)
def test_links_and_named_files_exist(document: Path) -> None:
    text = document.read_text()
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    named = re.findall(
        r"`((?:ipclab|packages|scripts|tests|benchmarks|docs|notebooks)/[\w/.-]+)`", text
    )
    for link in links:
        assert (document.parent / link).exists(), link
    for name in named:
        assert (ROOT / name).exists(), name


def test_make_targets_that_documents_name_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for document in DOCUMENTS:
        commands = " ".join(re.findall(r"`[^`]*`|```sh\n.*?```", document.read_text(), re.DOTALL))
        named = set(re.findall(r"\bmake (?:-C \w+ )?([a-z][a-z-]*)", commands))
        assert named <= targets, document


@pytest.mark.matrix
@pytest.mark.usefixtures("opened_before")
def test_the_tutorial_commands_work(tmp_path: Path) -> None:
    text = "".join(blocks(ROOT / "docs/tutorial.md", "sh"))
    calls = re.findall(
        r"^\.venv/bin/python -m ipclab (measure|backends|doctor)(.*?)(?:#.*)?$", text, re.MULTILINE
    )
    assert [name for name, _ in calls] == ["measure", "doctor", "backends"]
    env, ((name, words), *_) = environment(tmp_path), calls
    done = ipclab(env, name, *words.split())
    assert done.returncode == 0, done.stderr
    (run,) = re.findall(r"\d+ points in (.+)$", done.stderr, re.MULTILINE)
    code = blocks(ROOT / "docs/tutorial.md", "python")[0]
    named = re.search(r'^run = "(.+)"', code, re.MULTILINE)
    assert named
    done = python(env, "-c", code.replace(named[1], run))
    assert done.returncode == 0, done.stderr
    assert all(word in done.stdout for word in ("pipe", "unix", "4096"))


def test_the_documented_commands_of_ab_are_understood() -> None:
    lines = re.findall(r"ipclab ab ([^`#\n]+)", (ROOT / "docs/ci.md").read_text())
    calls = [shlex.split(line.split("||")[0]) for line in lines]
    assert len(calls) > 8
    for call in calls:
        words = [word for word in call if word != "..."]
        ab.make_context("ab", words or ["--help"], resilient_parsing=True)


def test_the_documented_workflow_is_yaml_whose_steps_run_ab() -> None:
    (text,) = blocks(ROOT / "docs/ci.md", "yaml")
    steps = yaml.safe_load(text)["jobs"]["ab"]["steps"]
    (line,) = [step["run"] for step in steps if "ipclab ab" in step.get("run", "")]
    given = ab.make_context("ab", shlex.split(line)[2:]).params
    assert given["names"] == ("base", "head")
    assert len(given["formats"]) == len(given["outputs"]) == 3
