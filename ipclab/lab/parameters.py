"""The parameters of a notebook: the cell tagged `parameters`, and what may be passed for it."""

import ast
import io
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from ipclab.errors import UsageError, nearest
from ipclab.lab import ipynb

TAG = "parameters"
_TYPES = {"int": int, "float": float, "str": str, "bool": bool, "list": list, "dict": dict, "object": object}


@dataclass(frozen=True)
class Parameter:
    """One parameter: its name, type as written (or that of its default), default and comment."""

    name: str
    type: str
    default: Any
    help: str = ""

    def convert(self, value: Any) -> Any:
        """Return `value` as the parameter's type: "false" is meant as False, one item as a list of it.

        Raises `ValueError` for what cannot be meant.
        """
        try:
            kind = eval(self.type, {"__builtins__": {}}, _TYPES)
        except (NameError, SyntaxError, TypeError) as error:
            raise UsageError(
                f"parameter {self.name!r}", f"no type {self.type!r}", f"use {', '.join(_TYPES)}"
            ) from error
        if self.type.startswith("list") and not isinstance(value, list | tuple):
            value = [part for part in value.split(",") if part.strip()] if isinstance(value, str) else [value]
        if kind in (int, float) and isinstance(value, bool):
            raise ValueError(f"{value!r} is no number")
        return msgspec.convert(value, kind, strict=False)

    def checked(self, value: Any, where: str = "") -> Any:
        """Return `value` as the parameter's type; raises UsageError for what cannot be meant."""
        try:
            return self.convert(value)
        except ValueError as error:
            why = f"{value!r} is no {self.type}"
            raise UsageError(f"parameter {self.name!r}{where}", why, f"pass one like {self.default!r}") from error


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


def check(notebook: Path, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return `values` as the types that the notebook declares.

    Raises UsageError for an unknown name or a value of the wrong type.
    """
    known = read(notebook)
    converted = {}
    for name, value in values.items():
        if name not in known:
            why, fix = f"it has {', '.join(known)}", f"did you mean {nearest(name, known)!r}?"
            raise UsageError(f"{notebook.name} has no parameter {name!r}", why, fix)
        converted[name] = known[name].checked(value, f" of {notebook.name}")
    return converted


def _type_of(default: Any) -> str:
    return "object" if default is None else type(default).__name__


def _comments(source: str) -> dict[int, str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {t.start[0]: t.string.lstrip("# ") for t in tokens if t.type == tokenize.COMMENT}
