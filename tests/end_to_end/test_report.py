"""Reports from the committed run: in English, a few in each language, the same bytes in another
shell, known to be current.
"""

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from ipclab.frames.derived import studies_measured
from ipclab.frames.points import BY_HEAT, HEATS, VALUES
from ipclab.lab.figure import PNG
from ipclab.lab.lab import Lab
from ipclab.paths import checkout
from ipclab.report.appendix import signing
from ipclab.report.appendix.signed import ATTACHED
from ipclab.report.notebooks import quotes
from ipclab.report.pages.outputs import HTML, MARKDOWN
from ipclab.report.pages.report import held_by, notebooks_of, study_of
from ipclab.words.output import FIGURE, TABLE
from tests.support import reading
from tests.support.commands import ROOT, Run
from tests.support.few import some, where
from tests.support.rendered import DAILY, DATA, TRANSLATED, report, share_opened
from tests.support.told import reference

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
MEASURED = Lab.of(reference(), checkout(), "en")
PAGES, _ = held_by(reference(), notebooks_of(checkout()))
STUDIES = [path for path in PAGES if study_of(path) in studies_measured(reference())]
NAMES = [path.stem for path in PAGES]
SHOWN = {
    HTML,
    PNG,
    MARKDOWN,
    quotes.MIME,
    signing.MIME,
    ATTACHED,
}  # the last are nothing to look at
DOCUMENTS = where([("en", name) for name in NAMES], lambda case: case[1] in DAILY)
OTHERS = [(lang, name) for lang in ("ko", "zh") for name in TRANSLATED]
DOCUMENTS += where(OTHERS, lambda case: case[1] == TRANSLATED[0])
# Of claims, and of a run of another machine
ALLOWED = re.compile(
    r"not measured (?:in this run|here)(?:\)|: the study|, but on)|, or not measured|\(not measured\)"
)
AGAIN = ("01_payload",)  # made once more


@pytest.fixture
def folder(lang: str, request: pytest.FixtureRequest) -> Path:
    """The folder of the reports in a language."""
    found: Path = request.getfixturevalue("made" if lang == "en" else "translated")
    return found


@pytest.mark.parametrize(("lang", "name"), DOCUMENTS)
def test_every_notebook_is_a_page_and_a_book(folder: Path, name: str, lang: str) -> None:
    html = (folder / lang / f"{name}.html").read_text()
    assert f'<html lang="{"zh-Hans" if lang == "zh" else lang}"' in html
    assert not re.findall(r"""src=["'](?:https?:)?//|<link""", html)
    assert html.count('role="img"') == len(re.findall(r"<svg", html)) >= 1
    pdf = (folder / lang / f"{name}.pdf").read_bytes()
    assert pdf.startswith(b"%PDF-")
    assert b"pdfuaid" in pdf
    assert b".csv)" in pdf


@pytest.mark.parametrize(("lang", "all_of"), [("en", ["en"]), ("ko", ["en", "ko", "zh"])])
def test_each_figure_is_a_file_in_each_language_and_form(folder: Path, all_of: list[str]) -> None:
    files = {path.name for path in (folder / "figures").iterdir()}
    names = {name.split(".")[0] for name in files}
    ends = [f"{lang}.{kind}" for lang in all_of for kind in ("svg", "png", "pdf")]
    assert names and files == {f"{name}.{end}" for name in names for end in ends}
    assert all(path.stat().st_size > 500 for path in (folder / "figures").iterdir())


def test_tables_of_data_have_the_columns_of_a_frame(made: Path) -> None:
    files = sorted((made / "data").glob("*.csv"))
    assert {path.stem for path in files} >= {"limits", "payload", "round_trip"}
    for path in files:
        table = pd.read_csv(path, low_memory=False)
        assert list(table.columns[:3]) == ["study", "point", "backend"]
        values = [name for name in VALUES if name not in (HEATS, BY_HEAT)]
        assert list(table.columns[-len(values) :]) == values
        assert not {HEATS, BY_HEAT} & {*table.columns}  # the values of each heat
        assert set(table.study) == {path.stem}
        words = table.select_dtypes(exclude="number")
        assert not any(words[name].astype(str).str.match(r"[{(\[]").any() for name in words)


@pytest.mark.matrix
def test_the_same_run_gives_the_same_bytes_in_another_shell(made: Path, tmp_path: Path) -> None:
    shell = {"LANG": "C", "LC_ALL": "POSIX", "TZ": "Asia/Seoul", "PYTHONHASHSEED": "7"}
    # an opened run, whose frames are derived once more there
    share_opened(tmp_path / "again" / DATA)
    report(tmp_path / "again", "en", few=AGAIN, **shell)
    files = [
        path
        for path in (tmp_path / "again").rglob("*")
        if path.suffix in (".html", ".pdf", ".svg", ".png", ".csv")
    ]
    # the first page lists all reports, and others lead to them, which are fewer here
    again = [path for path in files if DATA not in path.parts and path.name != "index.html"]
    assert len(again) > 4 * len(AGAIN)
    for path in again:
        assert _alone(made / path.relative_to(tmp_path / "again")) == _alone(path), path


def _alone(path: Path) -> bytes:
    """Return a file of a report; of a page without what leads to others, and its letters."""
    content = path.read_bytes()
    if path.suffix == ".html":
        content = re.sub(rb'<p class="links">.*?</p>', b"", content, flags=re.DOTALL)
        content = re.sub(rb"url\(data:font/[^)]*\)", b"", content)
    return content


EXPORTED = """
import sys
from nbconvert.nbconvertapp import NbConvertApp
for fmt in ("typstpdf", "ipclabhtml"):
    NbConvertApp.clear_instance()
    NbConvertApp.launch_instance(["--to", fmt, *sys.argv[1:]])
"""


def test_nbconvert_alone_gives_the_bytes_of_the_report_in_another_shell(
    translated: Path, tmp_path: Path
) -> None:
    shell = {"PYTHONHASHSEED": "2", "LC_ALL": "", "LANG": "ko_KR.UTF-8", "TZ": "Asia/Seoul"}
    notebook = translated / "zh" / f"{TRANSLATED[0]}.ipynb"
    command = [sys.executable, "-c", EXPORTED, "--output-dir", str(tmp_path), str(notebook)]
    env = os.environ | shell
    subprocess.run(command, env=env, check=True, capture_output=True, timeout=120)
    for suffix in (".pdf", ".html"):
        file = notebook.with_suffix(suffix)
        assert (tmp_path / file.name).read_bytes() == file.read_bytes()


def test_check_knows_current_reports_and_names_what_changed(made: Path, ipclab: Run) -> None:
    assert ipclab("check", "--out", str(made)).stdout.endswith(
        "every report is what data, code, words and lock give\n"
    )
    page, manifest = made / "en" / f"{NAMES[0]}.html", made / "manifest.json"
    before, told = page.read_bytes(), manifest.read_text()
    page.write_bytes(before + b" ")
    done = ipclab("check", "--out", str(made))
    page.write_bytes(before)
    assert done.returncode == 1
    assert f"report: en/{NAMES[0]}.html changed since it was made\n" in done.stdout
    for broken in ("{", json.dumps({**json.loads(told), "runs": 7})):
        manifest.write_text(broken)
        done = ipclab("check", "--out", str(made))
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert "cannot be read: make report" in done.stdout
    manifest.write_text(told)


@pytest.mark.parametrize("name", where(NAMES, lambda name: name in DAILY))
def test_plain_jupyter_shows_figures_tables_and_where_they_are(made: Path, name: str) -> None:
    cells = reading.cells_of(made / "en" / f"{name}.ipynb")
    forms = [output["data"] for output in reading.outputs(cells)]
    assert all(form.keys() & SHOWN for form in forms)
    written = ["".join(form[kind]) for form in forms for kind in form if kind in (HTML, MARKDOWN)]
    written += ["".join(cell["source"]) for cell in cells if "outputs" not in cell]
    text = "\n".join(written)
    links = re.findall(r"\[([^\]]*)\]\(#([\w-]+)\)", text)
    targets = set(re.findall(r'id="([\w-]+)"', text))
    assert all(words for words, _ in links)
    assert {target for _, target in links} <= targets
    assert "{#" not in text
    assert {figure["name"] for figure in reading.told(cells, FIGURE)} <= targets


@pytest.mark.parametrize(
    "path", where(STUDIES, lambda path: path.stem in DAILY), ids=lambda path: path.stem
)
def test_what_a_study_shows_is_of_it_and_was_measured(made: Path, path: Path) -> None:
    study = study_of(path)
    cells = reading.cells_of(made / "en" / path.name)
    count = len(MEASURED.points(study))
    figures, tables = reading.told(cells, FIGURE), reading.told(cells, TABLE)
    for shown in (figures, tables):
        of = {each.get("name", ""): each.get("drawn", {}) for each in shown}
        assert len(of) == len(shown)
        assert [name for name, rows in of.items() if not rows.keys() <= {study, "limits"}] == []
        assert [name for name, rows in of.items() if rows.get(study, 0) > count] == []
    without = {each["name"] for each in figures if not each["drawn"].get(study)}
    assert without <= {"cpu-pairs"}  # which is of the limits alone
    assert [each["caption"] for each in tables if not each["rows"]] == []
    said = ALLOWED.sub("", "\n".join(reading.texts(cells)).lower())
    assert "not measured" not in said


@pytest.mark.parametrize(("lang", "name"), DOCUMENTS)
def test_a_reader_does_not_stumble(folder: Path, name: str, lang: str) -> None:
    assert reading.stumbles(reading.cells_of(folder / lang / f"{name}.ipynb"), lang) == []


@pytest.mark.parametrize("lang", some(["en", "ko", "zh"], 3))
def test_each_mechanism_and_term_of_the_appendix_is_defined(folder: Path, lang: str) -> None:
    assert reading.undefined(reading.cells_of(folder / lang / "00_appendix.ipynb")) == set()


@pytest.mark.parametrize("lang", some(["en", "ko", "zh"], 3))
def test_each_readme_shows_the_reference_run(
    lang: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    renewed = runpy.run_path(str(ROOT / "scripts/pictures.py"))
    readme = (ROOT / renewed["READMES"][lang]).read_text()
    if lang == "en":
        folder = request.getfixturevalue("made")
    else:
        folder = tmp_path / "gallery"
        share_opened(folder / DATA)
        # in all languages, as `make pictures` does: the first lays a figure out for the others, too
        report(folder, few=[*renewed["GALLERY"]])
    pages = {path.stem for path in (folder / lang).iterdir()}
    shown = [each for each in renewed["GALLERY"].items() if each[0] in pages]
    assert shown
    for notebook, name in shown:
        drawn = (folder / f"figures/{name}.{lang}.png").read_bytes()
        kept = (ROOT / f"docs/pictures/{name}.{lang}.png").read_bytes()
        assert renewed["shrunk"](drawn) == kept, (
            "the run, the code or the words have changed: make pictures"
        )
        _, told = renewed["caption"](folder / lang / f"{notebook}.ipynb", name)
        assert f"\n*{told}*\n" in readme, "make pictures"
