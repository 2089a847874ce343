"""What a reader of a report would stumble over, found in what an executed notebook shows: one line
for each.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ipclab.backends.installed import backends
from ipclab.report.pages.outputs import MARKDOWN
from ipclab.words import output as ours

Cells = list[dict[str, Any]]
EMPTY = ("", "–")
HANGUL, HAN = "가-힣", "\u3400-\u9fff"
BLANK = ("control",)  # lines to write on
RULES = {  # by language: what must not stand in a report, and why
    "ko": {
        rf"\d\s?×\s?(?=[{HANGUL}])": "a times sign before Hangul",
        r"\(으\)로|[을를]\([을를]\)|[은는]\([은는]\)|[이가]\([이가]\)": "a particle in two forms",
        r"\d–\d|\d\S{0,5} – \d": "a range as the other languages have it",
    },
    "zh": {
        rf"(?<=[{HAN}]),\s?(?=[{HAN}])": "an ASCII comma between Chinese words",
        r"\d~\d": "a range as Korean has it",
        rf"(?<=[{HAN}]);|(?<=[{HAN}]):\s": "half-width punctuation after a Chinese word",
    },
    "en": {r"\d~\d": "a range as Korean has it"},
}
KEY = r"\b(?:arm|backend|placement|cache|set|op|metric|size_bytes|mapping|readers|entries)=\w"
ALWAYS = {
    KEY: "a raw key",
    r"\bnan\b|\bNaN\b|\bNone\b(?! (?:of|is|are)\b)|<NA>": "a value of the program",
    r"\{[a-z_.]+(?::[\w,]+)?\}": "an unfilled name",
    r"(?<![−\d.,])(?P<end>[−\d.,]+)\s?[–~]\s?(?P=end)\]": "an interval without a width",
}
QUOTED = re.compile(r"“[^”]*”|`[^`]*`|```.*?```|\]\([^)]*\)", re.DOTALL)  # as others wrote it


def cells_of(executed: Path) -> Cells:
    """Return the cells of an executed notebook."""
    cells: Cells = json.loads(executed.read_text("utf-8"))["cells"]
    return cells


def outputs(cells: Cells) -> list[dict[str, Any]]:
    """Return what cells display."""
    return [output for cell in cells for output in cell.get("outputs", []) if "data" in output]


def told(cells: Cells, kind: str) -> list[dict[str, Any]]:
    """Return the tables or figures that cells display, in the language that they are in."""
    shown = [output["data"].get(ours.MIME, {}) for output in outputs(cells)]
    every = [each for each in shown if each.get("kind") == kind]
    return [{**each, **next(iter(each[ours.SAID].values()))} for each in every]


def paragraphs(cells: Cells) -> list[str]:
    """Return the narrative and the prose of an executed notebook."""
    written = []
    for cell in cells:
        if cell["cell_type"] == "markdown" and "lab" not in cell["metadata"].get("tags", []):
            written.append("".join(cell["source"]))
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if MARKDOWN in data:
                written.append("".join(data[MARKDOWN]))
    return written


def texts(cells: Cells) -> Iterator[str]:
    """Yield every text that a reader sees: prose, captions, heads, cells, notes, what figures say."""
    yield from paragraphs(cells)
    for each in told(cells, ours.TABLE):
        yield from (
            each["caption"],
            *(column["label"] for column in each["columns"]),
            *each.get("notes", []),
        )
        yield from (cell for row in each["rows"] for cell in row)
    for figure in told(cells, ours.FIGURE):
        yield from (figure["caption"], figure["alt"])


def stumbles(cells: Cells, lang: str) -> list[str]:
    """Return what is wrong with an executed report in one language."""
    found = [problem for text in dict.fromkeys(texts(cells)) for problem in wrong(text, lang)]
    return found + [problem for each in told(cells, ours.TABLE) for problem in empty_columns(each)]


def wrong(text: str, lang: str) -> list[str]:
    """Return what is wrong with one text; what is quoted is as others wrote it."""
    own = QUOTED.sub("", text)
    rules = RULES[lang] | ALWAYS
    return [
        f"{why}: {own[max(0, hit.start() - 30) : hit.end() + 30]!r}"
        for rule, why in rules.items()
        if (hit := re.search(rule, own))
    ]


def empty_columns(shown: dict[str, Any]) -> list[str]:
    """Return the columns of a table of several rows that hold nothing."""
    if len(shown["rows"]) < 2 or shown.get("name") in BLANK:
        return []
    columns = zip(shown["columns"], zip(*shown["rows"], strict=True), strict=True)
    name = shown.get("name") or shown["caption"]
    return [
        f"{name}: {column['label']!r} is empty"
        for column, cells in columns
        if set(cells) <= set(EMPTY)
    ]


def undefined(cells: Cells) -> set[str]:
    """Return the mechanisms that a report names and its definitions lack."""
    every = "\n".join(texts(cells))
    named_so = "{#definitions}", 'id="definitions"'  # in a source, and as Jupyter shows it
    tables_of_terms = (text for text in paragraphs(cells) if any(n in text for n in named_so))
    terms = "\n".join(tables_of_terms)
    # others are words of their own, such as tcp
    names = {name for name in backends() if "-" in name}
    named = {name for name in names if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", every)}
    return {name for name in named if name not in terms}
