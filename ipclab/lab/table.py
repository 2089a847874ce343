"""A table as data, and its HTML; the exporters render both formats from the data."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any, Literal

from ipclab.errors import LabError

MIME = "application/vnd.ipclab.table+json"
Align = Literal["left", "right", "center"]


@dataclass(frozen=True)
class Column:
    """The head of one column and how its cells are aligned."""

    label: str
    align: Align = "left"


@dataclass(frozen=True)
class Table:
    """Rows of finished text: every cell is translated and formatted, and is never markup."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        """Raise LabError when a row has not as many cells as there are columns."""
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise LabError(
                    f"table {self.caption!r}",
                    f"row {number} has {len(row)} cells for {len(self.columns)} columns",
                )

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Table":
        """Return the table that `to_json` described."""
        columns = [
            Column(str(c["label"]), c["align"] if c["align"] in ("right", "center") else "left")
            for c in data["columns"]
        ]
        rows = [[str(cell) for cell in row] for row in data["rows"]]
        return cls(str(data["caption"]), columns, rows, [str(note) for note in data.get("notes", [])])

    def to_json(self) -> dict[str, Any]:
        """Return `{"caption", "columns": [{"label", "align"}], "rows": [[...]], "notes"}`."""
        return {
            "caption": self.caption,
            "columns": [asdict(column) for column in self.columns],
            "rows": [list(row) for row in self.rows],
            "notes": list(self.notes),
        }

    def to_html(self, label: str = "") -> str:
        """Return an HTML figure that scrolls sideways by itself; `label` ("Table 1") leads the caption."""
        caption = escape(f"{label} {self.caption}" if label else self.caption)
        head = "".join(_cell("th", c.label, c.align, ' scope="col"') for c in self.columns)
        body = "\n".join(f"<tr>{self._row(row)}</tr>" for row in self.rows)
        notes = "".join(f'<p class="note">{escape(note)}</p>' for note in self.notes)
        return (
            f'<div class="table"><div class="scroll" tabindex="0" role="region" aria-label="{caption}">'
            f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>\n"
            f"<tbody>{body}</tbody></table></div>{notes}</div>"
        )

    def to_typst(self, label: str = "") -> str:
        """Return a Typst figure whose head repeats on each page."""
        from ipclab.render.typst import table

        return table(self, label)

    def _row(self, row: Sequence[str]) -> str:
        first, *rest = zip(row, self.columns, strict=True)
        cells = [_cell("th", first[0], first[1].align, ' scope="row"')]
        return "".join(cells + [_cell("td", text, column.align) for text, column in rest])

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {MIME: self.to_json(), "text/html": self.to_html(), "text/plain": self.caption}


def _cell(tag: str, text: str, align: str, scope: str = "") -> str:
    return f'<{tag}{scope} style="text-align:{align}">{escape(text)}</{tag}>'
