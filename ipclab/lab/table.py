"""A table: a frame with a caption, its cells as finished text, shown and exported in several forms."""

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
        if wrong := [row for row in self.rows if len(row) != len(self.columns)]:
            raise LabError(
                f"table {self.caption!r}", f"a row has {len(wrong[0])} cells for {len(self.columns)} columns"
            )

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Table":
        """Return the table that `to_json` described, without its frame."""
        columns = [Column(str(each["label"]), each["align"]) for each in data["columns"]]
        rows = [[str(cell) for cell in row] for row in data["rows"]]
        return cls(data["caption"], columns, rows, data.get("notes", []), data.get("name", ""), data.get("drawn", {}))

    def to_json(self) -> dict[str, Any]:
        """Return `{"caption", "columns": [{"label", "align"}], "rows": [[...]], "notes", "name", "drawn"}`."""
        told = {"caption": self.caption, "columns": [asdict(column) for column in self.columns]}
        named = {key: value for key, value in (("name", self.name), ("drawn", self.drawn)) if value}
        return {**told, "rows": [list(row) for row in self.rows], "notes": list(self.notes), **named}

    def to_frame(self) -> pd.DataFrame:
        """Return the finished text as a frame, one column for each of the table's."""
        return pd.DataFrame([list(row) for row in self.rows], columns=[column.label for column in self.columns])

    def to_csv(self) -> str:
        """Return the finished text as CSV."""
        return self.to_frame().to_csv(index=False, lineterminator="\n")

    def to_latex(self) -> str:
        """Return the table in LaTeX, for booktabs."""
        aligns = "".join(column.align[0] for column in self.columns)
        return self.to_frame().to_latex(index=False, escape=True, column_format=aligns)

    def to_markdown(self) -> str:
        """Return the table in Markdown."""
        rules = [{"left": ":---", "right": "---:", "center": ":---:"}[column.align] for column in self.columns]
        rows = ([cell.replace("|", "\\|") for cell in row] for row in self.rows)
        return "\n".join(f"| {' | '.join(row)} |" for row in ([c.label for c in self.columns], rules, *rows)) + "\n"

    def to_html(self, label: str = "") -> str:
        """Return an HTML figure that scrolls sideways by itself; `label` ("Table 1") leads the caption."""
        caption = escape(f"{label} {self.caption}" if label else self.caption)
        head = "".join(_cell("th", c.label, c.align, ' scope="col"') for c in self.columns)
        places = [("th", ' scope="row"'), *[("td", "")] * (len(self.columns) - 1)]
        rows = [
            [_cell(tag, t, c.align, s) for (tag, s), t, c in zip(places, row, self.columns, strict=True)]
            for row in self.rows
        ]
        body = "\n".join(f"<tr>{''.join(row)}</tr>" for row in rows)
        notes = "".join(f'<p class="note">{escape(note)}</p>' for note in self.notes)
        return (
            f'<div class="table"><div class="scroll" tabindex="0" role="region" aria-label="{caption}">'
            f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>\n"
            f"<tbody>{body}</tbody></table></div>{notes}</div>"
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {MIME: self.to_json(), "text/html": self.to_html(), "text/plain": self.caption}


def _cell(tag: str, text: str, align: str, scope: str = "") -> str:
    return f'<{tag}{scope} style="text-align:{align}">{escape(text)}</{tag}>'
