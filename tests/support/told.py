"""Notebooks executed in this process on a run whose values were changed."""

import ast
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Self

import nbformat
import pandas as pd
import pytest

from ipclab.claims import audit
from ipclab.frames import derived
from ipclab.frames.remembered import forget
from ipclab.lab import shell
from ipclab.lab.finding import bundle
from ipclab.lab.lab import Lab
from ipclab.lab.notes import Notes
from ipclab.paths import checkout
from ipclab.store import samples
from ipclab.store.bundle import opened
from ipclab.store.run import RunFolder
from tests.support.commands import ROOT

READ = derived.read_frame  # before it is replaced
Frames = Callable[[RunFolder, str, str], pd.DataFrame]


@cache
def reference() -> RunFolder:
    return opened(checkout(), checkout().reference)


@cache
def measured(study: str, kind: str) -> pd.DataFrame:
    return READ(reference(), study, kind)


class NoFigures(ast.NodeTransformer):
    """Leaves out what is drawn; the words of a figure are still filled."""

    def visit_With(self, node: ast.With) -> Any:
        call = node.items[0].context_expr
        if not (isinstance(call, ast.Call) and ast.unparse(call.func) == "lab.figure"):
            return self.generic_visit(node)
        words = [call.args[1], *(each.value for each in call.keywords if each.arg == "alt")]
        return [
            ast.Expr(
                ast.Call(ast.Attribute(ast.Name("lab", ast.Load()), "say", ast.Load()), [each], [])
            )
            for each in words
        ]


decoded = cache(samples.decode)


@cache
def cells(name: str, drawn: bool = False) -> list[Any]:
    """Return the compiled cells of a notebook after its parameters; what they draw is left out,
    unless it is `drawn`.
    """
    found = []
    for cell in nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4).cells:
        if cell.cell_type != "code" or "lab" in cell.metadata.get("tags", []):
            continue
        tree = ast.parse(cell.source)
        if not drawn:
            tree = ast.fix_missing_locations(NoFigures().visit(tree))
        found.append(compile(tree, name, "exec"))
    return found


class Told:
    """One execution of a notebook, and its variables."""

    drawn = False  # figures are left out

    def __init__(self, name: str, frames: Frames, run: RunFolder | None = None) -> None:
        self.values: dict[str, Any] = {}
        self.name, self.frames = name, frames
        self.run = run or reference()

    def __enter__(self) -> Self:
        """Execute the notebook; until the end of `with` every value comes from the frames."""
        self.patch = pytest.MonkeyPatch()
        forget()  # what was judged of values that are changed now
        for where, name, made in self._made():
            self.patch.setattr(where, name, made)
        try:
            self._run()
        except BaseException:  # what was replaced must not stay so for the tests that follow
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.patch.undo()
        forget()

    def _run(self) -> None:
        for code in cells(self.name, self.drawn):
            exec(code, self.values)
            if "run" in self.values and "lab" not in self.values:
                self.values["run"] = str(self.run.path)

    def _made(self) -> list[tuple[Any, str, Any]]:
        methods = ((Lab, "table"), (audit, "claims_table"))
        nothing = ((where, name, lambda *_, **__: None) for where, name in methods)
        return [
            (derived, "read_frame", self._read_columns),
            (samples, "decode", decoded),
            (shell, "namespace", lambda: self.values),
            (Notes, "_show", self._show),
            *nothing,
        ]

    def _read_columns(
        self, run: RunFolder, study: str, kind: str, columns: tuple[str, ...] = ()
    ) -> pd.DataFrame:
        frame = self.frames(run, study, kind)
        return frame[[*columns]] if columns else frame

    def _show(self, kind: str, data: Mapping[str, Any]) -> None:
        bundle(kind, data, "en")  # which writes its numbers
