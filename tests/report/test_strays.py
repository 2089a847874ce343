"""A stray notebook, or one that fails, keeps no other from its page; it is named at the end."""

from pathlib import Path

import pytest

from ipclab.errors import LabError
from ipclab.lab.parameters import fault
from ipclab.paths import Paths
from ipclab.report.pages.report import check_strays, notebooks_of, render_run
from ipclab.session.progress import Progress
from tests.report.conftest import write_notebook
from tests.support.bundled import make_run
from tests.support.commands import ROOT

PARAMETERS = 'run: str = ""\nlang: str = "en"'
EMPTY = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'  # as JupyterLab begins
STRAY = {
    "Untitled.ipynb": (EMPTY, "0 cells tagged"),
    "cut.ipynb": ('{"cells": [', "is no notebook"),
    "empty.ipynb": ("", "is no notebook"),
}


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    """A checkout of three notebooks, of which one fails and one, made after it, quotes."""
    made = Paths(tmp_path / "checkout")
    made.own.mkdir(parents=True)
    made.published.parent.mkdir(parents=True)
    made.published.symlink_to(ROOT / "data" / "published")
    cells = {"good": "print(run)", "fails": "1 / 0", "quotes": "len('lab.quoted(')"}
    for name, cell in cells.items():
        write_notebook(made.notebooks / f"{name}.ipynb", cell, parameters=PARAMETERS)
    return made


def test_strays_are_named_and_no_page(paths: Paths) -> None:
    check_strays(paths)
    for name, (content, why) in STRAY.items():
        (paths.notebooks / name).write_text(content)
        assert why in fault(paths.notebooks / name)
    write_notebook(paths.notebooks / "typo.ipynb", "1", parameters="run: str = (")
    pages = ["fails", "good", "quotes"]
    assert [page.stem for page in notebooks_of(paths)] == pages
    with pytest.raises(LabError, match=r"^4 stray notebooks have no page: .*Untitled") as told:
        check_strays(paths)
    assert told.value.exit_code == 1
    assert all(name in str(told.value) for name in STRAY)


@pytest.mark.matrix
def test_all_others_are_rendered(paths: Paths, tmp_path: Path) -> None:
    (paths.notebooks / "Untitled.ipynb").write_text(EMPTY)
    run, out = make_run(tmp_path / "runs"), tmp_path / "out"
    with pytest.raises(LabError, match=r"^1 reports failed: .*ZeroDivisionError"):
        render_run(paths, run, ["en"], ["ipynb"], out, Progress())
    assert sorted(file.stem for file in (out / "en").iterdir()) == ["good", "quotes"]
