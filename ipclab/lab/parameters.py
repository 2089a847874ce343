"""Notebook files as data, their parameters (a tagged cell), and values for these."""

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from ipclab.errors import UsageError
from ipclab.lab import shell
from ipclab.plugins import chosen

FORMAT = 4  # of notebooks
PYTHON = "python"
TAG = "parameters"
KEEP_IN_LAB = "lab"  # the tag of cells that reports leave out
INJECTED = "# Parameters\n"  # how papermill's own cell begins
_TYPES = {kind.__name__: kind for kind in (int, float, str, bool, list, dict, object)}


@dataclass(frozen=True)
class Parameter:
    """One parameter: its name, type as written (or that of its default), and default."""

    name: str
    type: str
    default: Any

    def takes(self, value: Any) -> bool:
        """Tell whether `value` can be meant."""
        try:
            self.checked(value)
        except UsageError:
            return False
        return True

    def checked(self, value: Any, where: str = "") -> Any:
        """Return `value` as the parameter's type: "false" is False, one item a list of it.

        Raises UsageError for what cannot be meant.
        """
        try:
            kind = eval(self.type, {"__builtins__": {}}, _TYPES)
        except (NameError, SyntaxError, TypeError) as error:
            fix = f"use {', '.join(_TYPES)}"
            raise UsageError(f"parameter {self.name!r}", f"no type {self.type!r}", fix) from error
        given = value
        if self.type.startswith("list") and not isinstance(value, list | tuple):
            given = [value]
            if isinstance(value, str):
                given = [part for part in value.split(",") if part.strip()]
        is_bool = kind in (int, float) and isinstance(given, bool)
        try:
            return msgspec.convert(given, kind, strict=is_bool)
        except ValueError as error:
            what = f"parameter {self.name!r}{where}"
            why = f"{value!r} is no {self.type}"
            raise UsageError(what, why, f"pass one like {self.default!r}") from error


def read_notebook(path: Path) -> dict[str, Any]:
    """Return a notebook of format 4 with its split texts joined. Raises UsageError when it is none.

    nbformat takes a while to import, which only execution needs.
    """
    try:
        notebook = json.loads(path.read_text("utf-8"))
        if "worksheets" in notebook:  # where formats before 4 have their cells
            what = f"{path.name} is a notebook of format {notebook.get('nbformat')}"
            fix = f"jupyter nbconvert --to notebook --inplace {path.name}"
            raise UsageError(what, f"format {FORMAT} is read", fix)
        for cell in notebook["cells"]:
            cell["source"] = "".join(cell["source"])
            for output in cell.get("outputs", []):
                data = output.setdefault("data", {})
                data |= {kind: _joined(shown) for kind, shown in data.items()}
    except OSError as error:
        raise UsageError(f"cannot read notebook {path}", error.strerror or str(error)) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path.name} is no notebook", "it is not JSON with cells") from error
    return dict(notebook)


def _joined(data: Any) -> Any:
    is_text = isinstance(data, list) and all(isinstance(line, str) for line in data)
    return "".join(data) if is_text else data


def declared(notebook: Path, needed: bool = False) -> dict[str, Parameter]:
    """Return the parameters of a notebook by name; one without a cell of them has none.

    Raises UsageError when the file is no notebook, or has several cells tagged `parameters`, or
    none where it is `needed`.
    """
    cells = [cell for cell in read_notebook(notebook)["cells"] if cell["cell_type"] == "code"]
    tags = [cell.get("metadata", {}).get("tags") or [] for cell in cells]
    tagged = [cell["source"] for cell, own in zip(cells, tags, strict=True) if TAG in own]
    if not (tagged or needed):
        return {}
    if len(tagged) != 1:
        what = f"{notebook.name} has {len(tagged)} cells tagged {TAG!r}"
        raise UsageError(what, "it needs exactly one", "fix the tags")
    try:
        return from_source(tagged[0])
    except UsageError as error:
        raise UsageError(f"{notebook.name}, {error.what}", error.why, error.fix) from error


def check_language(notebook: Path) -> None:
    """Raise `UsageError` for a notebook whose kernel is of another language than Python."""
    about = read_notebook(notebook).get("metadata", {})
    spec, info = about.get("kernelspec") or {}, about.get("language_info") or {}
    language = str(info.get("name") or spec.get("language") or PYTHON)
    if language.lower() not in (PYTHON, "ipython"):
        kernel = spec.get("name") or language
        what = f"{notebook.name} is for the kernel {kernel!r} ({language})"
        raise UsageError(what, "reports execute Python", "export it with jupyter nbconvert")


def fault(notebook: Path) -> str:
    """Return why a file is no notebook with parameters, in one line; "" for one that is."""
    try:
        declared(notebook, needed=True)
    except UsageError as error:
        return str(error)
    return ""


def from_source(source: str) -> dict[str, Parameter]:
    """Return the parameters that assignments like `sizes: list[int] = [84]  # bytes` declare.

    As for papermill, what else stands there is no parameter, and an expression is a default like
    any other: it is told as it is written.
    """
    parameters = {}
    try:
        nodes = ast.parse(_python(source)).body
    except SyntaxError as error:
        raise UsageError("the parameters cell", f"it is no Python: {error}") from error
    for node in nodes:
        match node:
            case ast.AnnAssign(
                target=ast.Name(id=name), annotation=annotation, value=ast.expr() as value
            ):
                kind = ast.unparse(annotation)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                kind = ""
            case _:
                continue
        try:
            default = ast.literal_eval(value)
            usual = "object" if default is None else type(default).__name__
        except ValueError:
            default, usual = ast.unparse(value), "object"
        parameters[name] = Parameter(name, kind or usual, default)
    return parameters


def _python(source: str) -> str:
    """Return a cell as Python: magics and shell lines are calls."""
    if not re.search(r"^\s*[%!?]", source, re.MULTILINE):
        return source
    from IPython.core.inputtransformer2 import TransformerManager

    return str(TransformerManager().transform_cell(source))  # type: ignore[no-untyped-call]


def refuse_unknown() -> None:
    """Raise `UsageError` when papermill gave the notebook that calls a parameter it does not have.

    Papermill puts its own cell behind the tagged one, and only warns.
    """
    shell.register()  # so that it is one line there
    cells = shell.namespace().get("In", [])
    for before, cell in pairwise(map(str, cells)):
        if cell.startswith(INJECTED):
            try:
                known, given = from_source(before), from_source(cell)
            except UsageError:
                continue  # cells that a person wrote, in another order
            for name in given if known else ():
                chosen("parameter", name, known)


def checked_values(notebook: Path, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return `values` as the types that the notebook declares.

    Raises UsageError for an unknown name or a value of the wrong type.
    """
    known = declared(notebook, needed=bool(values))
    where = f" of {notebook.name}"
    return {
        name: chosen(f"parameter{where}", name, known).checked(value, where)
        for name, value in values.items()
    }
