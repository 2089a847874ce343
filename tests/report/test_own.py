"""A person's own notebooks: nothing is asked of them, and one that fails keeps no other back."""

import json
from pathlib import Path
from threading import Thread

import pytest
import typst
from nbformat import v4

from ipclab.errors import LabError
from ipclab.lab.parameters import declared
from ipclab.paths import Paths
from ipclab.report.notebooks import quotes
from ipclab.report.pages.jobs import Job, Target, _waiting, refuse, run_jobs
from ipclab.report.pages.report import _readable, notebooks_of
from ipclab.session.progress import Progress
from tests.support.commands import ROOT
from tests.support.foreign import SVG

PLAIN = "import matplotlib.pyplot as plt\nplt.rcParams['font.size'] = 30\nplt.plot([1, 2])\nprint('said')"

WARNS = "import sys\nprint('secret', file=sys.stderr)"


def written(file: Path, *cells: str, tag: str = "") -> Path:
    """Write a notebook of code cells, the first of them with a tag."""
    made = v4.new_notebook(cells=[*map(v4.new_code_cell, cells)])
    made.cells[0].metadata["tags"] = [tag] if tag else []
    file.write_text(v4.writes(made), "utf-8")
    return file


def test_an_own_notebook_needs_no_parameters_and_is_no_page_of_several_runs(tmp_path: Path) -> None:
    paths = Paths(ROOT, tmp_path)
    paths.own.mkdir(parents=True)
    plain = written(paths.own / "plain.ipynb", PLAIN)
    several = written(paths.own / "several.ipynb", "lang = ''\nruns = []", tag="parameters")
    broken = paths.own / "broken.ipynb"
    broken.write_bytes(b"\xff{")
    mine = [file for file in notebooks_of(paths) if file.parent == paths.own]
    assert mine == [broken, plain]
    assert several in notebooks_of(paths, "runs")
    readable, errors = _readable(mine)
    assert readable == [plain]
    assert [*map(str, errors)] == ["broken.ipynb is no notebook: it is not JSON with cells"]


def test_a_notebook_of_an_older_format_is_named_as_such(tmp_path: Path) -> None:
    old = tmp_path / "old.ipynb"
    old.write_text('{"nbformat": 3, "metadata": {}, "worksheets": [{"cells": []}]}')
    _, (error,) = _readable([old])
    assert str(error).startswith("old.ipynb is a notebook of format 3: format 4 is read; jupyter")


class Steps(Progress):
    """Counts what it is told."""

    count = 0

    def step(self, of: str = "") -> None:
        self.count += 1


@pytest.mark.slow
def test_own_notebooks_are_executed_as_jupyter_does_and_one_that_fails_is_named(
    tmp_path: Path,
) -> None:
    fails = written(tmp_path / "fails.ipynb", "1 / 0")
    warns = written(tmp_path / "warns.ipynb", PLAIN, WARNS)
    raises = written(tmp_path / "raises.ipynb", "1 / 0", "print('AFTER')", tag="raises-exception")
    tagless = written(tmp_path / "null.ipynb", "print('NULL')")
    tagless.write_text(tagless.read_text().replace('"tags": []', '"tags": null'))
    given = "import os\nsize = 64 * 1024\nlang = 'python'"
    own = written(tmp_path / "own.ipynb", given, "print(size, lang)", tag="parameters")
    picture = "IPython.display.Markdown('![](i/a.svg)')"
    shows = written(tmp_path / "shows.ipynb", "import IPython", picture)
    (tmp_path / "i").mkdir()
    (tmp_path / "i/a.svg").write_text(SVG)
    about = {lang: {"date": "2026-11-21"} for lang in ("en", "ko")}
    jobs = [
        Job(
            each,
            tmp_path / "executed" / each.name,
            {},
            about if each is warns else {"en": about["en"]},
        )
        for each in (fails, warns, raises, tagless, own, shows)
    ]
    out, steps = tmp_path / "out", Steps()
    typst.compile(b"of this process, whose threads those that render do not have")
    made = run_jobs(jobs, Target(("html", "pdf"), out, tmp_path / "figures"), steps)
    assert (steps.count, made.asides) == (len(jobs) + 7, ["warns.ipynb, cell 2: secret"])
    names = ["en/warns", "ko/warns", "en/raises", "en/null", "en/own", "en/shows"]
    assert made.files == [out / f"{name}.{fmt}" for name in names for fmt in ("html", "pdf")]
    pages = {file.stem: file.read_text("utf-8") for file in made.files if file.suffix == ".html"}
    assert "secret" not in pages["warns"] and "said" in pages["warns"]
    assert pages["warns"].count("<img ") == 1 and "<title>warns</title>" in pages["warns"]
    said = {"raises": "AFTER", "null": "NULL", "own": "65536 python", "shows": "data:image/svg"}
    assert all(words in pages[name] for name, words in said.items())
    assert ": division by zero" in pages["raises"]
    with pytest.raises(LabError) as caught:
        refuse(made.errors)
    why = "fails.ipynb, cell 1, which begins '1 / 0': ZeroDivisionError: division by zero"
    assert str(caught.value) == f"1 reports failed: {why}"


def test_a_parameter_of_its_own_is_not_the_run(tmp_path: Path) -> None:
    own = written(tmp_path / "own.ipynb", "run = 3", tag="parameters")
    asks = written(tmp_path / "asks.ipynb", "run = None", tag="parameters")
    assert [declared(each)["run"].takes("data/x") for each in (own, asks)] == [False, True]


def test_what_quotes_a_notebook_waits_until_that_is_executed(tmp_path: Path) -> None:
    cells = {"a": 'ipclab.quoted(lab, "b")', "b": "1", "c": "1\n" * 99}
    files = [written(tmp_path / f"{name}.ipynb", cell) for name, cell in cells.items()]
    waiting = _waiting([Job(file, tmp_path, {}, {}) for file in files])
    assert waiting == {0: {1}, 1: set(), 2: set()}
    assert next(iter(waiting)) == 2  # the longest begins first
    ours = [ROOT / "notebooks" / f"{name}.ipynb" for name in ("00_appendix", "01_payload")]
    assert _waiting([Job(file, tmp_path, {}, {}) for file in ours])[0] == {1}


def test_a_notebook_of_another_language_or_with_the_name_of_ours_is_refused_by_its_name(
    tmp_path: Path,
) -> None:
    paths = Paths(ROOT, tmp_path)
    paths.own.mkdir(parents=True)
    other = written(paths.own / "a#b%20[c].ipynb", "echo $((2 ** 10))")
    told = json.loads(other.read_text())
    told["metadata"] = {"kernelspec": {"name": "bash", "language": "bash", "display_name": "B"}}
    other.write_text(json.dumps(told))
    twin = written(paths.own / "01_payload.ipynb", "1")
    assert notebooks_of(paths)[-1] == other and twin not in notebooks_of(paths)
    _, (error,) = _readable([other])
    assert str(error).startswith("a#b%20[c].ipynb is for the kernel 'bash' (bash): reports execute")
    (error,) = quotes.twins(paths)
    assert str(error) == f"{twin} has the name of another notebook; rename it"


def test_what_lacks_a_thread_for_its_processes_says_so_and_does_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Thread] = []
    start = Thread.start

    def second_fails(thread: Thread) -> None:
        if started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(Thread, "start", second_fails)
    notebook = written(tmp_path / "a.ipynb", "1")
    job = Job(notebook, tmp_path / "executed.ipynb", {}, {"en": {}})
    with pytest.raises(RuntimeError, match="can't start new thread"):
        run_jobs([job], Target((), tmp_path, tmp_path), Progress(shown=False))
    started[0].join(10)
    assert not started[0].is_alive()
