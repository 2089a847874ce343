"""Tables on pages: numbers for CSVs, forms without tools, rows on a phone."""

import json
from pathlib import Path

import msgspec
import pandas as pd
import pytest
import typst

from ipclab.lab.lab import Lab
from ipclab.paths import checkout
from ipclab.report.pages.document import read_document
from ipclab.report.pages.typeset import Sheet
from ipclab.stats.quantity import Quantity
from ipclab.tables.table import Column, Table
from tests.support.foreign import displayed, notebook
from tests.support.told import reference


def test_cells_carry_the_numbers_that_a_csv_holds() -> None:
    lab = Lab.of(reference(), checkout(), "ko")
    frame = pd.DataFrame(
        {"a": ["x", "y"], "b": [Quantity(1.5e6, "ns", 1.25e6, 2e6), Quantity(None, "ns")]}
    )
    table = lab.table(frame, "", name="t")
    assert table.values == [[[], [1.5e6, 1.25e6, 2e6, "ns"]], [[], []]]
    assert 'data-value="1500000.0 1250000.0 2000000.0 ns"' in table.to_html()
    assert msgspec.convert(table.to_json(), Table).to_html() == table.to_html()


def test_cells_of_several_columns_are_named_by_their_levels_alone() -> None:
    lab = Lab.of(reference(), checkout(), "en")
    rows = [("unix", placement, Quantity(1e3, "ns")) for placement in ("same", "cross")]
    frame = pd.DataFrame(rows, columns=["backend", "placement", "cell"])
    wide = frame.pivot(index="backend", columns="placement", values=["cell"])
    heads = [column.label for column in lab.table(wide, "", name="wide").columns]
    assert heads == ["Mechanism", "same CPU", "two CPUs"]
    (own,) = [column.label for column in lab.table(frame[["cell"]], "", name="own").columns]
    assert own == "cell"


def test_of_a_table_without_rows_only_the_reason_is_said() -> None:
    lab = Lab.of(reference(), checkout(), "en")
    frame = pd.DataFrame({"a": [], "b": []})
    table = lab.table(frame, "One write", notes=["A dash: no such phase."], empty="None here.")
    assert (list(table.columns), list(table.rows), table.notes) == ([], [], ["None here."])
    assert 'div class="table form"' in table.to_html()


@pytest.mark.parametrize(
    ("columns", "rows", "kind"), [(6, 12, "table few"), (7, 12, "table"), (6, 13, "table")]
)
def test_a_small_table_is_shown_row_by_row_on_a_narrow_screen(
    columns: int, rows: int, kind: str
) -> None:
    table = Table("Times", [Column("A")] * columns, [["b"] * columns] * rows)
    assert f'<div class="{kind}">' in table.to_html()


def test_tables_stand_where_they_are_told(tmp_path: Path) -> None:
    def cell(caption: str) -> object:
        table = Table(caption, [Column("A")], [["b"]] * 3, name="")
        return displayed(table._repr_mimebundle_())

    told = notebook("# T", "## One", cell("first"), "Prose.", "## Two", cell("second"))
    sheet = Sheet(read_document(told, Path()), tmp_path)
    inputs = {"document": json.dumps(sheet.data)}
    found = json.loads(
        typst.query(sheet.main.encode(), "selector(figure).or(heading)", sys_inputs=inputs)
    )
    assert [each["func"] for each in found] == ["heading", "figure", "heading", "figure"]
    assert [each.get("placement") for each in found if each["func"] == "figure"] == [None, None]
