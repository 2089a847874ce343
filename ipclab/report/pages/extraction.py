"""What is to be translated: texts of code, notebooks, labels and facts."""

import ast
import csv
import io
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Set
from typing import IO, Any

from babel.messages.extract import extract

from ipclab.lab.parameters import KEEP_IN_LAB
from ipclab.studies.multiplexer import NODES
from ipclab.words import filling, labels
from ipclab.words.blocks import split

LINK_TARGET = re.compile(r"(?<=\])\([^)\s]*\)")
# Which argument, by its place, a call has translated, and which by name.
TITLED = {"figure": 1, "table": 1, "set_title": 0, "set_xlabel": 0, "set_ylabel": 0}
TITLED |= {"text": 0, "advice": 1, "share": 1, "count": 2}
GIVEN = {"figure": {"title", "alt", "names"}, "table": {"caption", "notes", "empty", "names"}}
GIVEN |= {"advice": {"title"}, "count": {"some", "none"}, "share": {"text"}, "text": {"text"}}
# By name, of any other call: matplotlib's, and ours that take the same.
LABELLED = {"label", "xlabel", "ylabel"}
# A text that is shown, and whether it is a msgid: prose that holds only values is none.
Shown = tuple[str, bool]


def of_code(file: IO[bytes]) -> Iterator[Shown]:
    """Yield what stands in `_()` and `N_()` in Python."""
    for _, text, _, _ in extract("python", file, {"_": None, "N_": None}):
        yield str(text), True


def of_notebook(file: IO[bytes]) -> Iterator[Shown]:
    """Yield the texts of a notebook's code, then the blocks of its narrative.

    In code these are what stands in `_()`, and what is given to `lab.figure` and `lab.table` to be
    translated there.
    """
    blocks: list[Shown] = []
    given = Given()
    for cell in json.load(file)["cells"]:
        if (text := markdown(cell)) is not None:
            blocks += [(block, needs_words(block)) for block in split(text)]
        elif cell["cell_type"] == "code":
            source = "".join(cell["source"])
            yield from of_code(io.BytesIO(source.encode()))
            yield from ((text, True) for text in given.words(source) if needs_words(text))
    yield from blocks


def markdown(cell: Mapping[str, Any]) -> str | None:
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
    """Tell whether a block has a letter outside its placeholders and the targets of its links."""
    rest = filling.PLACEHOLDER.sub("", LINK_TARGET.sub("", text))
    return any(character.isalpha() for character in rest)


class Given:
    """What cells give to be translated in figures and tables: texts, and text variables."""

    def __init__(self) -> None:
        self.variables: dict[str, ast.expr] = {}

    def words(self, source: str) -> Iterator[str]:
        """Yield the texts that one cell gives, after those before it."""
        for node in ast.walk(ast.parse(source)):
            match node:
                case ast.Assign(targets=[target, *_], value=value):
                    self.variables |= dict(_assigned(target, value))
                case ast.AugAssign(target=ast.Name(id=name), op=ast.BitOr() as both, value=value):
                    before = self.variables.get(name, ast.Dict([], []))
                    self.variables[name] = ast.BinOp(before, both, value)
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call):
                for expression in self._given(node):
                    yield from self._texts(expression)

    def _given(self, call: ast.Call) -> Iterator[ast.expr]:
        """Yield what a call is given to be translated."""
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        several = 2 if name == "count" else 1  # of a count also what is said of none
        yield from call.args[TITLED.get(name, len(call.args)) :][:several]
        given = GIVEN.get(name, LABELLED)
        for keyword in call.keywords:
            if keyword.arg in given:
                yield keyword.value
            elif keyword.arg is None and isinstance(keyword.value, ast.Name):
                yield from self._spread(keyword.value.id, given)

    def _spread(self, name: str, given: Set[str]) -> Iterator[ast.expr]:
        """Yield what is given by a dictionary that a call spreads (`**layout`)."""
        match self.variables.get(name):
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and key.value in given:
                        yield value

    def _texts(self, expression: ast.expr) -> Iterator[str]:
        match expression:
            case ast.Constant(value=str(text)) if (
                text not in labels.LEVELS and text not in NODES
            ):  # these have words of their own
                yield text
            case ast.Name(id=name) if name in self.variables:
                # once: a variable may stand in its own value
                yield from self._texts(self.variables.pop(name))
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Dict(values=parts):
                for part in parts:
                    yield from self._texts(part)
            case ast.Starred(value=ast.Name(id=name)) if isinstance(
                self.variables.get(name), ast.Dict
            ):
                for key in self.variables[name].keys:  # type: ignore[attr-defined]
                    yield from self._texts(key)
            case ast.Starred(value=part):
                yield from self._texts(part)
            case ast.BinOp(left=one, right=other) | ast.IfExp(body=one, orelse=other):
                yield from self._texts(one)
                yield from self._texts(other)


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield (name, expression) for what an assignment binds, one by one."""
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            for one_target, one_value in zip(targets, values, strict=True):
                yield from _assigned(one_target, one_value)


def of_toml(file: IO[bytes]) -> Iterator[Shown]:
    """Yield each word of a file of labels, or of what a text did."""
    content = tomllib.load(file)
    if "experiment" in content:
        yield from ((word, True) for word in _of_text(content))
        return
    content.pop("plain", None)
    for words in content.pop("same", {}).values():
        yield from ((word, True) for word in words.split())
    for words in content.values():
        yield from ((word, True) for word in words.values())


def _of_text(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words of what a text did: not of facts of a machine, nor its `names`."""
    for experiment in content["experiment"]:
        rows = [row for row in experiment["row"] if "fact" not in row]
        said = [row.get(key) for row in rows for key in ("what", "text", "here", "how")]
        for word in (experiment["name"], *said):
            if isinstance(word, str) and word not in content.get("names", ()):
                yield word


def of_facts(file: IO[bytes]) -> Iterator[Shown]:
    """Yield each word that reports take from a table of facts: groups and labels."""
    rows = [*csv.DictReader(io.TextIOWrapper(file, "utf-8"))]
    yield from ((row["group"], True) for row in rows if row["shown"] == "1")
    yield from ((row["label"], True) for row in rows if row["shown"] == "1" or row["affects"])
