"""JupyterLab in a real browser: notebooks run, their cells can be changed, sweeps fill them, the explorer reacts."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.commands import ROOT
from tests.end_to_end.browser import chromium, jupyter_lab

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]
NAMES = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
SECONDS = 240
SVG, TABLE = "image/svg+xml", "application/vnd.ipclab.table+json"
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


def changed(page: Any, old: str, new: str) -> list[dict[str, Any]]:
    """Replace `old` by `new` in the first cell that holds it, run all cells again and return them."""
    found = page.evaluate(
        """([old, next]) => {
          const cells = window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells;
          const cell = cells.find(cell => cell.getSource().includes(old));
          if (cell) cell.setSource(cell.getSource().replace(old, next));
          return cell !== undefined;
        }""",
        [old, new],
    )
    assert found, f"no cell holds {old!r}"
    assert page.evaluate(RUN_ALL)
    cells: list[dict[str, Any]] = page.evaluate(CELLS)
    assert [output for output in outputs(cells) if output["output_type"] == "error"] == []
    return cells


def figures(cells: list[dict[str, Any]]) -> dict[str, tuple[str, dict[str, int]]]:
    """Return the SVG of each figure that is shown, by name, with what it was drawn from."""
    shown = [output for output in outputs(cells) if SVG in output.get("data", {})]
    told = [(output["metadata"][SVG], "".join(output["data"][SVG])) for output in shown]
    return {words["name"]: (svg, words["drawn"]) for words, svg in told}


def tables(cells: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return each table that is shown, by name."""
    found = [output["data"][TABLE] for output in outputs(cells) if TABLE in output.get("data", {})]
    return {each.get("name", each["caption"]): each for each in found}


def outputs(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [output for cell in cells for output in cell.get("outputs", [])]


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_from_top_to_bottom(lab: tuple[Any, str], name: str) -> None:
    cells = run_all(*lab, name)
    assert [output for output in outputs(cells) if output["output_type"] == "error"] == []
    assert all(cell["execution_count"] for cell in cells if cell["cell_type"] == "code" and cell["source"])
    assert outputs(cells)


def test_a_researcher_changes_a_figure_its_frame_and_a_table(lab: tuple[Any, str]) -> None:
    before = figures(run_all(*lab, "01_payload.ipynb"))
    page = lab[0]
    after = figures(changed(page, 'dots(part, y="backend", hue="placement"', 'dots(part, y="placement", hue="backend"'))
    differing = {name for name in before if before[name][0] != after[name][0]}
    assert differing == {"payload-placement"}
    assert after["payload-placement"][1] == before["payload-placement"][1]  # the same rows, drawn otherwise
    fewer = 'medians = handed[handed.backend.isin(["shm-mmap", "posix-shm"]) & (handed.metric == "p50")]'
    cells = changed(page, 'medians = handed[handed.metric == "p50"]', fewer)
    assert figures(cells)["payload-placement"][1]["payload"] < before["payload-placement"][1]["payload"]
    frame = page.evaluate(
        """() => {
          const model = window.jupyterapp.shell.currentWidget.content.model.sharedModel;
          const table = "lab.table(handed.assign(double=2 * handed.value)[['double']], 'x')";
          const source = `handed[['backend', 'value']].shape, ${table}`;
          model.insertCell(model.cells.length, {cell_type: "code", source: source, metadata: {}});
          return window.jupyterapp.commands.execute('notebook:run-all-cells').then(
            () => model.toJSON().cells.at(-1).outputs.at(-1).data["text/plain"]);
        }"""
    )
    assert "Table 'x'" in "".join(frame)


@pytest.mark.parametrize(
    ("name", "levels", "factor"),
    [
        ("04_round_trip.ipynb", {"sizes: list[int] = []": "sizes: list[int] = [64, 4096]"}, "4 KiB"),
        ("02_shared_dict.ipynb", {"entries: list[int] = []": "entries: list[int] = [20, 300]"}, "300"),
    ],
)
def test_a_sweep_of_ones_own_fills_its_notebook(
    lab: tuple[Any, str], name: str, levels: dict[str, str], factor: str
) -> None:
    page, address = lab
    page.goto(address.format(name=name))
    page.wait_for_function(READY)
    page.evaluate(
        """levels => {
          const cells = window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells;
          const cell = cells.find(cell => cell.getSource().startsWith("run: str"));
          for (const [old, next] of Object.entries(levels)) cell.setSource(cell.getSource().replace(old, next));
        }""",
        {**levels, "measure: bool = False": "measure: bool = True", 'profile: str = "quick"': 'profile: str = "smoke"'},
    )
    cells = changed(page, "from ipclab.lab import", "from ipclab.lab import")
    assert all(drawn for _, drawn in figures(cells).values())
    empty = [name for name, each in tables(cells).items() if not each["rows"]]
    assert [name for name in empty if "published" not in name] == []
    assert factor in json.dumps(tables(cells), ensure_ascii=False).replace("\u00a0", " ")


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
