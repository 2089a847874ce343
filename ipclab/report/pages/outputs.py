"""What a notebook's outputs show, as blocks that any format can have: what Jupyter would show.

A block is prose, a table or figure of ours, HTML, a picture, or text that was printed.
"""

import importlib
import importlib.util
import io
import json
import re
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ipclab.errors import LabError
from ipclab.lab.figure import Figure
from ipclab.report.appendix import signed, signing
from ipclab.report.notebooks import quotes
from ipclab.report.pages import pandoc, svg
from ipclab.tables.table import Table
from ipclab.words import output as ours
from ipclab.words.markdown import WRITERS, output_markdown

MARKDOWN = "text/markdown"
HTML, LATEX, PLAIN = "text/html", "text/latex", "text/plain"
SVG, JSON = "image/svg+xml", "application/json"
RASTERS = ("image/png", "image/jpeg", "image/gif", "image/webp")
WIDGET, SCRIPT = "application/vnd.jupyter.widget-view+json", "application/javascript"
NEEDS_JUPYTER = {WIDGET: "widget", SCRIPT: "script"}
STDERR = "stderr"
LEAD = "lead"  # a finding that a report begins with
_PROGRESS = re.compile(r"\d+/\d+|\bIntProgress\(|\bFloatProgress\(")  # of a bar, no content
ALT = "No description has been provided for this image"  # as nbconvert says it
PT_A_PIXEL = 0.75
# Charts of Vega and Vega-Lite, as Altair leaves them: `vl-convert-python`, which comes with
# `altair[save]`, draws them without a browser; where it is not installed, they are lost.
RENDERER = "vl_convert"
_CHART = re.compile(r"application/vnd\.vega(?P<lite>lite)?\.v(?P<major>\d+)(\.\d+)?\+json")
SCALE = 2  # pixels of the picture for each of the chart's
_ACTIVE = re.compile(r"<\s*(script|iframe|object|embed)\b", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f]")  # all but tab, line feed and ESC


@dataclass(frozen=True)
class Prose:
    """Blocks of pandoc's tree."""

    tree: pandoc.Tree


@dataclass(frozen=True)
class Unread:
    """Text in a format that pandoc reads (its MIME type), with the pictures attached to it."""

    kind: str
    source: str
    attached: Mapping[str, Any]
    found: str = ""  # the kind of what it says, such as a finding


@dataclass(frozen=True)
class Markup:
    """HTML that somebody else's code made."""

    html: str


@dataclass(frozen=True)
class Picture:
    """A picture, its MIME type, and its width in points."""

    kind: str
    content: bytes
    width: float
    alt: str = ALT


@dataclass(frozen=True)
class Printed:
    """Text as it was printed, with the escape sequences that colour it."""

    text: str


@dataclass(frozen=True)
class Lost:
    """What no report can show; a key of `[lost]` in the labels."""

    what: str
    detail: str = ""


@dataclass(frozen=True)
class Absent:
    """A figure, a table or a finding of which nothing was measured."""


@dataclass(frozen=True)
class Cell:
    """Where a block comes from: the cell's number in the notebook (from 1), id and source."""

    number: int
    id: str
    source: str


Shown = (
    Absent
    | Prose
    | Unread
    | Markup
    | Picture
    | Printed
    | Lost
    | Table
    | Figure
    | signing.Marks
    | signed.Attached
)


class Seen(NamedTuple):
    """What a cell shows, with the cell, its tags, and what pandoc reads in a text.

    `written` is what a person wrote, as soon as it is a block.
    """

    cell: Cell
    tags: Sequence[str]
    shown: Shown
    tree: pandoc.Tree = []  # noqa: RUF012
    written: bool = False


def shown(output: Mapping[str, Any], lang: str) -> Iterator[Shown]:
    """Yield what an output shows, in the order in which Jupyter prefers one form to another.

    What went to stderr, as warnings do, is no content.
    """
    data = output.get("data") or {}
    if output["output_type"] == "stream":
        if output.get("name") != STDERR:
            yield Printed(printable(output["text"]))
    elif output["output_type"] == "error":
        lines = output.get("traceback") or [f"{output['ename']}: {output['evalue']}"]
        yield Printed(printable("\n".join(lines)))
    elif signing.MIME in data:
        yield signing.Marks(data[signing.MIME]["number"])
    elif signed.ATTACHED in data:
        yield signed.Attached(**data[signed.ATTACHED])
    elif ours.MIME in data:
        yield from _of_ours(data[ours.MIME], lang)
    elif quotes.MIME not in data:
        yield from _preferred(data, output.get("metadata") or {})


def _of_ours(data: Mapping[str, Any], lang: str) -> Iterator[Shown]:
    if data.get("kind") in WRITERS and "data" in data:  # a finding, a text, advice, what is open
        found = LEAD if data["data"].get("lead") else data["kind"]
        yield Unread(MARKDOWN, output_markdown(data, lang), {}, found)
        return
    match ours.kind_of(data):
        case ours.FIGURE | ours.TABLE as kind:
            made = (Figure if kind == ours.FIGURE else Table).of(data, lang)
            yield Absent() if made.absent else made
        case ours.ABSENT:
            yield Absent()
        case ours.TEXT:
            yield Unread(MARKDOWN, output_markdown(data, lang), {})
        case ours.TITLE:
            return  # which its figure has, too
        case other:
            yield Lost("kinds", f"{ours.MIME}, {other}")


def _preferred(data: Mapping[str, Any], metadata: Mapping[str, Any]) -> Iterator[Shown]:
    """Yield the richest form that a report can show, and name richer ones that it cannot."""
    pictures = [kind for kind in (SVG, *RASTERS) if kind in data]
    active = HTML in data and _ACTIVE.search(data[HTML])
    drawable = active or HTML not in data
    if WIDGET in data and _PROGRESS.search(data.get(PLAIN, "")):
        return
    if named := [lost for kind, lost in NEEDS_JUPYTER.items() if kind in data]:
        yield Lost(named[0])
        yield from _printed(data)
    elif pictures and drawable:
        yield picture(pictures[0], data[pictures[0]], metadata.get(pictures[0]) or metadata)
    elif drawable and (drawn := _chart(data)):
        yield drawn
    elif HTML in data:
        yield Markup(data[HTML])
        if active:
            yield Lost("script")
    elif kind := next((kind for kind in (MARKDOWN, LATEX) if kind in data), ""):
        yield Unread(kind, data[kind], {})
    else:
        if richer := sorted(data.keys() - {PLAIN, JSON}):
            yield Lost("kinds", ", ".join(richer))
        yield from _printed(data)


def _chart(data: Mapping[str, Any]) -> Picture | Lost | None:
    """Return the chart among the forms of an output; None without one, or if it cannot be drawn.

    Data that a chart would fetch is not fetched.
    """
    found = next(filter(None, map(_CHART.fullmatch, data)), None)
    if found is None or importlib.util.find_spec(RENDERER) is None:
        return None
    renderer = importlib.import_module(RENDERER)
    options: dict[str, Any] = {"scale": SCALE, "allowed_base_urls": []}
    draw = renderer.vegalite_to_png if found["lite"] else renderer.vega_to_png
    if found["lite"]:
        every = renderer.get_vegalite_versions()
        same = [each for each in every if each.split(".")[0] == found["major"]]
        options["vl_version"] = same[-1] if same else None
    try:
        png = draw(data[found.string], **options)
    except ValueError:  # as it says of a chart that it cannot read
        return None
    width = int.from_bytes(png[16:20], "big") / SCALE
    return picture("image/png", b64encode(png), {"width": width})


def _printed(data: Mapping[str, Any]) -> Iterator[Printed]:
    if JSON in data:
        yield Printed(json.dumps(data[JSON], indent=2, ensure_ascii=False))
    elif PLAIN in data:
        yield Printed(printable(data[PLAIN]))


def picture(kind: str, content: str | bytes, about: Mapping[str, Any]) -> Picture | Lost:
    """Return a picture (base64 unless it is SVG); what is none is lost."""
    from PIL import Image, UnidentifiedImageError

    alt = str(about.get("alt") or ALT)
    try:
        if kind == SVG:
            text = content.decode() if isinstance(content, bytes) else content
            return Picture(kind, text.encode(), svg.width_pt(text), alt)
        raster = b64decode(content)
        with Image.open(io.BytesIO(raster)) as image:
            pixels = image.width
            image.load()
    except (LabError, UnidentifiedImageError, NotBase64, OSError, ValueError, SyntaxError):
        return Lost("picture", kind)
    asked = about.get("width")
    width = float(asked) if isinstance(asked, int | float) else pixels
    return Picture(kind, raster, width * PT_A_PIXEL, alt)


def printable(text: str) -> str:
    """Return printed text as a terminal leaves it: after `\\r` a line begins anew."""
    lines = [line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n")]
    return _CONTROL.sub("", "\n".join(lines))
