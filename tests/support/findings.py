"""Notebooks executed in this process on changed values, and the findings that they then show."""

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import pandas as pd
import pytest

from ipclab.claims import audit
from ipclab.frames import derived
from ipclab.lab import canvas, shell
from ipclab.lab.lab import Lab
from ipclab.lab.notes import Notes
from ipclab.store import samples
from ipclab.store.run import RunFolder
from ipclab.words.markdown import markdown
from ipclab.words.output import SCHEMA
from tests.support.told import cells, decoded, forget_judged, reference

Frames = Callable[[RunFolder, str, str], pd.DataFrame]
HOLE = re.compile(r"\bnan\b|\bNone\b(?! (?:of|is))|not measured|[{}]|\binf\b|\| – |any of +\|")
LANGS = ("en", "ko", "zh")


def made_by(
    name: str,
    frames: Frames,
    change: Callable[[pd.DataFrame], pd.DataFrame] = lambda f: f,
    drawn: bool = False,
) -> list[dict[str, Any]]:
    """Return what the notebook `name` shows as data, of a run whose frames are `frames`.

    `change` cuts each frame of points: a sweep of fewer levels. Figures are `drawn`, or left out.
    """
    shown: list[dict[str, Any]] = []
    patch = pytest.MonkeyPatch()
    forget_judged()

    def show(_lab: Notes, kind: str, data: dict[str, Any]) -> None:
        shown.append({"schema": SCHEMA, "kind": kind, "data": data})

    def read(run: RunFolder, study: str, kind: str, columns: tuple[str, ...] = ()) -> pd.DataFrame:
        frame = frames(run, study, kind)
        frame = frame if study in ("limits", "calibration") else change(frame)
        return frame[[*columns]] if columns else frame

    values: dict[str, Any] = {}
    patch.setattr(derived, "read_frame", read)
    patch.setattr(samples, "decode", decoded)
    patch.setattr(shell, "namespace", lambda: values)
    patch.setattr(Notes, "_show", show)
    patch.setattr(canvas, "pictures", lambda *_: {"svg": b"<svg/>"})
    for where, method in ((Lab, "table"), (audit, "claims_table")):
        patch.setattr(where, method, lambda *_, **__: None)
    try:
        for code in cells(name, drawn):
            exec(code, values)
            if "run" in values and "lab" not in values:
                values["run"] = str(reference().path)
    finally:
        patch.undo()
        forget_judged()
    return shown


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


def wrong(finding: dict[str, Any], frame: pd.DataFrame) -> str:
    """Return what of a finding its own rows in `frame` contradict, or nothing."""
    names = frame.study + "/" + frame.point + "/" + frame.op + "/" + frame.metric
    known = dict(zip(names, frame.value, strict=True))
    kind, verdict, values = finding["kind"], finding["verdict"], finding["values"]
    rests = list(finding["rests"])
    if kind == "compare" and len(rests) == 2:  # what was computed rests on more rows
        one, other = (known[row] for row in rests)
        said = [values[side][0] for side in ("a", "b")]
        if said != pytest.approx([one, other]):
            return f"{said} are {one}, {other}"
        fits = {"less": one < other, "more": one > other}
        return "" if fits.get(verdict, True) else f"{verdict}: {one}, {other}"
    if kind == "effect":
        pairs = [
            known[over] / known[under] for over, under in zip(rests[::2], rests[1::2], strict=True)
        ]
        above, below = (
            sum(test(each) for each in pairs) for test in (lambda x: x > 1, lambda x: x < 1)
        )
        if values["more"] > above or values["less"] > below or values["all"] != len(pairs):
            return f"{values} of {pairs}"
    if kind == "fastest" and verdict in ("clear", "tied"):
        metric = finding["topic"].get("metric", "p50")
        points = frame[
            frame.point.isin(rests)
            & (frame.metric == metric)
            & (frame.op == finding["topic"]["op"])
        ]
        if values["best"][0] != pytest.approx(points.value.min()):
            return f"{values['best']} is not the least of {list(points.value)}"
    return ""
