"""What is to be translated: texts of code, notebooks, labels and facts."""

import ast
import csv
import io
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

from babel.messages.extract import extract

from ipclab.lab.parameters import KEEP_IN_LAB
from ipclab.studies.multiplexer import NODES
from ipclab.words import filling, labels
from ipclab.words.blocks import split

LINK_TARGET = re.compile(r"(?<=\])\([^)\s]*\)")
# By name, of any call: matplotlib's, and ours that take the same.
LABELLED = {"label", "xlabel", "ylabel"}
# What a call has translated: from which argument on, by its place, and which by name.
GIVEN = {
    "figure": (1, {"title", "alt", "names"}),
    "table": (1, {"caption", "notes", "empty", "names"}),
    "advice": (1, {"title"}),
    "share": (1, {"text"}),
    "count": (2, {"some", "none"}),
    "text": (0, {"text"}),
    **dict.fromkeys(("set_title", "set_xlabel", "set_ylabel"), (0, LABELLED)),
}


def of_code(file: IO[bytes]) -> Iterator[str]:
    """Yield what stands in `_()` and `N_()` in Python."""
    for _, text, _, _ in extract("python", file, {"_": None, "N_": None}):
        yield str(text)


def of_notebook(file: IO[bytes]) -> Iterator[str]:
    """Yield the texts of a notebook's code, then the blocks of its narrative.

    In code these are what stands in `_()`, and what is given to `lab.figure` and `lab.table` to be
    translated there.
    """
    blocks: list[str] = []
    variables: dict[str, ast.expr] = {}
    for cell in json.load(file)["cells"]:
        if (text := cell_markdown(cell)) is not None:
            blocks += filter(needs_words, split(text))
        elif cell["cell_type"] == "code":
            source = "".join(cell["source"])
            yield from of_code(io.BytesIO(source.encode()))
            yield from filter(needs_words, _given(source, variables))
    yield from blocks


def cell_markdown(cell: Mapping[str, Any]) -> str | None:
    """Return the Markdown of a cell that reports show, or None.

    Of a cell that reports leave out it is the title.
    """
    if cell["cell_type"] != "markdown":
        return None
    source = "".join(cell["source"])
    kept = KEEP_IN_LAB in cell["metadata"].get("tags", [])
    return (title(source) or None) if kept else source


def title(source: str) -> str:
    """Return a cell's first line when it is a heading of level 1, else nothing."""
    line, *_ = source.split("\n")
    return line if line.startswith("# ") else ""


def needs_words(text: str) -> bool:
    """Tell whether a block says something outside its placeholders and the targets of its links.

    A number that is typed there does, which the gate finds.
    """
    rest = filling.PLACEHOLDER.sub("", LINK_TARGET.sub("", text))
    return any(character.isalnum() for character in rest)


def _given(source: str, variables: dict[str, ast.expr]) -> Iterator[str]:
    """Yield what a cell gives to be translated in figures and tables; note its variables.

    These are texts, and variables of it and of the cells before it.
    """
    nodes = [*ast.walk(ast.parse(source))]
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name), *_], value=value):
                variables[name] = value
            case ast.Assign(targets=[ast.Tuple(elts=names), *_], value=ast.Tuple(elts=values)):
                for each, value in zip(names, values, strict=False):
                    variables |= {each.id: value} if isinstance(each, ast.Name) else {}
            case ast.AugAssign(target=ast.Name(id=name), op=ast.BitOr() as both, value=value):
                before = variables.get(name, ast.Dict([], []))
                variables[name] = ast.BinOp(before, both, value)
    for node in nodes:
        for expression in _arguments(node, variables) if isinstance(node, ast.Call) else ():
            yield from _texts(expression, variables)


def _arguments(call: ast.Call, variables: Mapping[str, ast.expr]) -> Iterator[ast.expr]:
    """Yield what a call is given to be translated, in a dictionary that it spreads, too."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    begin, given = GIVEN.get(name, (len(call.args), LABELLED))
    several = 2 if name == "count" else 1  # of a count also what is said of none
    yield from call.args[begin:][:several]
    for keyword in call.keywords:
        spread = keyword.value.id if isinstance(keyword.value, ast.Name) else ""
        if keyword.arg in given:
            yield keyword.value
        elif keyword.arg is None and isinstance(layout := variables.get(spread), ast.Dict):
            for key, value in zip(layout.keys, layout.values, strict=True):
                if isinstance(key, ast.Constant) and key.value in given:
                    yield value


def _texts(expression: ast.expr | None, variables: dict[str, ast.expr]) -> Iterator[str]:
    parts: Sequence[ast.expr | None] = []
    match expression:
        case ast.Constant(value=str(text)) if text not in labels.LEVELS and text not in NODES:
            yield text  # others have words of their own
        case ast.Name(id=name) if name in variables:
            parts = [variables.pop(name)]  # once: a variable may stand in its own value
        case ast.List(elts=several) | ast.Tuple(elts=several) | ast.Dict(values=several):
            parts = several
        case ast.Starred(value=ast.Name(id=name)) if isinstance(
            spread := variables.get(name), ast.Dict
        ):
            parts = spread.keys
        case ast.Starred(value=starred):
            parts = [starred]
        case ast.BinOp(left=one, right=other) | ast.IfExp(body=one, orelse=other):
            parts = [one, other]
    for part in parts:
        yield from _texts(part, variables)


def of_toml(file: IO[bytes]) -> Iterator[str]:
    """Yield each word of a file of labels, or of what a text did."""
    content = tomllib.load(file)
    if "experiment" in content:
        yield from _of_text(content)
        return
    content.pop("plain", None)
    for words in content.pop("same", {}).values():
        yield from words.split()
    for words in content.values():
        yield from words.values()


def _of_text(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words of what a text did: not of facts of a machine, nor its `names`."""
    for experiment in content["experiment"]:
        rows = [row for row in experiment["row"] if "fact" not in row]
        said = [row.get(key) for row in rows for key in ("what", "text", "here", "how")]
        for word in (experiment["name"], *said):
            if isinstance(word, str) and word not in content.get("names", ()):
                yield word


def of_facts(file: IO[bytes]) -> Iterator[str]:
    """Yield each word that reports take from a table of facts: groups and labels."""
    rows = [*csv.DictReader(io.TextIOWrapper(file, "utf-8"))]
    yield from (row["group"] for row in rows if row["shown"] == "1")
    yield from (row["label"] for row in rows if row["shown"] == "1" or row["affects"])
