"""A person's own notebooks: nothing is asked of them, and one that fails keeps no other back."""

from pathlib import Path
from threading import Thread

import pytest
import typst
from nbformat import v4

from ipclab.errors import LabError
from ipclab.paths import Paths
from ipclab.report.pages.jobs import Job, Target, _together, refuse, run_jobs
from ipclab.report.pages.report import _readable, notebooks_of
from ipclab.session.progress import Progress
from tests.support.commands import ROOT

PLAIN = "import matplotlib.pyplot as plt\nplt.rcParams['font.size'] = 30\nplt.plot([1, 2])\nprint('said')"


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
def test_one_that_fails_is_named_and_all_others_are_rendered(tmp_path: Path) -> None:
    notebooks = [written(tmp_path / "a.ipynb", "1 / 0"), written(tmp_path / "b.ipynb", PLAIN)]
    jobs = []
    for notebook in notebooks:
        for lang in ("en", "ko"):
            executed = tmp_path / "executed" / lang / notebook.name
            jobs.append(Job(notebook, lang, executed, {}, {"date": "2026-11-21"}))
    out = tmp_path / "out"
    target = Target(("html", "pdf"), out, tmp_path / "figures")
    typst.compile(b"of this process, whose threads those that render do not have")
    steps = Steps()
    made, errors = run_jobs(jobs, target, steps)
    assert steps.count == len(jobs)
    assert made == [out / lang / f"b.{fmt}" for lang in ("en", "ko") for fmt in ("html", "pdf")]
    html = (out / "en" / "b.html").read_text("utf-8")
    assert html.count("<img ") == 1 and "said" in html and "<title>b</title>" in html
    with pytest.raises(LabError) as caught:
        refuse(errors)
    said = "a.ipynb, cell 1, which begins '1 / 0': ZeroDivisionError: division by zero"
    assert str(caught.value) == f"2 reports failed: {said}"


def test_one_kernel_does_the_languages_of_a_notebook_and_then_of_what_quotes_it(
    tmp_path: Path,
) -> None:
    plain = "1\n" * 99
    cells = {"a": 'lab.quoted("b")', "b": plain, "c": "1", "d": plain * 2, "e": plain * 3}
    jobs = []
    for name, cell in cells.items():
        notebook = written(tmp_path / f"{name}.ipynb", cell)
        jobs += [Job(notebook, lang, tmp_path, {}, {}) for lang in ("en", "ko")]

    def told(workers: int, count: int) -> list[str]:
        groups = _together(jobs[:count], workers)
        return [" ".join(job.notebook.stem + job.lang for job in group) for group in groups]

    assert told(2, 10) == ["een eko", "den dko", "ben bko aen ako", "cen cko"]
    assert told(2, 6) == ["ben aen", "bko ako", "cen", "cko"]
    assert told(1, 4) == ["ben aen", "bko ako"]


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
    job = Job(notebook, "en", tmp_path / "executed.ipynb", {}, {})
    with pytest.raises(RuntimeError, match="can't start new thread"):
        run_jobs([job], Target((), tmp_path, tmp_path), Progress(shown=False))
    started[0].join(10)
    assert not started[0].is_alive()
