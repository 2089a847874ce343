"""References by name in reports, the front page, and that the appendix refers to all figures and
tables it shows.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import typst
from nbconvert.exporters import HTMLExporter
from nbformat import v4

from ipclab.claims.file import Control
from ipclab.claims.lines import Lines
from ipclab.errors import UsageError
from ipclab.lab.figure import Figure
from ipclab.prose import magic
from ipclab.report.pages import document
from ipclab.report.pages.exporters import ReportHTMLExporter, TypstPDFExporter
from ipclab.report.pages.pandoc import text_of, tree_nodes
from ipclab.tables.table import Column, Table
from tests.support.commands import ROOT
from tests.support.rendered import typeset

OPTIONAL = {"failures", "requirements"}  # shown only where there are any


def notebook(*shown: Any) -> Any:
    """Return an executed notebook that shows tables and Markdown; what comes in a tuple stands in
    front.
    """
    cells = []
    for each in shown:
        inner = each[0] if isinstance(each, tuple) else each
        data = inner._repr_mimebundle_() if isinstance(inner, Table) else {"text/markdown": inner}
        cell = v4.new_code_cell(outputs=[v4.new_output("display_data", data)])
        cell.metadata["tags"] = ["front"] if isinstance(each, tuple) else []
        cells.append(cell)
    return v4.new_notebook(cells=cells, metadata={"ipclab": {"lang": "en", "date": "2026-11-21"}})


def prose_cell(text: str, tag: str, undecided: bool = False) -> Any:
    data, about = magic.mime_bundle(text, undecided)
    shown = v4.new_output("display_data", data, metadata=about)
    return v4.new_code_cell(outputs=[shown], metadata={"tags": [tag]})


def table(name: str, *cells: str, caption: str = "What it is") -> Table:
    return Table(caption, [Column("a")], [[cell] for cell in cells], name=name)


def test_references_get_the_number_of_what_they_name() -> None:
    told = notebook("# T\n\nSee [](#second).", table("first", "#second"), table("second", "1"))
    read = document.read_document(told, Path())
    assert read.labels == {"first": "Table 1", "second": "Table 2"}
    html = ReportHTMLExporter().convert(read)
    assert '<a href="#second">Table\u00a02</a>' in html
    assert '<th scope="row" style="text-align:left">Table 2</th>' in html
    assert TypstPDFExporter().convert(read).startswith(b"%PDF")


def test_a_reference_that_leads_nowhere_is_named() -> None:
    told = notebook("# T\n\nSee [](#second-x).", table("second", "1"))
    read = document.read_document(told, Path())
    assert read.lost == ["Cell 1: A reference leads nowhere: #second-x"]
    assert TypstPDFExporter().convert(read).startswith(b"%PDF")


PROSE = "See [](#made).\n\n| a |\n|---|\n| 1 |\n\n: What it is {#made}"


def test_a_reference_in_prose_has_a_text_and_a_target_in_any_jupyter() -> None:
    data, about = magic.mime_bundle(PROSE)
    cell = v4.new_code_cell(outputs=[v4.new_output("display_data", data, metadata=about)])
    told = notebook("# T\n\nIn [made](#made), [made](https://example.org).")
    told.cells.append(cell)
    html, _ = HTMLExporter().from_notebook_node(told)
    assert '<a href="#made">→ made</a>' in html
    assert '<strong id="made">What it is</strong>' in html
    read = document.read_document(told, Path())
    assert (read.lost, read.labels) == ([], {"made": "Table 1"})
    page = ReportHTMLExporter().convert(read)
    assert page.count('<a href="#made">Table\u00a01</a>') == 2
    assert '<a href="https://example.org">made</a>' in page
    assert magic.mime_bundle("# T") == ({magic.MARKDOWN: "# T"}, {})


def test_what_is_tagged_front_stands_before_the_contents() -> None:
    told = notebook(("# T",), (table("form", "a", caption=""),), "## One\n\nText.", table("t", "1"))
    read = document.read_document(told, Path())
    assert (read.front, read.labels) == (2, {"t": "Table 1"})
    assert typeset(read)["about"]["fronted"] is True


def test_what_found_the_places_of_a_document_writes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    read = document.read_document(notebook("# T", ("front",), "## One\n\nText."), Path())
    alone = TypstPDFExporter().convert(read)
    made = list[Any]()
    compiler = typst.Compiler

    def noted(*given: Any, **named: Any) -> Any:
        made.append(compiler(*given, **named))
        return made[-1]

    monkeypatch.setattr(typst, "Compiler", noted)
    assert TypstPDFExporter().convert(read) == alone
    assert len(made) == 1


def test_findings_are_one_list_on_the_first_page_those_decided_first() -> None:
    told = notebook("**Not measured here.**", "## One", ("in front",))
    for text, undecided in (("1. open\n2. open, too", True), ("1. decided", False)):
        told.cells.append(prose_cell(text, "finding", undecided))
    guide = v4.new_markdown_cell("# Its title\n\nHow to use it", metadata={"tags": ["lab"]})
    told.cells.insert(0, guide)
    read = document.read_document(told, Path())
    assert read.title == "Its title"
    assert [text_of(tree) for tree in read.prose] == [
        *("Not measured here.", "decidedopenopen, too", "in front", "One")
    ]
    assert read.front == 3
    (found,) = (node for node in tree_nodes(read.prose) if node["t"] == "OrderedList")
    assert len(found["c"][1]) == 3


def test_a_preliminary_report_counts_what_it_did_not_decide_and_advises_nothing() -> None:
    few = "decidedNot decided in this preliminary run: 2 of 4 findings."
    most = (
        "Most findings are not decided in this preliminary run (3 of 4), so that none is told: the"
        " profile standard decides more."
    )
    kept, both = ["Table 1. Kept"], ["Table 1. What to do", "Table 2. Kept"]
    for profile, opened, said, tables in (
        ("quick", 1, few.replace("decided", "decidedopen", 1), kept),
        ("quick", 2, most, kept),
        ("standard", 2, "decidedopentooopen", both),
    ):
        told = notebook()
        told.metadata["ipclab"]["profile"] = profile
        advice = "\n\n| a |\n|---|\n| b |\n\n: What to do {#t-advice}\n"
        data, about = magic.mime_bundle("1. decided\n2. open\n3. too", open_items=opened)
        output = v4.new_output("display_data", data, metadata=about)
        told.cells.append(v4.new_code_cell(outputs=[output], metadata={"tags": ["finding"]}))
        data, about = magic.mime_bundle("1. open", True, 1)
        output = v4.new_output("display_data", data, metadata=about)
        told.cells.append(v4.new_code_cell(outputs=[output], metadata={"tags": ["finding"]}))
        told.cells.append(prose_cell(advice, "front"))
        told.cells += notebook(table("kept", "1", caption="Kept")).cells
        read = document.read_document(told, Path())
        assert "".join(text_of(tree) for tree in read.prose) == said
        assert [block.caption for block in read.blocks if isinstance(block, Table)] == tables


def test_a_caption_begins_with_what_was_found() -> None:
    told = notebook("# T")
    for name in ("cited", "told", "plain", "last"):
        shown = Figure("<svg/>", "a", "What is shown", name)
        data, about = shown._repr_mimebundle_()
        output = v4.new_output("display_data", data, metadata=about)
        told.cells.append(v4.new_code_cell(outputs=[output]))
    told.cells.insert(3, prose_cell("It is v1.0: `slow`.", "caption"))
    told.cells.append(prose_cell("가장 빠르다. 더 있다.", "caption"))
    found = "1. It is 2.5 as fast. More. [](#cited)\n2. Another. [](#cited), [](#told)"
    told.cells.append(prose_cell(found, "finding"))
    read = document.read_document(told, Path())
    captions = [block.caption for block in read.blocks if isinstance(block, Figure)]
    assert captions == [
        "Figure 1. It is 2.5 as fast. What is shown",
        "Figure 2. It is v1.0: slow. What is shown",
        "Figure 3. What is shown",
        "Figure 4. 가장 빠르다. 더 있다. What is shown",
    ]
    assert [text_of(tree) for tree in read.prose] == [
        "It is 2.5 as fast. More. Figure\u00a01Another. Figure\u00a01, Figure\u00a02",
        "",
    ]


def test_the_appendix_refers_to_all_that_it_shows() -> None:
    cells = json.loads((ROOT / "notebooks/00_appendix.ipynb").read_text("utf-8"))["cells"]
    source = "\n".join("".join(cell["source"]) for cell in cells)
    shown = set(re.findall(r'payload\.(?:figure|table)\(\s*"([\w-]+)"', source))
    captioned = [
        each
        for each in re.findall(r"lab\.table\(.*?\)\n", source + "\n", re.DOTALL)
        if ', "", ' not in each
    ]
    shown |= {name for each in captioned for name in re.findall(r'name="([\w-]+)"', each)} | {
        "payload-claims"
    }
    referred = set(re.findall(r"\[[\w-]*\]\(#([\w-]+)\)", source)) | {"traceability"}
    assert len(shown) >= 12
    assert shown - OPTIONAL <= referred, shown - referred


def test_a_signed_document_names_who_and_its_requirements(tmp_path: Path) -> None:
    file = tmp_path / "report.toml"
    file.write_text('[document]\nnumber = "D-7"\nauthor = "Kim"\n')
    read = Lines.read(file).parsed()
    assert (read.document, read.claims) == (Control(number="D-7", author="Kim"), [])
    file.write_text('[document]\nauthors = "Kim"\n')
    with pytest.raises(
        UsageError,
        match=r"report\.toml, line 2: a document has no 'authors'; did you mean 'author'",
    ):
        Lines.read(file).parsed()
