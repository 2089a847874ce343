"""Tables on pages: numbers for CSVs, forms without tools, rows on a phone; the long ones are only
named in print.
"""

import json
from pathlib import Path

import pandas as pd
import typst
from nbformat import v4

from ipclab.paths import Paths
from ipclab.stats.quantity import Quantity
from ipclab.store.bundle import opened
from ipclab.tables.table import MIME, Column, Table
from ipclab_report.lab import lab_of
from ipclab_report.pages.document import read
from ipclab_report.pages.exporters import ReportHTMLExporter
from ipclab_report.pages.typeset import Sheet, compiled
from tests.support.commands import ROOT
from tests.support.rendered import typeset


def long_page(rows: int, tags: list[str]) -> object:
    table = Table("Every point", [Column("A")], [["b"]] * rows, name="every")
    output = v4.new_output("display_data", {MIME: table.to_json()})
    cells = [
        v4.new_markdown_cell("# T\n\n[](#every)"),
        v4.new_code_cell(outputs=[output], metadata={"tags": tags}),
    ]
    return v4.new_notebook(cells=cells, metadata={"ipclab": {"lang": "en", "date": "2026-11-21"}})


def test_a_long_table_stands_on_the_page_and_is_named_in_print() -> None:
    for rows, tags, printed in (
        (12, ["long"], 12),
        (400, ["long"], 0),
        (400, [], 400),
        (3, ["html"], 0),
    ):
        document = read(long_page(rows, tags), Path())
        (sheet,) = (block for block in typeset(document)["blocks"] if block["type"] == "sheet")
        assert len(sheet["rows"]) == printed and sheet["caption"] == "Table 1. Every point"
        assert bool(printed) or sheet["notes"] == [
            f"{rows} rows: in the HTML report, and from there as CSV."
        ]
        html = ReportHTMLExporter().convert(document)
        assert html.count("<tr>") == 1 + rows
    assert len(compiled(read(long_page(400, ["long"]), Path()), format="png", ppi=20)) > 1


def test_cells_carry_the_numbers_that_a_csv_holds() -> None:
    paths = Paths(ROOT)
    lab = lab_of(opened(paths, paths.reference), paths, "ko")
    frame = pd.DataFrame(
        {"a": ["x", "y"], "b": [Quantity(1.5e6, "ns", 1.25e6, 2e6), Quantity(None, "ns")]}
    )
    table = lab.table(frame, "", name="t")
    assert table.values == [[[], [1.5e6, 1.25e6, 2e6, "ns"]], [[], []]]
    assert 'data-value="1500000.0 1250000.0 2000000.0 ns"' in table.to_html()
    assert Table.from_json(table.to_json()).to_html() == table.to_html()


def test_of_a_table_without_rows_only_the_reason_is_said() -> None:
    paths = Paths(ROOT)
    lab = lab_of(opened(paths, paths.reference), paths, "en")
    frame = pd.DataFrame({"a": [], "b": []})
    table = lab.table(frame, "One write", notes=["A dash: no such phase."], empty="None here.")
    assert (list(table.columns), list(table.rows), table.notes) == ([], [], ["None here."])
    assert 'div class="table form"' in table.to_html()


def test_a_form_is_no_table_of_data() -> None:
    form = Table("", [Column(""), Column("")], [["Number", ""]], name="control").to_html()
    assert '<div class="table form" id="control">' in form
    script = (ROOT / "packages/report/ipclab_report/pages/templates/report.js").read_text("utf-8")
    assert "div.table[id]:not(.form)" in script
    assert 'class="table few"' in Table("", [Column("a")], [["b"]], name="t").to_html()


def test_a_section_without_prose_holds_its_table_and_what_is_not_printed_stands_in_place(
    tmp_path: Path,
) -> None:
    def cell(caption: str, rows: int, tags: list[str]) -> object:
        table = Table(caption, [Column("A")], [["b"]] * rows, name="")
        output = v4.new_output("display_data", {MIME: table.to_json()})
        return v4.new_code_cell(outputs=[output], metadata={"tags": tags})

    cells = [
        v4.new_markdown_cell("# T"),
        cell("in the front", 3, ["front"]),
        v4.new_markdown_cell("## Alone"),
        cell("alone", 3, []),
        v4.new_markdown_cell("## With prose"),
        cell("before one that is not printed", 3, []),
        v4.new_markdown_cell("Prose."),
        cell("unprinted", 3, ["html"]),
        v4.new_markdown_cell("## With prose, too"),
        cell("before prose", 3, []),
        v4.new_markdown_cell("Prose."),
    ]
    about = {"ipclab": {"lang": "en", "date": "2026-11-21"}}
    document = read(v4.new_notebook(cells=cells, metadata=about), Path())
    sheet = Sheet(document, tmp_path)
    inputs = {"document": json.dumps(sheet.data)}
    figures = json.loads(typst.query(sheet.main.encode(), "figure", sys_inputs=inputs))
    floating = []
    for figure in figures:
        if figure["placement"] == "bottom":
            floating.append(figure["caption"]["body"]["text"])
    assert len(figures) == 5 and floating == ["Table 5. before prose"]
