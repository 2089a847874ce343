"""What notebooks of others show is what JupyterLab shows of them: on the page and in print."""

import importlib
import io
import json
import re
import string
import unicodedata
from base64 import b64decode
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import typst
from bs4 import BeautifulSoup
from nbconvert.exporters import get_exporter
from nbformat import v4
from pypdf import PdfReader

from ipclab.errors import LabError
from ipclab.marks.pictures import print_fonts
from ipclab.report.pages import outputs, pandoc
from ipclab.report.pages.document import Document, read_document
from ipclab.report.pages.exporters import ReportHTMLExporter, TypstPDFExporter
from ipclab.report.pages.typeset import Sheet
from tests.support.foreign import GIF, KINDS, PIXEL, SVG, displayed, notebook, printed

HIDDEN = ["style", "script", "annotation", "title", "nav", "header"]

# Letters of formulas, which stand as mathematical ones in print.
MATH = {
    ord(unicodedata.lookup(f"MATHEMATICAL ITALIC SMALL {letter}")): letter.lower()
    for letter in string.ascii_uppercase.replace("H", "")
}


def shown(html: str) -> tuple[str, int]:
    """Return the words of a page's content, and how many pictures it has."""
    content: Any = BeautifulSoup(html, "html.parser").main
    loaded = [each["src"] for each in content("img", src=True)]
    assert all(source.startswith("data:image/") for source in loaded)
    pictures = len(content(["img", "svg"]))
    for each in content(HIDDEN):
        each.decompose()
    return content.get_text(), pictures


def squeezed(text: str) -> str:
    """Return text without what setting it changes: white space, task marks, bullets."""
    plain = text.translate({ord(mark): None for mark in "\u200b\u2060\u202b\u202c☐☒•"})
    return "".join(plain.split())


def pictures_set(document: Document, folder: Path) -> int:
    """Return how many pictures Typst sets."""
    sheet = Sheet(document, folder)
    found = typst.query(
        sheet.main.encode(),
        "image",
        root=str(folder),
        sys_inputs={"document": json.dumps(sheet.data)},
        font_paths=print_fonts(),
        ignore_system_fonts=True,
    )
    return len(json.loads(found))


def words_of(pdf: bytes) -> str:
    """Return the words of a PDF file that stand below its title and date, without page numbers."""
    texts = [page.extract_text() for page in PdfReader(io.BytesIO(pdf)).pages]
    _, _, body = " ".join(texts).partition("November 21, 2026")
    return re.sub(r"\b\d+ ?/ ?\d+\b", "", body)


def of_every_kind() -> tuple[Document, str, int]:
    """Return a document of a notebook that shows every kind, its words, and how many pictures it has."""
    narrative_first = sorted(KINDS, key=lambda kind: kind != "narrative")  # it has the title
    cells, words, pictures = zip(*(KINDS[kind] for kind in narrative_first), strict=True)
    document = read_document(notebook(*chain.from_iterable(cells)), Path(), name="file")
    return document, " ".join(words), sum(pictures)


def test_a_page_shows_what_jupyter_shows() -> None:
    document, words, pictures = of_every_kind()
    said, drawn = shown(ReportHTMLExporter().convert(document))
    assert squeezed(said) == squeezed(words).replace("∗", "*")
    assert (drawn, document.lost, document.title) == (pictures, [], "A title")


def test_print_shows_what_jupyter_shows(tmp_path: Path) -> None:
    document, words, pictures = of_every_kind()
    pdf = TypstPDFExporter().convert(document)
    assert b"pdfuaid" in pdf and document.lost == []
    said = squeezed(words_of(pdf)).translate(MATH)
    assert [word for word in words.split() if squeezed(word).translate(MATH) not in said] == []
    assert pictures_set(document, tmp_path) == pictures


BROKEN = "bm8gcGljdHVyZQ=="
LOST = [
    (
        displayed({"application/vnd.jupyter.widget-view+json": {}, "text/plain": "IntSlider(1)"}),
        ["A widget needs the notebook open in JupyterLab; its text stands here."],
        "IntSlider(1)",
    ),
    (
        displayed({"application/javascript": "f()", "text/plain": "<Javascript>"}),
        ["What a script shows needs the notebook open in JupyterLab."],
        "<Javascript>",
    ),
    (
        displayed({"text/html": "<p>beside</p><script>f()</script>"}),
        ["What a script shows needs the notebook open in JupyterLab."],
        "beside",
    ),
    (
        displayed({"image/png": BROKEN}),
        ["A picture cannot be read (image/png)."],
        "",
    ),
    (
        displayed({"application/vnd.none+json": {}}),
        ["Nothing here is of a kind that a report can show: application/vnd.none+json"],
        "",
    ),
    (
        v4.new_markdown_cell("![a plot](https://example.org/a.png) <img src='gone.png'>"),
        [
            "A picture is not here: https://example.org/a.png",
            "A picture is not here: gone.png",
        ],
        "a plot",
    ),
]


def test_what_no_report_can_show_is_named_with_its_cell(capsys: pytest.CaptureFixture[str]) -> None:
    told = notebook("# T", *(cell for cell, _, _ in LOST), "the end")
    lost = [
        f"Cell {place}: {line}" for place, (_, lines, _) in enumerate(LOST, 2) for line in lines
    ]
    page, _ = ReportHTMLExporter().from_notebook_node(told)
    assert capsys.readouterr().err.splitlines() == [f"ipclab: T: {line}" for line in lost]
    pdf, _ = TypstPDFExporter().from_notebook_node(told)
    assert capsys.readouterr().err.splitlines() == [f"ipclab: T: {line}" for line in lost]
    for said in (shown(page)[0], words_of(pdf)):
        for line in (*(kept for _, _, kept in LOST), *lost, "the end"):
            assert squeezed(line) in squeezed(said)


def test_a_cell_without_source_shows_nothing() -> None:
    told = notebook("# T", "gone", "the end")
    del told.cells[1]["source"]
    page, _ = ReportHTMLExporter().from_notebook_node(told)
    assert shown(page)[0].split()[-2:] == ["the", "end"]


def test_a_picture_stands_for_what_a_script_draws_beside_it() -> None:
    told = notebook(displayed({"text/html": "<script>f()</script>", "image/png": PIXEL}))
    document = read_document(told, Path())
    assert (document.lost, shown(ReportHTMLExporter().convert(document))[1]) == ([], 1)


class Renderer:
    """What `vl_convert` is to charts, and what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[dict[str, object]] = []

    def get_vegalite_versions(self) -> list[str]:
        return ["5.20", "5.21", "6.4"]

    def vegalite_to_png(self, spec: object, **options: object) -> bytes:
        if not isinstance(spec, dict):
            raise ValueError("no chart")
        self.asked.append(options)
        return b64decode(PIXEL)

    vega_to_png = vegalite_to_png


def test_a_chart_of_altair_is_drawn_by_its_own_renderer_where_that_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind, renderer = "application/vnd.vegalite.v5+json", Renderer()
    told = notebook(displayed({kind: {"mark": "line"}, "text/plain": "<VegaLite 5 object>"}))
    monkeypatch.setattr(outputs, "RENDERER", "a_renderer_that_nobody_has")
    assert [kind in line for line in read_document(told, Path()).lost] == [True]
    monkeypatch.setattr(outputs, "RENDERER", "json")  # a module that is there
    real = importlib.import_module
    monkeypatch.setattr(
        importlib, "import_module", lambda name: renderer if name == "json" else real(name)
    )
    document = read_document(told, Path())
    assert (document.lost, shown(ReportHTMLExporter().convert(document))[1]) == ([], 1)
    assert renderer.asked == [{"scale": 2, "allowed_base_urls": [], "vl_version": "5.21"}]
    unread = notebook(displayed({kind: "no chart"}))
    assert [kind in line for line in read_document(unread, Path()).lost] == [True]


def test_a_letter_that_no_font_has_is_its_number() -> None:
    document = read_document(notebook("# T\n\nx\ue000y", printed("a\u0c80\ue001\x07b\n")), Path())
    pdf = TypstPDFExporter().convert(document)
    assert b"pdfuaid" in pdf
    assert document.lost == [
        "No font here has these letters, whose numbers stand for them: [U+E000] [U+E001]"
    ]
    assert "x[U+E000]y" in words_of(pdf)
    assert "\ue000" in ReportHTMLExporter().convert(document)  # a browser may have one


def test_latex_that_cannot_be_set_stands_as_it_was_written_and_is_named() -> None:
    for exporter in (TypstPDFExporter(), ReportHTMLExporter()):
        document = read_document(notebook("# T\n\n$\\nosuch{x}$"), Path())
        made = exporter.convert(document)
        said = words_of(made) if isinstance(made, bytes) else shown(made)[0]
        assert "\\nosuch{x}" in said
        line = "Cell 1: LaTeX that cannot be set stands as it was written: \\nosuch{x}"
        assert {*document.lost} == {line}


def test_what_a_formula_defines_or_numbers_holds_in_cells_after_it() -> None:
    told = notebook(
        r"# T",
        r"$\newcommand{\vect}[1]{\mathbf{#1}}\def\R{\mathbb{R}}$ $\DeclareMathOperator{\late}{late}$",
        r"$\vect{v}\in\R$, $\late_x x$ and $$\vect{a} = 0 \label{eq:dot}\tag{7}$$",
        r"See $\eqref{eq:dot}$, not $\eqref{no}$.",
    )
    document = read_document(told, Path(), name="file")
    said = squeezed(words_of(TypstPDFExporter().convert(document)))
    on_page = squeezed(shown(ReportHTMLExporter().convert(document))[0])
    assert document.lost == []
    for words in (said, on_page):
        assert "\U0001d42f∈ℝ" in words or "𝒗∈ℝ" in words
        assert "(7)" in words and "See(7),not(???)" in words and "\\" not in words


def test_pictures_beside_a_notebook_are_in_its_report(tmp_path: Path) -> None:
    (tmp_path / "my dot.svg").write_text(SVG)
    (tmp_path / "dot.gif").write_bytes(b64decode(GIF))
    told = notebook("# T\n\n![one](my%20dot.svg)", "<img src='dot.gif' alt='two'>")
    document = read_document(told, tmp_path)
    assert shown(ReportHTMLExporter().convert(document))[1] == 2
    (tmp_path / "set").mkdir()
    assert pictures_set(document, tmp_path / "set") == 2
    assert document.lost == []


def test_a_picture_of_another_host_is_not_read_from_this_one(tmp_path: Path) -> None:
    (tmp_path / "dot.gif").write_bytes(b64decode(GIF))
    document = read_document(notebook(f"# T\n\n![one](/{tmp_path}/dot.gif)"), tmp_path)
    (lost,) = document.lost
    assert lost.startswith(f"Cell 1: A picture is not here: /{tmp_path}"[:80])


def test_without_a_date_it_is_the_day_of_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    told = v4.new_notebook(cells=[v4.new_markdown_cell("no title")])
    document = read_document(told, Path(), name="my_file")
    assert (document.date, document.title) == ("2023-11-14", "my_file")
    assert TypstPDFExporter().convert(document) == TypstPDFExporter().convert(document)


@pytest.mark.parametrize("fmt", ["ipclabhtml", "typstpdf"])
def test_nbconvert_exports_what_was_downloaded(fmt: str, tmp_path: Path) -> None:
    told = notebook("no title", printed("median\n"))
    told["metadata"] = {}
    del told["cells"][1]["outputs"][0]["name"]  # as some programs write them
    (tmp_path / "mine.ipynb").write_text(v4.writes(told), "utf-8")
    made, _ = get_exporter(fmt)().from_filename(str(tmp_path / "mine.ipynb"))
    assert "<title>mine</title>" in made if isinstance(made, str) else b"mine" in made


def test_pandoc_that_does_not_end_is_an_error_of_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hangs = tmp_path / "pandoc"
    hangs.write_text("#!/bin/sh\nexec sleep 60\n")
    hangs.chmod(0o700)
    monkeypatch.setattr(pandoc, "_program", lambda: str(hangs))
    monkeypatch.setattr(pandoc, "TIMEOUT_S", 0.1)
    with pytest.raises(LabError, match=r"^pandoc did not end: it was given 0\.1 s; "):
        pandoc.read_trees(pandoc.HTML, ["<p>any</p>"])


def test_a_chinese_word_between_two_names_stands_apart_from_both() -> None:
    text = "经shm-ring对zmq-ipc传598,446条或posix-shm传1,000条。"
    about = {"lang": "zh", "date": "2026-11-21"}
    document = read_document(notebook(text, ipclab=about), Path(), name="file")
    pdf = TypstPDFExporter().convert(document)
    printed_text = PdfReader(io.BytesIO(pdf)).pages[0].extract_text()
    assert "经 shm-ring 对 zmq-ipc 传 598,446 条或 posix-shm 传 1,000 条。" in printed_text
