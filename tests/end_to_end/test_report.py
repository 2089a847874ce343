"""Reports from the committed run: complete in three languages, the same bytes twice, and known to be current."""

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ipclab.facts.derive import derived
from ipclab.figures.registry import DRAWINGS, draw
from ipclab.notebook import Lab
from ipclab.paths import Paths
from ipclab.render.report import notebooks_of
from ipclab.store.run import read
from tests.commands import ROOT

LANGUAGES = ("ko", "zh", "en")
NAMES = [path.stem for path in notebooks_of(Paths(ROOT), "run")]
FIGURES = DRAWINGS.keys() - {"claims-own"}  # which needs a person's own claims
REFERENCE = next(iter(sorted((ROOT / "data/reference").glob("*/run.json")))).parent
PICTURE = "payload-then-now"


def ipclab(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **more}
    command = [sys.executable, "-m", "ipclab", *words]
    return subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)


def report(out: Path) -> dict[str, str]:
    """Render the reference run into `out` and return each file's digest."""
    done = ipclab("report", "--run", str(REFERENCE), "--out", str(out), IPCLAB_DATA=str(out / "data"))
    assert done.returncode == 0, done.stderr
    files = [path for path in sorted(out.rglob("*")) if path.suffix in (".html", ".pdf", ".svg", ".png")]
    return {str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("reports")
    report(out)
    return out


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_every_notebook_is_a_page_and_a_book(made: Path, name: str, lang: str) -> None:
    html = (made / lang / f"{name}.html").read_text()
    assert f'<html lang="{lang}"' in html
    assert not re.findall(r"""(?:src|href)=["'](?:https?:)?//""", html)
    assert html.count('role="img"') == len(re.findall(r"<svg", html)) >= 1
    pdf = (made / lang / f"{name}.pdf").read_bytes()
    assert pdf.startswith(b"%PDF-")
    assert b"pdfuaid" in pdf
    assert b"points.csv" in pdf


def test_the_same_run_gives_the_same_bytes(made: Path, tmp_path: Path) -> None:
    first = {name: digest for name, digest in report(tmp_path / "again").items() if not name.startswith("data")}
    assert len(first) == len(NAMES) * len(LANGUAGES) * 2 + len(FIGURES) * len(LANGUAGES) * 2
    for name, digest in first.items():
        assert hashlib.sha256((made / name).read_bytes()).hexdigest() == digest, name


def test_check_knows_current_reports_and_names_what_changed(made: Path, tmp_path: Path) -> None:
    assert ipclab("check", "--out", str(made)).stdout == "every report is what data, code, words and lock give\n"
    page = made / "en" / f"{NAMES[0]}.html"
    before = page.read_bytes()
    page.write_bytes(before + b" ")
    done = ipclab("check", "--out", str(made))
    page.write_bytes(before)
    assert done.returncode == 1
    assert done.stdout == f"report: en/{NAMES[0]}.html changed since it was made\n"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_each_readme_shows_the_reference_run(lang: str) -> None:
    kept = (ROOT / f"docs/{PICTURE}.{lang}.svg").read_text()
    figure = draw(Lab.open(str(REFERENCE), lang).view, PICTURE, None)
    assert figure.svg == kept, "the run, the code or the words have changed: make reference"
    readme = ROOT / ("README.md" if lang == "en" else f"README.{lang}.md")
    shown = f"![{figure.caption}](docs/{PICTURE}.{lang}.svg)"
    assert shown.replace("\u00a0", " ") in readme.read_text()


def test_the_reference_run_is_complete_and_undamaged() -> None:
    run = Lab.open(str(REFERENCE), "en").run
    assert run.finished
    assert run.about["failures"] == {}
    assert run.about["parameters"]["profile"] == "quick"
    assert len(list(run.point_files())) > 300


def test_the_reference_runs_facts_are_those_that_todays_code_derives() -> None:
    run = read(REFERENCE)
    assert derived(run, Paths(ROOT)) == REFERENCE.resolve()
