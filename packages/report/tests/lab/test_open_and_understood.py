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

from ipclab_report.pages.extraction import MAGIC
from tests.support.commands import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").rglob("*.ipynb"))
NAMED = re.compile(r"\{([A-Za-z_]\w*)")  # in prose, and in what figures and tables say
ASKED = re.compile(r"^\s*\? (.+?)(?: as (\w+))?$", re.MULTILINE)
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
        return used | set(NAMED.findall(source)), {name for _, name in asked} - {""}
    used, made = set[str](), set[str]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else made).add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            used |= set(NAMED.findall(node.value))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "lab.keep":
            used |= {arg.value for arg in ast.walk(node) if isinstance(arg, ast.Constant)}
    return used, made


def lives(path: Path) -> Iterator[tuple[str, int, int]]:
    """Yield each name with the cell that makes it and the last that uses it as it is there."""
    living: dict[str, tuple[int, int]] = {}
    for place, source in enumerate(code_of(path)):
        used, made = names(source)
        for name in used & living.keys():
            living[name] = (living[name][0], place)
        for name in made:
            if name in living:
                yield name, *living[name]
            living[name] = (place, place)
    for name, life in living.items():
        yield name, *life
