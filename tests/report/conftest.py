"""A small notebook with prose, a table, a figure and data, in two languages."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from babel.messages.pofile import read_po, write_po
from nbformat import v4

from ipclab.report.notebooks.execute import Kernel, execute
from ipclab.report.pages import words
from ipclab.words.catalogue import catalogue_path

LANGUAGES = ("ko", "en")
PARAMETERS = """lang: str = "en"  # language of the report
locale: str = ""  # folder of the catalogues
sizes: list[int] = [84]  # bytes"""
SETUP = """from pathlib import Path
from ipclab.lab.figure import Figure
from ipclab.lab.shell import Multilingual, show
from ipclab.words.catalogue import translations
from ipclab.words.words import Words
from ipclab.words.numbers import Formatter
from ipclab.words.filling import fill
from ipclab.tables.table import Column, Table
from ipclab.stats.quantity import Quantity
_ = Words(lang, translations(lang, Path(locale))).translate
told = {"write": Quantity(713_200, "ns", 700_000, 731_000), "cpu": "A*B <i>",
        "past": Quantity(95e6, "B/s", kind="estimate")}
say = lambda text: show(Multilingual({lang: fill(text, told.__getitem__, Formatter(lang, _))}))
print("printed, and so shown")"""
PROSE = """# What a write costs

## 1. Details

- then a [link](https://example.org/a_b?c=1)[^how]

> Trust nothing # that *was* not measured.

| Mechanism | Time |
|:----------|-----:|
| mapping   | little |

[^how]: As the published method did."""
SAID = """say(_("A write took **{write}** on `{cpu}`, while the past claimed {past:marked}."))
say(_("It is the median, {write:interval}."))"""
TABLE = """Table(_("Time of a write"), [Column(_("Mechanism")), Column(_("Time"), "right")],
      [[f"<b>&{i}</b> #x", f"{i} $y$"] for i in range(60)], [_("All on one CPU.")])"""
FIGURE = """svg = '<svg xmlns="http://www.w3.org/2000/svg" width="200pt" height="80pt" viewBox="0 0 200 80">' + \\
    '<script>alert(1)</script><defs><clipPath id="c"><rect width="150" height="60"/></clipPath></defs>' + \\
    '<rect clip-path="url(#c)" onclick="x()" width="180" height="70" fill="teal"/></svg>'
Figure(svg, _("A teal bar of one write"), _("One write"), "bar")"""
CHROME = {
    "Contents": "차례",
    "Notes": "주",
    "Skip to the content": "본문으로 건너뛰기",
    "Table {number}": "표 {number}",
    "Figure {number}": "그림 {number}",
    "{text} (estimate)": "{text} (추정)",
}
KO = {
    "What a write costs": "쓰기 한 번의 비용",
    "A write took **{write}** on `{cpu}`, while the past claimed {past:marked}.": (
        "쓰기 한 번은 `{cpu}`에서 **{write}**까지 걸렸고, 과거에는 {past:marked}까지로 주장되었다."
    ),
    "1. Details": "1. 자세히",
    "It is the median, {write:interval}.": "중앙값, {write:interval}에서.",
    "then a [link](https://example.org/a_b?c=1)[^how]": (
        "다음은 [링크](https://example.org/a_b?c=1)[^how]"
    ),
    "little": "적음",
    "Trust nothing # that *was* not measured.": "측정하지 않은 것은 # *아무것도* 믿지 않는다.",
    "Mechanism": "방식",
    "Time": "시간",
    "mapping": "매핑",
    "[^how]: As the published method did.": "[^how]: 발표된 방법 그대로이다.",
    "Time of a write": "쓰기 시간",
    "All on one CPU.": "모두 한 CPU에서.",
    "A teal bar of one write": "쓰기 한 번의 청록색 막대",
    "One write": "쓰기 한 번",
    **CHROME,
}
# Of Chinese only the catalogues are used: English with a stop that is as wide as the rules ask
TRANSLATED = {"ko": KO, "zh": {msgid: msgid.replace("}.", "}。") for msgid in KO}}


def write_notebook(path: Path, *cells: str, parameters: str = PARAMETERS, prose: str = "") -> Path:
    """Write a notebook with parameters, a cell for JupyterLab only, code and, before it, `prose`."""
    make: Any = v4
    tagged = make.new_code_cell(parameters, metadata={"tags": ["parameters"]})
    guide = make.new_markdown_cell("How to use this", metadata={"tags": ["lab"]})
    text = [make.new_markdown_cell(prose)] if prose else []
    notebook = make.new_notebook(cells=[tagged, guide, *text, *map(make.new_code_cell, cells)])
    path.write_text(make.writes(notebook), encoding="utf-8")
    return path


def translate_all(sources: words.Sources) -> None:
    """Write the catalogues of `sources` with the translations above."""
    words.update(sources)
    for lang, known in TRANSLATED.items():
        for path in catalogue_path(lang, sources.locale).parent.glob("*.po"):
            with path.open("rb") as file:
                catalog = read_po(file)
            for message in catalog:
                if message.id:
                    message.string = known.get(str(message.id), "")
            with path.open("wb") as file:
                write_po(file, catalog)
        words.update(sources)


@pytest.fixture(scope="session")
def sources(tmp_path_factory: Any) -> words.Sources:
    """A package with the words of report chrome and setup, one notebook, complete catalogues."""
    root = tmp_path_factory.mktemp("lab")
    found = words.Sources((root / "ipclab",), root / "notebooks", root / "locale")
    found.packages[0].mkdir()
    found.notebooks.mkdir()
    marked = [TABLE, FIGURE, *(f"N_({m!r})" for m in CHROME)]
    (found.packages[0] / "code.py").write_text("\n".join(marked), encoding="utf-8")
    write_notebook(found.notebooks / "demo.ipynb", SETUP, SAID, TABLE, FIGURE, prose=PROSE)
    translate_all(found)
    return found


@pytest.fixture(scope="session")
def executed(sources: words.Sources) -> dict[str, Path]:
    """The notebook, executed in each language by one kernel."""
    out = sources.notebooks.parent / "out"
    out.mkdir()
    (out / "facts.csv").write_text("name,value\nwrite,713200\n", encoding="utf-8")
    meta = {
        "date": "2026-11-21T02:03:04+00:00",
        "run": "r-1",
        "attachments": {"facts.csv": "facts.csv"},
    }
    with Kernel() as kernel:
        for lang in LANGUAGES:
            values, about = {"lang": lang, "locale": str(sources.locale)}, {"lang": lang, **meta}
            file, notebook = out / f"{lang}.ipynb", sources.notebooks / "demo.ipynb"
            execute(notebook, values, file, timeout_s=120, kernel=kernel)
            made = nbformat.read(file, as_version=4)
            made.metadata["ipclab"] = about
            nbformat.write(made, file)
    return {lang: out / f"{lang}.ipynb" for lang in LANGUAGES}
