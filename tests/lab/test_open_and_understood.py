"""Notebooks are opened and understood: one title, the first picture at once, short cells, and
names that are used where they are made.
"""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ipclab.report.pages.captions import CAPTION
from ipclab.report.pages.extraction import MAGIC
from tests.support.commands import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").rglob("*.ipynb"))
NAMED = re.compile(r"\{([A-Za-z_]\w*)")  # in prose, and in what figures and tables say
ASKED = re.compile(r"^\s*\? (.+?)(?: as (\w+))?$", re.MULTILINE)
MODELS = [
    ROOT / f"notebooks/{name}.ipynb" for name in ("01_payload", "04_round_trip", "05_file_io")
]
FIRST, LINES = 3, 15  # cells of code to the first picture, lines of a cell
KEPT = 6  # names that live longer: the study's frame and five more
TOLD = {"it", "within"}  # by the judge
APART = 2  # cells that a name may live


def cells_of(path: Path) -> list[dict[str, Any]]:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return [{**cell, "source": "".join(cell["source"])} for cell in cells]


def titles(path: Path) -> list[int]:
    """Return the place of the cell of each heading of level 1."""
    said = [cell["source"].removeprefix(MAGIC) for cell in cells_of(path)]
    kinds = [cell["cell_type"] == "markdown" or MAGIC in cell["source"] for cell in cells_of(path)]
    found = [len(re.findall(r"^# ", text, re.MULTILINE)) for text in said]
    return [place for place, is_prose in enumerate(kinds) if is_prose for _ in range(found[place])]


def code_of(path: Path) -> list[str]:
    return [cell["source"] for cell in cells_of(path) if cell["cell_type"] == "code"]


def names(source: str) -> tuple[set[str], set[str]]:
    """Return the names that a cell uses, and those that it makes."""
    if source.startswith(MAGIC):
        asked = ASKED.findall(source)
        used = {name for each, _ in asked for name in re.findall(r"[A-Za-z_]\w*", each)}
        return (used | set(NAMED.findall(source))) - TOLD, {name for _, name in asked} - {""}
    used, made = set[str](), set[str]()
    for statement in ast.parse(source).body:
        loaded, stored = of_statement(statement)
        used |= loaded - made
        made |= stored
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    said = [call for call in calls if ast.unparse(call.func) == "lab.say"]
    return used - {keyword.arg for call in said for keyword in call.keywords}, made


def of_statement(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """Return the names that a statement takes from before it, and those that it makes."""
    loaded, stored, within = set[str](), set[str](), set[str]()
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                loaded.add(name)
            case ast.Name(id=name):
                stored.add(name)
            case ast.Constant(value=str(text)):
                loaded |= set(NAMED.findall(text))
            case ast.comprehension(target=target):
                within |= {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
            case ast.arg(arg=name):
                within.add(name)
            case ast.Call() if ast.unparse(node.func) == "lab.keep":
                told = [each for each in ast.walk(node) if isinstance(each, ast.Constant)]
                loaded |= {str(each.value) for each in told}
    is_block = isinstance(statement, ast.With | ast.For | ast.If)
    return loaded - within - (stored if is_block else set()), stored - within


def lives(path: Path) -> Iterator[tuple[str, int, int]]:
    """Yield each name with the cell that makes it and the last that uses it as it is there."""
    living: dict[str, tuple[int, int]] = {}
    place = -1
    for cell in cells_of(path):
        if cell["cell_type"] != "code":
            continue
        # a caption is a part of the figure above it
        place += CAPTION not in cell.get("metadata", {}).get("tags", [])
        used, made = names(cell["source"])
        for name in used & living.keys():
            living[name] = (living[name][0], place)
        for name in made:
            if name in living:
                yield name, *living[name]
            living[name] = (place, place)
    for name, life in living.items():
        yield name, *life


def apart(path: Path) -> set[str]:
    """Return the names, besides parameters and the lab, that live longer than `APART` cells."""
    _, parameters = names(code_of(path)[0])
    return {name for name, made, used in lives(path) if used - made > APART} - parameters - {"lab"}


def lines_of(source: str) -> int:
    """Return how many lines of code a cell has, besides imports and comments."""
    lines = [line.strip() for line in source.splitlines()]
    return sum(not line.startswith(("#", "import ", "from ")) for line in lines if line)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_one_title_in_its_first_cell(path: Path) -> None:
    assert titles(path) == [0]


def test_a_life_is_counted_from_making_to_the_last_use(tmp_path: Path) -> None:
    sources = ["run = 1", "a = b = c = 1\nd = [x for x in 'a']", "a = a + 1", "f('{b}')"]
    sources += ["%%prose\n? c / 2 : 1 as said\n> {a:x} {it}", "for i in d: print(i)", "said"]
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "source": source.splitlines(True)} for source in sources
    ]
    caption = {"cell_type": "code", "metadata": {"tags": ["caption"]}, "source": ["%%prose\n> {b}"]}
    cells.insert(4, caption)
    (tmp_path / "n.ipynb").write_text(json.dumps({"cells": cells}))
    found = set(lives(tmp_path / "n.ipynb"))
    assert found == {
        *(("run", 0, 0), ("a", 1, 2), ("a", 2, 4), ("b", 1, 3), ("c", 1, 4)),
        *(("d", 1, 5), ("i", 5, 5), ("said", 4, 6)),
    }
    assert apart(tmp_path / "n.ipynb") == {"c", "d"}


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_model_shows_a_picture_at_once_and_keeps_its_cells_and_names_short(path: Path) -> None:
    code = [source for source in code_of(path) if not source.startswith(MAGIC)]
    assert any("lab.figure(" in source for source in code[:FIRST])
    assert [source for source in code if lines_of(source) > LINES] == []
    assert len(apart(path)) <= KEPT, apart(path)
