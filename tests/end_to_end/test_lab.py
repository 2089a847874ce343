"""JupyterLab in a real browser: notebooks run, their cells can be changed, sweeps fill them, the
explorer reacts.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ipclab.lab.figure import PNG
from ipclab.words.output import FIGURE, TABLE
from tests.end_to_end.browser import chromium, jupyter_lab
from tests.support import reading
from tests.support.commands import ROOT
from tests.support.few import some

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
FEW = ["pipe", "posix-shm", "unix", "zmq-ipc"]  # of every arm of the round trips
SECONDS = 240
READY = """() => window.jupyterapp?.shell.currentWidget?.content?.model &&
  window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === "idle" """
CELLS = "window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells"
RUN_ALL = f"""() => window.jupyterapp.commands.execute("notebook:run-all-cells").catch(() => false).then(
  () => {CELLS}.map(cell => cell.toJSON()))"""
CHANGE = f"""([pattern, next]) => {{
  const cell = {CELLS}.find(cell => cell.getSource().match(new RegExp(pattern, "m")));
  cell?.setSource(cell.getSource().replace(new RegExp(pattern, "m"), () => next));
  return cell !== undefined;
}}"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, str]]:
    with chromium() as browser, jupyter_lab(tmp_path_factory.mktemp("lab")) as address:
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.set_default_timeout(SECONDS * 1000)
        yield page, address


def run_all(page: Any, address: str, name: str, **parameters: Any) -> reading.Cells:
    """Open notebook `name`, give it `parameters`, run all its cells and return them."""
    page.evaluate("window.jupyterapp?.serviceManager.sessions.shutdownAll()")
    page.goto(address.format(name=name))
    page.wait_for_function(READY)
    for parameter, value in parameters.items():
        change(page, f"^{parameter}: [^=]+ = .*$", f"{parameter} = {value!r}")
    return again(page)


def change(page: Any, pattern: str, new: str) -> None:
    """Replace what matches `pattern` by `new` in the first cell that holds it."""
    assert page.evaluate(CHANGE, [pattern, new]), f"no cell holds {pattern!r}"


def again(page: Any) -> reading.Cells:
    """Run all cells of the open notebook and return them."""
    cells: reading.Cells = page.evaluate(RUN_ALL)
    return cells


def errors(cells: reading.Cells) -> reading.Cells:
    every = [output for cell in cells for output in cell.get("outputs", [])]
    return [output for output in every if output["output_type"] == "error"]


def figures(cells: reading.Cells) -> dict[str, tuple[str, dict[str, int]]]:
    """Return the SVG of each figure that is shown, by name, with what it was drawn from."""
    shown = [each for each in reading.told(cells, FIGURE) if not each["absent"]]
    return {each["name"]: (each["svg"], each["drawn"]) for each in shown}


def tables(cells: reading.Cells) -> dict[str, dict[str, Any]]:
    """Return each table that is shown and holds something, by name."""
    shown = [each for each in reading.told(cells, TABLE) if not each.get("absent")]
    return {each.get("name", each["caption"]): each for each in shown}


NEWS = """() => window.jupyterapp.serviceManager.settings.fetch(
  "@jupyterlab/apputils-extension:notification").then(told => told.schema.properties.fetchNews.default)"""
SAVE = """told => window.jupyterapp.serviceManager.contents.save(
  "theirs.ipynb", {type: "notebook", format: "json", content: told})"""
SHOWN = """() => {
  const shown = document.querySelector(".jp-Notebook");
  const links = [...shown.querySelectorAll(".jp-RenderedMarkdown a[href^='#']")];
  const inner = links.filter(link => !link.classList.contains("jp-InternalAnchorLink"));
  return {
    pictures: shown.querySelectorAll("img[src^='data:image/png']").length,
    tables: shown.querySelectorAll(".jp-RenderedHTML table").length,
    titles: shown.querySelectorAll("h1").length,
    links: inner.map(link => link.textContent),
    lost: inner.map(link => link.hash.slice(1)).filter(
      name => !shown.querySelector(`[data-jupyter-id="${name}"]`)),
  };
}"""


def test_what_others_executed_and_what_a_notebook_holds_is_shown(
    lab: tuple[Any, str], made: Path
) -> None:
    page, address = lab
    executed = json.loads((made / "en/04_round_trip.ipynb").read_text())
    cells = executed["cells"]
    page.goto(address.format(name="index.ipynb"))
    page.wait_for_function(READY)
    assert page.evaluate(NEWS) == "false"  # and asks nobody whether there are any
    page.evaluate(SAVE, executed)
    open_shown(page, address, "theirs.ipynb")
    wanted = {"pictures": len(figures(cells)), "tables": len(tables(cells))}
    has = f"wanted => {{ const is = ({SHOWN})(); return is.pictures + is.tables >= wanted; }}"
    page.wait_for_function(has, arg=sum(wanted.values()))  # it shows them one after the other
    shown = page.evaluate(SHOWN)
    assert {name: shown[name] for name in wanted} == wanted
    assert shown["links"] and all(shown["links"])
    assert (shown["titles"], shown["lost"]) == (1, [])
    held = reading.outputs(reading.cells_of(ROOT / "notebooks/04_round_trip.ipynb"))
    pictures = sum(PNG in output["data"] for output in held)
    assert pictures
    open_shown(page, address, "04_round_trip.ipynb")
    page.wait_for_function(f"wanted => ({SHOWN})().pictures == wanted", arg=pictures)


def open_shown(page: Any, address: str, name: str) -> None:
    """Open a notebook and wait until it has cells."""
    page.goto(address.format(name=name))
    page.wait_for_function(f"() => {CELLS.replace('.content', '?.content')}?.length > 1")


@pytest.mark.parametrize("name", some(["index", "choose", "machines", "measure"], 4))
def test_a_notebook_runs_from_top_to_bottom(lab: tuple[Any, str], name: str) -> None:
    """Not those of which a report is made: papermill executes them whole for other tests."""
    few: dict[str, Any] = {
        "studies": ["round_trip"],
        "profile": "smoke",
        "sizes": [100],
        "backends": ["pipe"],
    }
    cells = run_all(*lab, f"{name}.ipynb", **(few if name == "measure" else {}))
    assert errors(cells) == []
    code = [cell for cell in cells if cell["cell_type"] == "code" and cell["source"]]
    assert all(cell["execution_count"] for cell in code)
    assert reading.outputs(cells)


@pytest.mark.matrix
def test_a_researcher_changes_a_figure_its_frame_and_a_table(lab: tuple[Any, str]) -> None:
    page, drawing = lab[0], "payload-placement"
    cells = run_all(*lab, "01_payload.ipynb")
    assert errors(cells) == []
    before = figures(cells)
    of_rows = re.escape('dots(part, y="backend", hue="placement"')
    change(page, of_rows, 'dots(part, y="placement", hue="backend"')
    after = figures(again(page))
    assert {name for name in before if before[name][0] != after[name][0]} == {drawing}
    assert after[drawing][1] == before[drawing][1]  # the same rows, drawn otherwise
    fewer = 'shared = sent[sent.backend.isin(["shm-mmap", "posix-shm"]) & '
    change(page, re.escape("shared = sent["), fewer)
    doubled = "shared.head(3).assign(double=lambda rows: 2 * rows.value)[['backend', 'double']]"
    table = re.escape('lab.table(wide, "Handing over between two processes"') + ".*$"
    change(page, table, f"lab.table({doubled}, 'Twice')")
    cells = again(page)
    assert errors(cells) == []
    assert figures(cells)[drawing][1]["payload"] < before[drawing][1]["payload"]
    assert len(tables(cells)["Twice"]["rows"]) == 3
    (error,) = errors(run_all(*lab, "01_payload.ipynb", lang="klingon"))
    assert (error["ename"], "klingon" in error["evalue"]) == ("UsageError", True)


@pytest.mark.matrix
def test_a_sweep_of_ones_own_fills_its_notebook(lab: tuple[Any, str]) -> None:
    levels: dict[str, Any] = {"sizes": [64, 4096], "backends": FEW}
    cells = run_all(*lab, "04_round_trip.ipynb", measure=True, profile="smoke", **levels)
    assert errors(cells) == []
    assert all(drawn for _, drawn in figures(cells).values())
    assert all(
        each["rows"] for each in tables(cells).values()
    )  # what was not measured is not there
    assert "4 KiB" in json.dumps(tables(cells), ensure_ascii=False).replace("\u00a0", " ")
