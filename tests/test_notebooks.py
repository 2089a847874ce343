"""Notebooks are narrative and calls: no outputs, no definitions, short cells, one cell of parameters."""

import ast

import nbformat
import pytest

from ipclab.report import parameters, words
from tests.commands import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_narrative_and_calls_only(path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
    for cell in code:
        if cell.source.startswith(words.MAGIC):
            continue
        assert len(cell.source.splitlines()) <= 15
        assert not [
            node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.FunctionDef | ast.ClassDef)
        ]
    taken = parameters.read(path).keys()
    assert "lang" in taken
    assert {"run", "runs"} & taken


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_first_cell_says_what_it_answers_in_three_languages(path) -> None:
    first = nbformat.read(path, as_version=4).cells[0]
    assert first.metadata.tags == ["lab"]
    assert all(f"**{lang}**" in first.source for lang in ("en", "ko", "zh"))


def test_words_are_complete_and_carry_no_digit() -> None:
    assert words.gate() == []
