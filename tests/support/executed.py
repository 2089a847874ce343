"""A notebook executed in this process: what it says, what it prints side by side, what it draws."""

import re
from itertools import chain, product
from typing import Any

import pandas as pd
import pytest

from ipclab.lab import canvas
from ipclab.lab.figure import Figure
from ipclab.lab.lab import Lab
from ipclab.lab.notes import Notes
from ipclab.words.markdown import markdown
from ipclab.words.output import SCHEMA
from tests.support.told import Frames, Told

HOLE = re.compile(
    r"\bnan\b|\bNone\b(?! (?:of|is))|not measured|[{}]|\binf\b|\| – |not told apart: *\)"
)
LANGS = ("en", "ko", "zh")


class Executed(Told):
    """One execution of a notebook on frames.

    `said` is what it shows as data, `together` the cells of each table and the values of each text,
    `figures` the canvas of each figure by name, where they are `drawn`.
    """

    def __init__(self, name: str, frames: Frames, drawn: bool = False) -> None:
        super().__init__(name, frames)
        self.drawn = drawn
        self.said: list[dict[str, Any]] = []
        self.together: list[list[Any]] = []
        self.figures: dict[str, Any] = {}

    def _show(self, kind: str, data: Any) -> None:
        self.said.append({"schema": SCHEMA, "kind": kind, "data": data})

    def _made(self) -> list[tuple[Any, str, Any]]:
        written, finished = Notes.text, canvas.finished

        def text(lab: Notes, words: str, **values: Any) -> None:
            self.together.append([*values.values()])
            written(lab, words, **values)

        def table(_lab: Lab, frame: pd.DataFrame, *_: Any, **__: Any) -> None:
            self.together.append([*chain.from_iterable(frame.to_numpy().tolist())])

        def figure(lab: Lab, drawn: Any, name: str, *words: str) -> Figure:
            self.figures[name] = drawn
            return finished(lab, drawn, name, *words)

        return [
            *super()._made(),
            (Notes, "text", text),
            (Lab, "table", table),
            (canvas, "finished", figure),
            (canvas, "pictures", lambda *_: {"svg": b"<svg/>"}),
            (canvas, "write_whole", lambda *_: None),
        ]


def executed(name: str, frames: Frames, drawn: bool = False) -> Executed:
    """Execute the notebook `name` of a run whose frames are `frames`; figures are left out, or `drawn`."""
    with Executed(name, frames, drawn) as page:
        return page


def findings(shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return each finding of what is shown, but for texts."""
    parts = [made["data"].get("findings", ()) for made in shown if made["kind"] != "open"]
    return [each for part in parts for each in part if each["kind"] != "text"]


def holes(shown: list[dict[str, Any]]) -> list[str]:
    """Return what is said with a hole in it, or not at all, in any language."""
    found = []
    for made, lang in product(shown, LANGS):
        said = re.sub(r"\{#[\w-]+\}", "", markdown(made, lang))
        named = made["kind"] == "open"  # which says how much was not measured
        if not said.strip() or (HOLE.search(said) and not named):
            found.append(f"{lang}: {said}")
    return found


def contradicted(shown: list[dict[str, Any]], frame: pd.DataFrame) -> list[str]:
    """Return what findings say that their own rows in `frame` contradict."""
    names = frame.study + "/" + frame.point + "/" + frame.op + "/" + frame.metric
    known = dict(zip(names, frame.value, strict=True))
    return list(filter(None, (_contradiction(each, known, frame) for each in findings(shown))))


def _contradiction(finding: dict[str, Any], known: dict[str, float], frame: pd.DataFrame) -> str:
    kind, verdict, values = finding["kind"], finding["verdict"], finding["values"]
    rests = list(finding["rests"])
    if kind == "compare" and len(rests) == 2:  # what was computed rests on more rows
        one, other = (known[row] for row in rests)
        said = [values[side][0] for side in ("a", "b")]
        fits = {"less": one < other, "more": one > other}.get(verdict, True)
        if said != pytest.approx([one, other]) or not fits:
            return f"{said}, {verdict}: {one}, {other}"
    if kind == "effect":
        pairs = [
            known[over] / known[under] for over, under in zip(rests[::2], rests[1::2], strict=True)
        ]
        above, below = sum(each > 1 for each in pairs), sum(each < 1 for each in pairs)
        if values["more"] > above or values["less"] > below or values["all"] != len(pairs):
            return f"{values} of {pairs}"
    if kind == "fastest" and verdict in ("clear", "tied"):
        topic = finding["topic"]
        points = frame[frame.point.isin(rests) & (frame.op == topic["op"])]
        points = points[points.metric == topic.get("metric", "p50")]
        if values["best"][0] != pytest.approx(points.value.min()):
            return f"{values['best']} is not the least of {list(points.value)}"
    return ""
