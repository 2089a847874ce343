import re
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter, get_exporter
from nbformat import v4

from ipclab.lab.figure import Figure
from ipclab.report.pages import document
from ipclab.report.pages.exporters import ReportHTMLExporter, TypstPDFExporter
from ipclab.report.pages.widths import fitted
from ipclab.report.pages.words import Sources
from ipclab.tables.table import Column, Table
from ipclab.words import catalogue
from tests.report.conftest import LANGUAGES
from tests.support.foreign import displayed, notebook

TITLES = {"ko": "쓰기 한 번의 비용", "en": "What a write costs"}


def exported(executed: Path, fmt: str, sources: Sources) -> bytes:
    about = {"ipclab": True, "metadata": {"path": str(executed.parent)}}
    exporter = get_exporter({"html": "ipclabhtml", "pdf": "typstpdf"}[fmt])()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalogue, "LOCALE", sources.locale)
        content, _ = exporter.from_filename(str(executed), resources=about)
    return content.encode() if isinstance(content, str) else bytes(content)


def read(text: str) -> document.Document:
    return document.read_document(notebook(text), Path())


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_page_is_whole_and_loads_nothing(
    lang: str, executed: dict[str, Path], sources: Sources
) -> None:
    html = exported(executed[lang], "html", sources).decode()
    page: Any = BeautifulSoup(html, "html.parser")
    assert page.html["lang"] == lang
    assert f"<title>{TITLES[lang]}</title>" in html
    assert page(["link", "img", "iframe", "object"]) == []
    assert [script.attrs for script in page("script")] == [{}]
    assert re.findall(r"@import|url\((?!#|data:)|\bon\w+=", html) == []
    ids = [tag["id"] for tag in page(id=True)]
    assert len(ids) == len(set(ids))
    assert {link["href"][1:] for link in page("a", href=re.compile("^#"))} <= set(ids)
    (drawing,) = page("svg")
    assert (drawing["role"], drawing["aria-labelledby"] in ids) == ("img", True)
    assert "&lt;b&gt;&amp;0&lt;/b&gt; #x" in html
    assert not any(word in html for word in ("<b>", "alert(", "How to use"))
    assert "printed, and so shown" in html
    assert len(page("tr")) == 2 + 61


def test_a_pdf_is_accessible_archivable_and_carries_its_data(
    executed: dict[str, Path], sources: Sources
) -> None:
    content = exported(executed["ko"], "pdf", sources)
    assert content.startswith(b"%PDF-1.7")
    assert re.search(
        rb"<pdfuaid:part>1<.*<pdfaid:part>3<|<pdfaid:part>3<.*<pdfuaid:part>1<", content, re.DOTALL
    )
    assert f'<rdf:li xml:lang="x-default">{TITLES["ko"]}</rdf:li>'.encode() in content
    assert b"(facts.csv)" in content


def test_headings_skip_no_level_and_have_ids_of_their_own() -> None:
    found = read("# T\n\n### a\n\n### a\n\n##### b\n\n## c")
    assert found.headings == [(1, "s-a", "a"), (2, "s-a-1", "a"), (3, "s-b", "b"), (1, "s-c", "c")]


def test_tables_of_one_cell_are_numbered_one_by_one() -> None:
    cell = displayed(Table("t", [Column("a")], [["1"]])._repr_mimebundle_())
    cell.outputs *= 2
    blocks = document.read_document(notebook("# T", cell), Path()).blocks
    captions = [block.caption for block in blocks if isinstance(block, Table)]
    assert captions == ["Table 1. t", "Table 2. t"]


def test_a_table_without_columns_is_printed_as_its_notes() -> None:
    told = displayed(Table("t", [], [], ["Not measured in this run."])._repr_mimebundle_())
    read_table = document.read_document(notebook("# T", told), Path())
    assert TypstPDFExporter().convert(read_table).startswith(b"%PDF")


def test_prose_cannot_become_typst_markup() -> None:
    # as markup it would read a file that is not there
    hostile = '# T\n\n#read("x") @b <c> ~ // \\\\ "q" `#x` *[#y](z"q)* ]#panic()['
    found = read(hostile)
    assert TypstPDFExporter().convert(found).startswith(b"%PDF")


def test_what_papermill_executed_alone_is_exported_too() -> None:
    given = {"parameters": {"lang": "ko", "run": "a/r-1"}, "start_time": "2026-11-21T01:02"}
    told = notebook("# T")
    told.metadata = {"papermill": given}
    found = document.read_document(told, Path())
    assert (found.lang, found.run, found.date) == ("ko", "r-1", "2026-11-21")


def test_a_figure_leads_to_the_cell_that_made_it_and_to_its_data() -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'
    title, drawing = (data for data, _ in Figure(svg, "a", "c", "bar", {"payload": 3}).shown())
    output = v4.new_output("display_data", drawing)
    outputs = [v4.new_output("display_data", title), output]
    cell = v4.new_code_cell("draw(1 < 2)", id="made-here", outputs=outputs)
    told = notebook("# T", cell)
    told.metadata["ipclab"] |= {
        "notebook": "../notebooks/n.ipynb",
        "attachments": {"payload.csv": "../data/payload.csv"},
    }
    html = ReportHTMLExporter().convert(document.read_document(told, Path()))
    assert '<a href="../notebooks/n.ipynb#cell-id=made-here">n.ipynb [2]</a>' in html
    assert '<a href="../data/payload.csv">payload.csv</a>' in html
    assert "draw(1 &lt; 2)</pre></details>" in html
    told.metadata["ipclab"].pop("notebook")
    assert "draw(" not in ReportHTMLExporter().convert(document.read_document(told, Path()))


def test_plain_nbconvert_shows_all_that_papermill_executed(executed: dict[str, Path]) -> None:
    html, _ = HTMLExporter().from_filename(str(executed["ko"]))
    assert html.count("<img alt=") == 1
    for shown in (
        "printed, and so shown",
        "과거에는",
        "쓰기 시간",
        '<strong id="bar">쓰기 한 번</strong>',
    ):
        assert shown in html
    assert html.count("<tr>") + html.count("<tr ") == 2 + 61


def test_each_part_of_a_broad_table_has_what_its_rows_are_of() -> None:
    row = ["unix", "1 kB", *["123.45 us [100.12–150.34]"] * 12]
    parts = [part.columns for part in fitted([row] * 3, 2).parts]
    assert len(parts) > 1
    assert all(places[:2] == [0, 1] for places in parts)
    assert sorted({*range(2, 14)}) == [place for places in parts for place in places[2:]]
    # of words alone that leave no room the first one does
    assert all(part.columns[0] == 0 for part in fitted([["x" * 30] * 30] * 3, 30).parts)
