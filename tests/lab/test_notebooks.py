"""Notebooks: short cells without definitions, figures and tables made where they stand, and what
they show.
"""

import ast
import json
import re
import runpy
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import pytest

from ipclab.errors import LabError
from ipclab.frames.derived import studies_measured
from ipclab.lab import canvas, parameters
from ipclab.lab.lab import Lab
from ipclab.marks.curves import lines
from ipclab.paths import checkout
from ipclab.report.pages import words
from ipclab.store.bundle import opened
from ipclab.store.run import RunFolder
from ipclab.words import output
from tests.support.commands import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
RENEWED = runpy.run_path(str(ROOT / "scripts/pictures.py"))
SHOWN = [path for path in NOTEBOOKS if re.match(r"0[1-5]_", path.stem)]
STUDIES = {path.stem[3:]: path for path in NOTEBOOKS if re.match(r"0[1-9]_", path.stem)}
DRAWS = re.compile(r"\b(lines|dots|bars|over|lanes|sns\.\w+|ax\w*\.\w+)\(")


@cache
def reference() -> RunFolder:
    return opened(checkout(), checkout().reference)


# others are shown on a run of their own tests
HELD = [study for study in STUDIES if study in studies_measured(reference())]


def code_cells(path: Path) -> list[str]:
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_narrative_and_calls_only(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count is None for cell in code)
    shows = any(cell.outputs for cell in code)
    assert shows == (path in SHOWN), "make pictures"
    assert notebook.metadata.get(RENEWED["DIGEST"]) == (
        RENEWED["digest"](notebook) if shows else None
    ), "its sources are others than those of its outputs: make pictures"
    for source in code_cells(path):
        tree = ast.parse(source)
        made = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        assert all(
            "".join(map(ast.unparse, node.decorator_list)).startswith("interact(") for node in made
        )
    assert parameters.read_parameters(path)
    first = notebook.cells[0]
    assert first.metadata.tags == ["lab"]
    assert all(f"**{lang}**" in first.source for lang in ("en", "ko", "zh"))


@pytest.mark.parametrize(
    "study", ["payload", "shared_dict", "multiplexer", "round_trip", "file_io"]
)
def test_sizes_and_backends_are_swept_in_the_notebook_of_every_text(study: str) -> None:
    known = parameters.read_parameters(STUDIES[study])
    assert known["sizes"] == parameters.Parameter("sizes", "list[int]", [])
    assert known["backends"] == parameters.Parameter("backends", "list[str]", [])
    source = "".join(code_cells(STUDIES[study]))
    assert "sizes=sizes" in source or '"sizes": sizes' in source


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_a_notebook_imports_of_the_package_is_there(path: Path) -> None:
    nodes = [node for source in code_cells(path) for node in ast.walk(ast.parse(source))]
    lines = [ast.unparse(node) for node in nodes if isinstance(node, ast.ImportFrom)]
    for line in lines:
        exec(line, {})


@pytest.mark.parametrize("path", STUDIES.values(), ids=STUDIES)
def test_figures_and_tables_are_made_where_they_stand(path: Path) -> None:
    sources = code_cells(path)
    for source in sources:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.With) and "lab.figure" in ast.unparse(
                node.items[0].context_expr
            ):
                assert DRAWS.search("\n".join(map(ast.unparse, node.body))), (
                    f"{path.stem}: a figure hides its drawing"
                )
            calls_figure = isinstance(node, ast.Expr) and ast.unparse(node).startswith("lab.figure")
            assert not calls_figure, f"{path.stem}: {ast.unparse(node)}"
    text = "\n".join(sources)
    assert "lab.points(" in text and re.search(r"\b(sns|ax)\.", text)
    assert re.search(r"\.(pivot|pivot_table|groupby|assign|merge|isin|sort_values)\(", text)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_figure_of_a_report_is_told_in_words(path: Path) -> None:
    for node in (node for source in code_cells(path) for node in ast.walk(ast.parse(source))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "lab.figure":
            assert "alt" in [keyword.arg for keyword in node.keywords], ast.unparse(node)


@pytest.mark.slow
def test_words_are_complete_and_carry_no_digit() -> None:
    assert words.gate() == []


@pytest.fixture(scope="module")
def shown(made: Path) -> dict[str, list[Any]]:
    """The figures and tables of every study notebook, executed on the reference run in English."""
    outputs: dict[str, list[Any]] = {}
    for study in HELD:
        cells = json.loads((made / "en" / f"{STUDIES[study].stem}.ipynb").read_text())["cells"]
        outputs[study] = [
            each for cell in cells for each in cell.get("outputs", []) if "data" in each
        ]
    return outputs


def drawn(outputs: list[Any], kind: str) -> list[tuple[str, dict[str, int]]]:
    """Return the name of each figure or table with how many points of each study it was made of."""
    ours = [o["data"][output.MIME] for o in outputs if output.MIME in o["data"]]
    told = [{**each, **output.said(each, "en")} for each in ours if each["kind"] == kind]
    return [(each.get("name", ""), each.get("drawn", {})) for each in told]


@pytest.mark.slow
@pytest.mark.timeout(1800)  # the first that asks for the reports renders them
@pytest.mark.parametrize("study", HELD)
def test_every_figure_and_table_is_of_its_study(shown: dict[str, list[Any]], study: str) -> None:
    points = Lab.of(reference(), checkout(), "en").points(study)
    figures, tables = (drawn(shown[study], kind) for kind in (output.FIGURE, output.TABLE))
    for made in (figures, tables):
        assert len(dict(made)) == len(made)
        for name, of in made:
            assert of.keys() <= {study, "limits"}, name
            assert of.get(study, 0) <= len(points), name
    # One figure of round trips is of the limits alone.
    assert all(of.get(study, 0) > 0 for name, of in figures if name != "cpu-pairs"), figures


@pytest.mark.slow
@pytest.mark.timeout(1800)  # the first that asks for the reports renders them
@pytest.mark.parametrize("study", HELD)
def test_nothing_that_the_run_has_is_called_not_measured(
    shown: dict[str, list[Any]], study: str
) -> None:
    legible = [
        {kind: made for kind, made in each["data"].items() if kind.startswith("text/")}
        for each in shown[study]
        if each["data"].get(output.MIME, {}).get("kind") != output.ABSENT  # left out of a report
    ]
    text = json.dumps(legible, ensure_ascii=False)
    # Of which claims it may be said, tests/claims/test_audit.py knows.
    text = re.sub(
        r"not measured (?:in this run|here)(?:\)|: the study)|, or not measured", "", text
    )
    assert "not measured" not in text.lower().replace("(not measured)", "").replace(
        "not measured here, but on", ""
    )
    assert "nan" not in re.findall(r"\bnan\b", text)
    ours = [o["data"][output.MIME] for o in shown[study] if output.MIME in o["data"]]
    tables = [output.said(each, "en") for each in ours if each["kind"] == output.TABLE]
    assert [each["caption"] for each in tables if not each["rows"]] == []


@pytest.mark.slow
def test_a_planted_foreign_row_is_caught() -> None:
    lab = Lab.of(reference(), checkout(), "en")
    handed = lab.points(
        "payload",
        arm="handover",
        op="handover",
        metric="p50",
        placement="cross",
        backend="shm-mmap",
    )
    foreign = lab.points(
        "round_trip", arm="main", metric="p50", placement="cross", backend="unix", size_bytes=100
    )
    both = pd.concat([handed, foreign], ignore_index=True)
    with canvas.blank(lab, (4, 3)) as drawing, pytest.raises(LabError, match="draws one study"):
        lines(both, x="size_bytes", ax=drawing.subplots())
    with pytest.raises(LabError, match="holds one study"):
        lab.table(lab.cells(both)[["size_bytes", "cell"]], "both")


def test_levels_that_were_not_narrowed_are_caught() -> None:
    lab = Lab.of(reference(), checkout(), "en")
    loose = lab.points("payload", arm="handover", op="handover", metric="p50", backend="shm-mmap")
    with (
        canvas.blank(lab, (4, 3)) as drawing,
        pytest.raises(LabError, match=r"rows share a place.*placement"),
    ):
        lines(loose, x="size_bytes", ax=drawing.subplots())
