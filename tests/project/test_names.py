"""A public name is of one thing: whoever greps for it finds one place where it is defined."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
HOUSE = [ROOT / "ipclab", *sorted(ROOT.glob("packages/*/ipclab_*"))]
PROGRAM = "main"  # a module that is run by its own name has one, as Python's have


def _defined(module: Path) -> Iterator[str]:
    """Yield the public functions and classes of a module, but for words of the command line.

    A command's function is called what is typed (`ipclab compare`), and its entry point loads it.
    """
    for node in ast.parse(module.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            decorators = map(ast.unparse, node.decorator_list)
            is_command = any(".command(" in decorator for decorator in decorators)
            if not (node.name.startswith("_") or node.name == PROGRAM or is_command):
                yield node.name


def test_public_names_are_unique_over_the_five_packages() -> None:
    places = defaultdict(list)
    for package in HOUSE:
        for module in sorted(package.rglob("*.py")):
            for name in _defined(module):
                places[name].append(str(module.relative_to(ROOT)))
    assert (len(HOUSE), "read_run" in places) == (5, True)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
