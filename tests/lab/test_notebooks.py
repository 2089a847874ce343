"""Notebooks as they are written: cells without definitions, figures and tables made where they stand."""

import ast
import re
import runpy
from pathlib import Path

import nbformat
import pytest

from ipclab.lab import parameters
from ipclab.report.pages import words
from tests.support.commands import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
RENEWED = runpy.run_path(str(ROOT / "scripts/pictures.py"))
SHOWN = [path for path in NOTEBOOKS if re.match(r"0[1-5]_", path.stem)]
STUDIES = [path for path in NOTEBOOKS if re.match(r"0[1-9]_", path.stem)]
DRAWS = re.compile(r"\b(lines|dots|bars|over|lanes|sns\.\w+|ax\w*\.\w+)\(")


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
    assert parameters.declared(path)
    first = notebook.cells[0]
    assert first.metadata.tags == ["lab"]
    assert all(f"**{lang}**" in first.source for lang in ("en", "ko", "zh"))


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: path.stem)
def test_sizes_and_backends_are_swept_in_the_notebook_of_every_text(path: Path) -> None:
    known = parameters.declared(path)
    assert known["sizes"] == parameters.Parameter("sizes", "list[int]", [])
    assert known["backends"] == parameters.Parameter("backends", "list[str]", [])
    source = "".join(code_cells(path))
    assert "sizes=sizes" in source or '"sizes": sizes' in source


@pytest.mark.parametrize("name", ["choose", "index", "machines", "measure"])
def test_what_a_notebook_imports_that_no_report_executes_is_there(name: str) -> None:
    for source in code_cells(ROOT / f"notebooks/{name}.ipynb"):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom):
                exec(ast.unparse(node), {})


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
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


def test_every_figure_of_a_report_is_told_in_words() -> None:
    for node in (
        node
        for path in NOTEBOOKS
        for source in code_cells(path)
        for node in ast.walk(ast.parse(source))
    ):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "lab.figure":
            assert "alt" in [keyword.arg for keyword in node.keywords], ast.unparse(node)


@pytest.mark.slow
def test_words_are_complete_and_carry_no_digit() -> None:
    assert words.gate() == []
