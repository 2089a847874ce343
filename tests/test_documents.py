"""What the documents say is so: the example backend is measured, named files and targets exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import ROOT, environment

DOCUMENTS = [*sorted(ROOT.glob("README*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def blocks(document: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", document.read_text(), re.DOTALL)


def test_the_example_backend_is_found_and_measured(tmp_path: Path) -> None:
    code, project = blocks(ROOT / "docs/backends.md", "python")[0], blocks(ROOT / "docs/backends.md", "toml")[0]
    (tmp_path / "file_drop.py").write_text(code)
    about = tmp_path / "file_drop-0.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: file-drop\nVersion: 0.1\n")
    entry = re.search(r"^file-drop = \"(.*)\"$", project, re.MULTILINE)
    assert entry
    (about / "entry_points.txt").write_text(f"[ipclab.backends]\nfile-drop = {entry[1]}\n")
    env = {**environment(tmp_path), "PYTHONPATH": f"{tmp_path}:{ROOT}"}

    def ipclab(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "ipclab", *words]
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=240, check=False)

    assert re.search(r"^file-drop +ready$", ipclab("backends").stdout, re.MULTILINE)
    levels = ("--study", "round_trip", "--backend", "file-drop", "--size", "100", "--profile", "smoke")
    done = ipclab("measure", *levels)
    assert done.returncode == 0, done.stderr
    made = list((tmp_path / "data").rglob("points/round_trip/file-drop-*.parquet"))
    assert len(made) >= 2
    assert not list((tmp_path / "tmp").iterdir())


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_and_named_files_exist(document: Path) -> None:
    text = document.read_text()
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    named = re.findall(r"`((?:ipclab|tests|benchmarks|docs|notebooks)/[\w/.-]+)`", text)
    for link in links:
        assert (document.parent / link).exists(), link
    for name in named:
        assert (ROOT / name).exists(), name


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_make_targets_that_documents_name_exist(document: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    commands = " ".join(re.findall(r"`[^`]*`|```sh\n.*?```", document.read_text(), re.DOTALL))
    assert set(re.findall(r"\bmake ([a-z-]+)", commands)) <= targets


def test_every_figure_is_explained() -> None:
    from ipclab.figures.machines import DRAWINGS as MACHINES
    from ipclab.figures.registry import DRAWINGS

    rows = re.findall(r"^\| `([\w-]+)` \|", (ROOT / "docs/figures.md").read_text(), re.MULTILINE)
    assert sorted(rows) == sorted({*DRAWINGS, *MACHINES})


def test_the_tutorial_commands_work(tmp_path: Path) -> None:
    text = "".join(blocks(ROOT / "docs/tutorial.md", "sh"))
    calls = re.findall(r"^\.venv/bin/python -m ipclab (measure|backends|doctor)(.*?)(?:#.*)?$", text, re.MULTILINE)
    assert [name for name, _ in calls] == ["measure", "doctor", "backends"]
    env = {**environment(tmp_path), "PYTHONPATH": str(ROOT)}
    for name, words in calls:
        command = [sys.executable, "-m", "ipclab", name, *words.split()]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=240, check=False)
        assert done.returncode in ((0, 1) if name == "doctor" else (0,)), done.stderr
    code = blocks(ROOT / "docs/tutorial.md", "python")[0]
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert all(word in done.stdout for word in ("pipe", "unix", "4096"))
