"""The parameters of a notebook: the cell tagged `parameters`, and what may be passed for it."""

import ast
import io
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ipclab.errors import UsageError
from ipclab.lab import ipynb
from ipclab.errors import nearest

TAG = "parameters"
_PLAIN: dict[str, Any] = {
    "int": int,
    "float": (int, float),
    "str": str,
    "bool": bool,
    "list": list,
    "dict": dict,
    "tuple": tuple,
}


@dataclass(frozen=True)
class Parameter:
    """One parameter: its name, type as written (or that of its default), default and comment."""

    name: str
    type: str
    default: Any
    help: str = ""

    def accepts(self, value: Any) -> bool:
        """Tell whether `value` is of the parameter's type; an int is a float, a bool is no int."""
        return _matches(value, ast.parse(self.type, mode="eval").body)


def read(notebook: Path) -> dict[str, Parameter]:
    """Return the parameters of a notebook by name.

    Raises UsageError when the file is no notebook, or has not exactly one cell tagged `parameters`.
    """
    tagged = [
        cell["source"]
        for cell in ipynb.read(notebook)["cells"]
        if cell["cell_type"] == "code" and TAG in cell["metadata"].get("tags", [])
    ]
    if len(tagged) != 1:
        raise UsageError(
            f"{notebook.name} has {len(tagged)} cells tagged {TAG!r}", "it needs exactly one", "fix the tags"
        )
    return from_source(tagged[0])


def from_source(source: str) -> dict[str, Parameter]:
    """Return the parameters that assignments like `sizes: list[int] = [84]  # bytes` declare."""
    comments = _comments(source)
    found = {}
    for node in ast.parse(source).body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=ast.expr() as value):
                kind = ast.unparse(annotation)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                kind = ""
            case _:
                raise UsageError("the parameters cell", f"{ast.unparse(node)!r} is no parameter")
        try:
            default = ast.literal_eval(value)
        except ValueError as error:
            raise UsageError(f"parameter {name!r}", "its default is no literal") from error
        help_text = comments.get(node.end_lineno or 0, "")
        found[name] = Parameter(name, kind or _type_of(default), default, help_text)
    return found


def check(notebook: Path, values: Mapping[str, Any]) -> dict[str, Parameter]:
    """Return the parameters, or raise UsageError for an unknown name or a value of the wrong type."""
    known = read(notebook)
    for name, value in values.items():
        if name not in known:
            raise UsageError(
                f"{notebook.name} has no parameter {name!r}",
                f"it has {', '.join(known)}",
                f"did you mean {nearest(name, known)!r}?",
            )
        if not known[name].accepts(value):
            raise UsageError(
                f"parameter {name!r} of {notebook.name}",
                f"{value!r} is no {known[name].type}",
                f"pass one like {known[name].default!r}",
            )
    return known


def _type_of(default: Any) -> str:
    return "object" if default is None else type(default).__name__


def _comments(source: str) -> dict[int, str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {t.start[0]: t.string.lstrip("# ") for t in tokens if t.type == tokenize.COMMENT}


def _matches(value: Any, kind: ast.expr) -> bool:
    """Compare a value with an annotation made of plain types, `list[T]`, `dict[K, V]`, `T | U`, `None`."""
    match kind:
        case ast.BinOp(left=left, right=right):
            return _matches(value, left) or _matches(value, right)
        case ast.Constant(value=None):
            return value is None
        case ast.Subscript(value=ast.Name(id="list"), slice=item):
            return isinstance(value, list) and all(_matches(v, item) for v in value)
        case ast.Subscript(value=ast.Name(id="dict"), slice=ast.Tuple(elts=[key, item])):
            return isinstance(value, dict) and all(_matches(k, key) and _matches(v, item) for k, v in value.items())
        case ast.Name(id="object" | "Any"):
            return True
        case ast.Name(id=name) if name in _PLAIN:
            return isinstance(value, _PLAIN[name]) and (name == "bool" or not isinstance(value, bool))
    raise UsageError("the parameters cell", f"type {ast.unparse(kind)} is not known", f"use {', '.join(_PLAIN)}")
