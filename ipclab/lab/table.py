"""A table: a frame with a caption, its cells as finished text, shown and exported in several forms."""

import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any, Literal

import pandas as pd

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
    """Rows of finished text, translated and formatted, never markup; `frame` is what they were made from.

    `drawn` names the studies that it was made from, with the number of rows, where the frame tells.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = field(default_factory=tuple)
    name: str = ""
    drawn: dict[str, int] = field(default_factory=dict)
    frame: pd.DataFrame | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Raise LabError when a row has not as many cells as there are columns."""
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                why = f"row {number} has {len(row)} cells for {len(self.columns)} columns"
                raise LabError(f"table {self.caption!r}", why)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Table":
        """Return the table that `to_json` described, without its frame."""
        columns = [Column(str(each["label"]), each["align"]) for each in data["columns"]]
        rows = [[str(cell) for cell in row] for row in data["rows"]]
        return cls(data["caption"], columns, rows, data.get("notes", []), data.get("name", ""), data.get("drawn", {}))

    def to_json(self) -> dict[str, Any]:
        """Return `{"caption", "columns": [{"label", "align"}], "rows": [[...]], "notes", "name"}`."""
        columns, rows = [asdict(column) for column in self.columns], [list(row) for row in self.rows]
        named = {key: value for key, value in (("name", self.name), ("drawn", self.drawn)) if value}
        return {"caption": self.caption, "columns": columns, "rows": rows, "notes": list(self.notes), **named}

    def to_frame(self) -> pd.DataFrame:
        """Return the finished text as a frame, one column for each of the table's."""
        return pd.DataFrame([list(row) for row in self.rows], columns=[column.label for column in self.columns])

    def to_csv(self) -> str:
        """Return the finished text as CSV."""
        text = io.StringIO()
        self.to_frame().to_csv(text, index=False, lineterminator="\n")
        return text.getvalue()

    def to_latex(self) -> str:
        """Return the table in LaTeX, for booktabs."""
        aligns = "".join(column.align[0] for column in self.columns)
        lines = [f"\\begin{{tabular}}{{{aligns}}}", "\\toprule", _latex_row(column.label for column in self.columns)]
        return "\n".join([*lines, "\\midrule", *map(_latex_row, self.rows), "\\bottomrule", "\\end{tabular}", ""])

    def to_markdown(self) -> str:
        """Return the table in Markdown."""
        rule = {"left": ":---", "right": "---:", "center": ":---:"}
        head = [[column.label for column in self.columns], [rule[column.align] for column in self.columns]]
        rows = [*head, *([cell.replace("|", "\\|") for cell in row] for row in self.rows)]
        return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"

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

    def _row(self, row: Sequence[str]) -> str:
        first, *rest = zip(row, self.columns, strict=True)
        cells = [_cell("th", first[0], first[1].align, ' scope="row"')]
        return "".join(cells + [_cell("td", text, column.align) for text, column in rest])

    def __repr__(self) -> str:
        """Return the caption and the size."""
        return f"<Table {self.caption!r}: {len(self.rows)} x {len(self.columns)}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {MIME: self.to_json(), "text/html": self.to_html(), "text/plain": self.caption}


def _cell(tag: str, text: str, align: str, scope: str = "") -> str:
    return f'<{tag}{scope} style="text-align:{align}">{escape(text)}</{tag}>'


def _latex_row(cells: Any) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {letter: f"\\{letter}" for letter in "&%$#_{}"}
    return " & ".join("".join(special.get(letter, letter) for letter in cell) for cell in cells) + r" \\"
