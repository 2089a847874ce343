"""A frame's rows come in the same order on each CPU, and with them a figure's bytes."""

import ast
from collections.abc import Iterator
from itertools import chain

from tests.lab.test_notebooks import NOTEBOOKS, code_cells
from tests.support.commands import ROOT

MODULES = [
    file
    for folder in (ROOT / "ipclab", *ROOT.glob("packages/*/ipclab_*"))
    for file in folder.rglob("*.py")
]


def unstable(source: str) -> Iterator[str]:
    """Yield the sorts by one key that leave the order of equal rows to NumPy.

    Its quicksort uses the vector instructions that a CPU has, each with another order of ties;
    pandas sorts by several keys in a stable way.
    """
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr != "sort_values":
            continue
        by = node.args[0] if node.args else None
        several = isinstance(by, ast.List) and len(by.elts) > 1
        named = {keyword.arg for keyword in node.keywords}  # None: a dictionary, which may hold it
        if not several and not named & {"kind", None}:
            yield ast.unparse(node)


def test_rows_that_are_equal_keep_their_order() -> None:
    sources = {file: [file.read_text(encoding="utf-8")] for file in MODULES}
    sources |= {notebook: code_cells(notebook) for notebook in NOTEBOOKS}
    calls = [
        f"{file.name}: {call}"
        for file, texts in sources.items()
        for call in chain.from_iterable(map(unstable, texts))
    ]
    assert calls == []
