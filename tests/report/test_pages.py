"""Tables on pages: numbers for CSVs, forms without tools, rows on a phone, and what print has of the
long ones.
"""

import json
from pathlib import Path
from typing import Literal

import msgspec
import pandas as pd
import pytest
import typst
from nbformat import v4

from ipclab.paths import Paths
from ipclab.report.lab import lab_of
from ipclab.report.pages import columns, shortened
from ipclab.report.pages.document import read_document
from ipclab.report.pages.exporters import ReportHTMLExporter, TypstPDFExporter
from ipclab.report.pages.typeset import Sheet
from ipclab.stats.quantity import Quantity
from ipclab.store.bundle import opened
from ipclab.tables.table import MIME, Column, Table
from tests.support.commands import ROOT
from tests.support.rendered import typeset


def long_page(rows: int, tags: list[str], text: str = "", name: str = "every") -> object:
    values = [[[], [number * 1e3, 0, 0, "ns"]] for number in range(rows)]
    cells = [[f"m{number}", f"{number}.5\u00a0µs [1–2]", "c"] for number in range(rows)]
    named = [Column(name) for name in "ABC"]
    table = Table("Every point", named, cells, name=name, values=values)
    output = v4.new_output("display_data", {MIME: table.to_json()})
    shown = [
        v4.new_markdown_cell(f"# T\n\n{text}"),
        v4.new_code_cell(outputs=[output], metadata={"tags": tags}),
    ]
    return v4.new_notebook(cells=shown, metadata={"ipclab": {"lang": "en", "date": "2026-11-21"}})


@pytest.mark.parametrize(
    ("rows", "tags", "printed"),
    [(12, ["long"], 12), (20, ["long"], 20), (400, ["long"], 10), (400, [], 400)],
)
def test_a_long_table_has_its_rows_that_matter_in_print_and_all_beside_it(
    rows: int, tags: list[str], printed: int
) -> None:
    document = read_document(
        long_page(rows, tags, "From 42.5\u00a0µs to 399.5 µs; [](#every)."), Path()
    )
    data = typeset(document)
    (sheet,) = (block for block in data["blocks"] if block["type"] == "sheet")
    assert len(sheet["rows"]) == printed and sheet["caption"] == "Table 1. Every point"
    html = ReportHTMLExporter().convert(document)
    assert html.count("<tr>") == 1 + rows
    if printed == rows:
        assert data["attached"] == {} and not sheet["notes"]
        return
    assert [row[0] for row in sheet["rows"]] == [f"m{n}" for n in (*range(8), 42, 399)]
    assert sheet["notes"][0].startswith("10 of 400 rows, ")
    assert "table-every.csv, attached" in sheet["notes"][0]
    lines = data["attached"]["table-every.csv"].splitlines()
    assert len(lines) == 401 and lines[400] == "m399,399.5\u00a0µs [1–2],c"


def test_of_what_is_shortened_every_row_is_attached_to_the_file() -> None:
    document = read_document(long_page(400, ["long"], name=""), Path())
    assert b"table-1.csv" in TypstPDFExporter().convert(document)


@pytest.mark.parametrize(("text", "printed"), [("", ["m0", "m1"]), ("42.5\u00a0µs", ["m0", "m42"])])
def test_of_a_long_table_that_nothing_refers_to_print_has_what_the_text_gives_and_few_more(
    text: str, printed: list[str]
) -> None:
    document = read_document(long_page(400, ["long"], text), Path())
    (sheet,) = (block for block in typeset(document)["blocks"] if block["type"] == "sheet")
    assert [row[0] for row in sheet["rows"]] == printed
    assert len(sheet["notes"]) == 1 and sheet["notes"][0].startswith("2 of 400 rows, ")


def test_a_long_table_of_two_columns_stands_in_two_halves_in_print() -> None:
    def halves(count: int, cell: str = "b") -> list[list[str]]:
        rows = [[str(number), cell] for number in range(count)]
        return shortened.halves(Table("", [Column("A"), Column("B")], rows))

    assert [halves(15)[place] for place in (0, 6, 7)] == [
        ["0", "b", "8", "b"],
        ["6", "b", "14", "b"],
        ["7", "b", "", ""],
    ]
    assert (len(halves(14)), halves(13), halves(14, "b" * 73)) == (7, [], [])


def test_sentences_have_the_columns_with_which_rows_are_lowest() -> None:
    def shares(*row: str, align: Literal["left", "right"] = "left") -> list[float]:
        return columns.column_shares(Table("", [Column("A", align) for _ in row], [[*row]] * 3))

    short, long = "a b", "Messages are numbered. " * 8
    assert shares(short, short) == shares(*["1.5 [1.25–10.75]"] * 7, align="right") == []
    given = shares("x", long, long * 2, "[1.25–10.75]")
    assert given[0] == 2 + columns.BETWEEN and given[3] == 12 + columns.BETWEEN
    assert abs(given[2] - 2 * given[1]) < 5 and sum(given) == columns.LINE
    words = shares(long, "[no interval: too few or too scattered]", "holds: 3.08")
    assert words[1] < 20 and words[2] == 11 + columns.BETWEEN
    of_han = shares("可以断行的很长的句子" * 20, "word" * 9)
    assert of_han[1] == 36 + columns.BETWEEN  # a word stays whole, Chinese breaks anywhere


def test_cells_carry_the_numbers_that_a_csv_holds() -> None:
    paths = Paths(ROOT)
    lab = lab_of(opened(paths, paths.reference), paths, "ko")
    frame = pd.DataFrame(
        {"a": ["x", "y"], "b": [Quantity(1.5e6, "ns", 1.25e6, 2e6), Quantity(None, "ns")]}
    )
    table = lab.table(frame, "", name="t")
    assert table.values == [[[], [1.5e6, 1.25e6, 2e6, "ns"]], [[], []]]
    assert 'data-value="1500000.0 1250000.0 2000000.0 ns"' in table.to_html()
    assert msgspec.convert(table.to_json(), Table).to_html() == table.to_html()


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
    script = (ROOT / "ipclab/report/pages/templates/report.js").read_text("utf-8")
    assert "div.table[id]:not(.form)" in script
    assert 'class="table few"' in Table("", [Column("a")], [["b"]], name="t").to_html()


def test_tables_stand_where_they_are_told(tmp_path: Path) -> None:
    def cell(caption: str) -> object:
        table = Table(caption, [Column("A")], [["b"]] * 3, name="")
        return v4.new_code_cell(outputs=[v4.new_output("display_data", {MIME: table.to_json()})])

    prose = [v4.new_markdown_cell(text) for text in ("# T", "## One", "Prose.", "## Two")]
    cells = [prose[0], prose[1], cell("first"), prose[2], prose[3], cell("second")]
    about = {"ipclab": {"lang": "en", "date": "2026-11-21"}}
    sheet = Sheet(read_document(v4.new_notebook(cells=cells, metadata=about), Path()), tmp_path)
    inputs = {"document": json.dumps(sheet.data)}
    found = json.loads(
        typst.query(sheet.main.encode(), "selector(figure).or(heading)", sys_inputs=inputs)
    )
    assert [each["func"] for each in found] == ["heading", "figure", "heading", "figure"]
    assert [each.get("placement") for each in found if each["func"] == "figure"] == [None, None]
