"""The questions that the notebooks' prose asks, and made-up values for what they ask about."""

import ast
import builtins
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat

from ipclab.frames.address import PATTERN, Address
from ipclab.prose.language import placeholders
from ipclab.prose.questions import ProseQuestion, parts
from ipclab.stats.quantity import Quantity
from tests.support.commands import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MAGIC = "%%prose"
OWN = {"it", "within"}  # what an alternative may name besides the notebook's variables
# made-up values: from a millionth to a million
STEPS = [10 ** (step / 8) for step in range(-48, 49)]


def cells(notebook: Path) -> Iterator[tuple[bool, str]]:
    """Yield the code cells of a notebook: whether each is prose, and its text without the magic."""
    for cell in nbformat.read(notebook, as_version=4).cells:
        if cell.cell_type == "code":
            first, _, rest = cell.source.partition("\n")
            yield (True, rest) if first.strip() == MAGIC else (False, cell.source)


def questions(notebook: Path) -> list[ProseQuestion]:
    """Return what the prose of a notebook asks."""
    texts = [text for is_prose, text in cells(notebook) if is_prose]
    return [part for text in texts for part in parts(text) if isinstance(part, ProseQuestion)]


def unknown_names(notebook: Path) -> Iterator[str]:
    """Yield each name that a question or its alternatives use and that no cell before has assigned."""
    known = set(dir(builtins)) | OWN
    for is_prose, text in cells(notebook):
        if not is_prose:
            known |= set(assigned(text))
            continue
        for question in (part for part in parts(text) if isinstance(part, ProseQuestion)):
            for name in sorted(used(question) - known):
                yield f"{notebook.stem}: {name} in ? {question.asked}"
            known |= {question.name} if question.name else set()


def assigned(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.ImportFrom | ast.Import):
            yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)


def used(question: ProseQuestion) -> set[str]:
    """Return the variables that a question and its alternatives name."""
    asked = [question.asked, *([PERCENT.sub(r"\1", question.bound)] if question.bound else [])]
    names = {
        name.id for text in asked for name in ast.walk(parsed(text)) if isinstance(name, ast.Name)
    }
    names = {name for name in names if not name.startswith("_at_")}
    said = {name for text in question.alternatives.values() for name, _ in placeholders(text)}
    return names | {name.split(".")[0] for name in said if not Address.read(name)}


ADDRESS = re.compile(PATTERN)
PERCENT = re.compile(r"([\d.]+)\s*%")


def parsed(expression: str) -> ast.Expression:
    """Return an expression as Python has it, each address in it a name."""
    text = ADDRESS.sub(lambda found: f"_at_{found.start()}", expression)
    return ast.parse(f"({text})", mode="eval")


class Operands(ast.NodeTransformer):
    """Names each operand of an arithmetic expression `_0`, `_1`, ...: the same operand the same."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(
            node,
            ast.Expression | ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop | ast.Constant,
        ):
            return self.generic_visit(node)
        text = ast.unparse(node)
        if text not in self.found:
            self.found.append(text)
        return ast.Name(f"_{self.found.index(text)}", ast.Load())


def made_up(question: ProseQuestion, wanted: float) -> Quantity | None:
    """Return what is asked when its first operand has the made-up value that brings it nearest to
    `wanted`.

    All others are one and exact. None when no value of the first operand brings it near.
    """
    tree, operands = parsed(question.asked), Operands()
    code = compile(ast.unparse(operands.visit(tree)), "question", "eval")

    def at(value: float) -> Quantity:
        names: dict[str, Any] = {
            f"_{place}": Quantity(1.0, "1") for place in range(len(operands.found))
        }
        names["_0"] = Quantity(value, "1")
        found: Quantity = eval(code, names)
        return found

    values = [at(step) for step in STEPS]
    pairs = list(zip(STEPS, values, strict=True))
    for (low, first), (high, last) in pairwise(pairs):
        if min(first.value, last.value) <= wanted <= max(first.value, last.value):
            return _between(at, low, high, wanted)
    return None


def _between(at: Any, low: float, high: float, wanted: float) -> Quantity:
    rising = at(high).value >= at(low).value
    for _ in range(200):
        middle = (low + high) / 2
        if (at(middle).value < wanted) == rising:
            low = middle
        else:
            high = middle
    found: Quantity = at(high)
    return found
