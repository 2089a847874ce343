"""JupyterLab in a real browser: every notebook runs from top to bottom, and the explorer reacts."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.commands import ROOT
from tests.end_to_end.browser import chromium, jupyter_lab

NAMES = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
SECONDS = 120
READY = """() => window.jupyterapp?.shell.currentWidget?.content?.model &&
  window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === "idle" """
RUN_ALL = "() => window.jupyterapp.commands.execute('notebook:run-all-cells').then(() => true)"
CELLS = "() => window.jupyterapp.shell.currentWidget.content.model.sharedModel.toJSON().cells"
LABEL = "document.querySelector('.widget-html [role=img]').getAttribute('aria-label')"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, str]]:
    with chromium() as browser, jupyter_lab(tmp_path_factory.mktemp("lab")) as address:
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.set_default_timeout(SECONDS * 1000)
        yield page, address


def run_all(page: Any, address: str, name: str) -> list[dict[str, Any]]:
    """Open notebook `name`, run all its cells and return them."""
    page.goto(address.format(name=name))
    page.wait_for_function(READY)
    assert page.evaluate(RUN_ALL)
    cells: list[dict[str, Any]] = page.evaluate(CELLS)
    return cells


def outputs(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [output for cell in cells for output in cell.get("outputs", [])]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_from_top_to_bottom(lab: tuple[Any, str], name: str) -> None:
    cells = run_all(*lab, name)
    assert [output for output in outputs(cells) if output["output_type"] == "error"] == []
    assert all(cell["execution_count"] for cell in cells if cell["cell_type"] == "code" and cell["source"])
    assert outputs(cells)


@pytest.mark.slow
def test_a_typing_error_in_a_parameter_is_refused_there(lab: tuple[Any, str]) -> None:
    page, address = lab
    page.goto(address.format(name="explore.ipynb"))
    page.wait_for_function(READY)
    page.evaluate("""() => {
      const cells = window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells;
      cells[1].setSource(cells[1].getSource().replace('lang: str = "en"', 'lang: str = "klingon"'));
    }""")
    page.evaluate(RUN_ALL.replace(".then(() => true)", ".then(() => true, () => false)"))
    errors = [output for output in outputs(page.evaluate(CELLS)) if output["output_type"] == "error"]
    assert [error["ename"] for error in errors] == ["UsageError"]
    assert "klingon" in errors[0]["evalue"]


@pytest.mark.slow
def test_the_explorer_reacts(lab: tuple[Any, str]) -> None:
    page, address = lab
    run_all(page, address, "explore.ipynb")
    page.locator(".widget-html svg").first.wait_for()
    before = page.evaluate(LABEL)
    page.locator(".widget-dropdown", has_text="Metric").locator("select").select_option("p99")
    page.wait_for_function(f"before => {LABEL} !== before", arg=before)
    assert "p99" in page.evaluate(LABEL)
    language = page.locator(".widget-dropdown", has=page.locator("option", has_text="ko")).locator("select")
    for lang, word in (("ko", "지표"), ("zh", "指标")):
        language.select_option(lang)
        page.locator(".widget-dropdown", has_text=word).first.wait_for()
