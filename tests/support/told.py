"""Notebooks executed in this process on a run whose values were changed, and the sentences that
they then say.
"""

import ast
import re
from collections.abc import Callable
from functools import cache
from typing import Any, Self

import nbformat
import pandas as pd
import pytest

from ipclab.claims import audit
from ipclab.frames import derived, ratios
from ipclab.lab import shell
from ipclab.paths import checkout
from ipclab.prose import prose
from ipclab.prose.questions import ProseQuestion
from ipclab.prose.sentences import told_sentences
from ipclab.prose.teller import Teller
from ipclab.report import enriched
from ipclab.report.appendix import states
from ipclab.report.lab import ReportLab
from ipclab.store import samples
from ipclab.store.bundle import opened
from ipclab.store.run import RunFolder
from ipclab.words.words import Words
from tests.support.commands import ROOT

MAGIC = "%%prose"
SENTENCE = re.compile(r"(?<=[.:])(?:\*\*)? +(?=[A-Z{*“])")
BARE = re.compile(r"(\{[^}]*\}[\s.]*)+")  # sentences that values bring, alone
ENDS = re.compile(r"[.:](\[\^\d\])?[”\"*]*$")  # what has no stop is a heading
READ = derived.read_frame  # before it is replaced
Frames = Callable[[RunFolder, str, str], pd.DataFrame]
TIMES = ("p50", "mean", "min", "max", "sd", "p90", "p99", "p99.9")


@cache
def reference() -> RunFolder:
    return opened(checkout(), checkout().reference)


@cache
def measured(study: str, kind: str) -> pd.DataFrame:
    return READ(reference(), study, kind)


def forget_judged() -> None:
    """Forget what was judged of values that are changed now."""
    ratios._contests.cache_clear()
    ratios._medians.cache_clear()
    states._of_study.cache_clear()
    enriched._points.cache_clear()


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
def cells(name: str, drawn: bool = False) -> list[tuple[bool, Any]]:
    """Return the cells of a notebook after its parameters: (it is prose, the prose or compiled
    code); without what they draw, unless it is `drawn`.
    """
    found = []
    for cell in nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4).cells:
        if cell.cell_type != "code" or "lab" in cell.metadata.get("tags", []):
            continue
        if cell.source.startswith(MAGIC):
            found.append((True, cell.source.partition("\n")[2]))
        else:
            tree = ast.parse(cell.source)
            if not drawn:
                tree = ast.fix_missing_locations(NoFigures().visit(tree))
            found.append((False, compile(tree, name, "exec")))
    return found


class Told(Teller):
    """The sentences of one execution: each template beside what it became, and the notebook's
    variables.
    """

    def __init__(self, name: str, frames: Frames, run: RunFolder | None = None) -> None:
        self.said: dict[str, set[str]] = {}
        self.shown: list[str] = []
        self.blocks: set[str] = set()
        self.own: set[str] = set()
        self.answers: set[str] = set()
        self.values: dict[str, Any] = {}
        self.name, self.frames = name, frames
        self.run = run or reference()

    def __enter__(self) -> Self:
        """Execute the notebook; until the end of `with` every value comes from the frames."""
        self.patch = pytest.MonkeyPatch()
        forget_judged()
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
        forget_judged()

    def _run(self) -> None:
        for is_prose, content in cells(self.name):
            if is_prose:
                self._prose(content)
            else:
                exec(content, self.values)
                if "run" in self.values and "lab" not in self.values:
                    self.values["run"] = str(self.run.path)

    def _made(self) -> list[tuple[Any, str, Any]]:
        say, translate = ReportLab.say, Words.translate
        methods = ((ReportLab, "table"), (ReportLab, "keep"), (audit, "claims_table"))
        nothing = ((where, name, lambda *_, **__: None) for where, name in methods)
        return [
            (derived, "read_frame", self._read_columns),
            (samples, "decode", decoded),
            (shell, "namespace", lambda: self.values),
            (
                ReportLab,
                "say",
                lambda lab, text, /, **more: self._note(text, say(lab, text, **more)),
            ),
            (Words, "translate", lambda lab, text: self._note(text, translate(lab, text))),
            *nothing,
        ]

    def _read_columns(
        self, run: RunFolder, study: str, kind: str, columns: tuple[str, ...] = ()
    ) -> pd.DataFrame:
        frame = self.frames(run, study, kind)
        return frame[[*columns]] if columns else frame

    def _note(self, template: str, text: str) -> str:
        self.said.setdefault(text, set()).add(" ".join(template.split()))
        return text

    def _prose(self, cell: str) -> None:
        prose.render(cell, self)

    def translate(self, msgid: str) -> str:
        """Return prose as it is: what is checked is the English."""
        return msgid

    def fill(self, text: str, more: Any = None) -> str:
        """Note a block of the prose, or an alternative that a question chose, and return it filled."""
        filled = Teller(self.values["lab"]).fill(text, more)
        self.shown.append(filled)
        if more is None:
            self.blocks.add(text)
            self.own |= set(SENTENCE.split(text))
        elif ENDS.search(text):
            self.answers.add(text)
        return filled

    def tell(self, text: str, more: Any = None) -> str:
        """Return what of a text lacks no value, filled."""
        kept = told_sentences(text, lambda part: not self.is_measured(part, more))
        return self.fill(kept, more) if kept else ""

    def is_measured(self, text: str, more: Any = None) -> bool:
        """Return whether each value that `text` names is there."""
        return Teller(self.values["lab"]).is_measured(text, more)

    def answer(self, question: ProseQuestion) -> Any:
        """Return what the lab answers to a question in the prose."""
        return Teller(self.values["lab"]).answer(question)

    def templates(self) -> set[str]:
        """Return the templates of all sentences that the prose shows: its own, and those that
        values bring.
        """
        return self.alternatives | {
            each for each in self.own if not BARE.fullmatch(each) and ENDS.search(each)
        }

    @property
    def alternatives(self) -> set[str]:
        """The templates of those that values bring, and of those that questions chose."""
        every = "\n".join(self.shown)
        brought = {
            each
            for text, of in self.said.items()
            if " " in text and text.endswith((".", ":")) and text in every
            for each in of
        } - {" ".join(each.split()) for each in self.blocks}
        return self.answers | brought
