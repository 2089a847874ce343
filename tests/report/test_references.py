"""References by name in reports, the front page, and that the appendix refers to all figures and
tables it shows.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from nbconvert.exporters import HTMLExporter
from nbformat import v4

from ipclab.claims.file import Control
from ipclab.claims.lines import Lines
from ipclab.errors import UsageError
from ipclab.lab.figure import Figure
from ipclab.lab.finding import Finding, bundle
from ipclab.lab.shell import Multilingual
from ipclab.report.pages import document
from ipclab.report.pages.exporters import ReportHTMLExporter, TypstPDFExporter
from ipclab.report.pages.pandoc import text_of, tree_nodes
from ipclab.tables.table import Column, Table
from tests.support.foreign import displayed, notebook
from tests.support.rendered import typeset


def shown(*parts: Any) -> Any:
    """Return an executed notebook of tables and Markdown; what comes in a tuple stands in front."""
    cells = []
    for part in parts:
        inner = part[0] if isinstance(part, tuple) else part
        data = inner._repr_mimebundle_() if isinstance(inner, Table) else {"text/markdown": inner}
        cells.append(displayed(data))
        cells[-1].metadata["tags"] = ["front"] if isinstance(part, tuple) else []
    return notebook(*cells)


def found(text: str, lead: bool = False) -> Any:
    """Return what a finding shows that says a text."""
    told = Finding("text", "told", values={"text": text, "values": {}})
    data = {"findings": [asdict(told)], "lead": lead, "see": ""}
    return v4.new_output("display_data", bundle("finding", data, "en"))


def table(name: str, *cells: str, caption: str = "What it is") -> Table:
    return Table(caption, [Column("a")], [[cell] for cell in cells], name=name)


def test_references_get_the_number_of_what_they_name() -> None:
    told = shown("# T\n\nSee [](#second).", table("first", "#second"), table("second", "1"))
    read = document.read_document(told, Path())
    assert read.labels == {"first": "Table 1", "second": "Table 2"}
    html = ReportHTMLExporter().convert(read)
    assert '<a href="#second">Table\u00a02</a>' in html
    assert '<th scope="row" style="text-align:left">Table 2</th>' in html
    assert TypstPDFExporter().convert(read).startswith(b"%PDF")


def test_a_reference_that_leads_nowhere_is_named() -> None:
    told = shown("# T\n\nSee [](#second-x).", table("second", "1"))
    read = document.read_document(told, Path())
    assert read.lost == ["Cell 1: A reference leads nowhere: #second-x"]
    assert TypstPDFExporter().convert(read).startswith(b"%PDF")


PROSE = "See [](#made).\n\n| a |\n|---|\n| 1 |\n\n: What it is {#made}"


def test_a_reference_in_prose_has_a_text_and_a_target_in_any_jupyter() -> None:
    told = shown("# T\n\nIn [made](#made), [made](https://example.org).")
    told.cells.append(displayed(Multilingual({"en": PROSE})._repr_mimebundle_()))
    html, _ = HTMLExporter().from_notebook_node(told)
    assert '<a href="#made">→ made</a>' in html
    assert '<strong id="made">What it is</strong>' in html
    read = document.read_document(told, Path())
    assert (read.lost, read.labels) == ([], {"made": "Table 1"})
    page = ReportHTMLExporter().convert(read)
    assert page.count('<a href="#made">Table\u00a01</a>') == 2
    assert '<a href="https://example.org">made</a>' in page


def test_what_is_tagged_front_stands_before_the_contents() -> None:
    told = shown(("# T",), (table("form", "a", caption=""),), "## One\n\nText.", table("t", "1"))
    read = document.read_document(told, Path())
    assert (read.front, read.labels) == (2, {"t": "Table 1"})
    assert typeset(read)["about"]["fronted"] is True


def test_findings_are_one_list_on_the_first_page() -> None:
    told = shown("**Not measured here.**", "## One", ("in front",))
    for text in ("first", "second", "third"):
        told.cells.append(v4.new_code_cell(outputs=[found(text, lead=True)]))
    guide = v4.new_markdown_cell("# Its title\n\nHow to use it", metadata={"tags": ["lab"]})
    told.cells.insert(0, guide)
    read = document.read_document(told, Path())
    assert read.title == "Its title"
    assert [text_of(tree) for tree in read.prose] == [
        *("Not measured here.", "firstsecondthird", "in front", "One")
    ]
    assert read.front == 3
    (listed,) = (node for node in tree_nodes(read.prose) if node["t"] == "OrderedList")
    assert len(listed["c"][1]) == 3


def test_a_caption_begins_with_what_was_found_unless_that_stands_beside_it() -> None:
    told = shown("# T")
    below = {"told": "It is v1.0: `slow`.", "last": "가장 빠르다. 더 있다."}
    for name in ("cited", "told", "plain", "last", "beside"):
        drawn = Figure("<svg/>", "a", "What is shown", name)
        outputs = [v4.new_output("display_data", data) for data, _ in drawn.shown()]
        outputs += [found(below[name])] if name in below else []
        tags = {"tags": ["front"]} if name == "beside" else {}
        told.cells.append(v4.new_code_cell(outputs=outputs, metadata=tags))
    leads = ["It is 2.5 as fast. More. [](#cited)", "Another. [](#cited), [](#told), [](#beside)"]
    told.cells.append(v4.new_code_cell(outputs=[found(each, lead=True) for each in leads]))
    read = document.read_document(told, Path())
    captions = [block.caption for block in read.blocks if isinstance(block, Figure)]
    assert captions == [
        "Figure 1. What is shown",
        "Figure 2. It is 2.5 as fast. What is shown",
        "Figure 3. It is v1.0: slow. What is shown",
        "Figure 4. What is shown",
        "Figure 5. 가장 빠르다. 더 있다. What is shown",
    ]
    assert [text_of(tree) for tree in read.prose] == [
        "It is 2.5 as fast. More. Figure\u00a02Another. Figure\u00a02, Figure\u00a03, Figure\u00a01",
        "",
    ]


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
