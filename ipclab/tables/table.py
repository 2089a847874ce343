"""A table: a frame with a caption, its cells as finished text, in several forms."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self

import msgspec
from markupsafe import Markup, escape

from ipclab.errors import LabError
from ipclab.words import output
from ipclab.words.catalogue import SOURCE

OPTIONAL = {"name", "drawn", "values", "absent"}  # in JSON left out where they are empty
FEW_COLUMNS, FEW_ROWS = 6, 12  # of a table that a narrow screen shows row by row
LINKED = ("-claims", "requirements")
INTERVAL = r"\[[^\[\]]{1,32}[–~][^\[\]]{1,32}\]"  # stays whole, as words do
Align = Literal["left", "right", "center"]


@dataclass(frozen=True)
class Column:
    """The head of one column and how its cells are aligned."""

    label: str
    align: Align = "left"


@dataclass(frozen=True)
class Table:
    """Rows of finished text, formatted, never markup.

    `drawn` names the studies that it was made from, with the number of rows, where these tell it;
    `values` holds value, low, high and unit of each cell that is a quantity, else nothing. `others`
    are the same table for readers of other languages than `lang`. Of one that is `absent` nothing
    was measured.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = field(default_factory=tuple)
    name: str = ""
    drawn: dict[str, int] = field(default_factory=dict)
    values: Sequence[Sequence[Sequence[Any]]] = field(default_factory=tuple)
    lang: str = SOURCE
    others: "Mapping[str, Table]" = field(default_factory=dict, repr=False)
    absent: bool = False

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                why = f"a row has {len(row)} cells for {len(self.columns)} columns"
                raise LabError(f"table {self.caption!r}", why)

    def to_json(self) -> dict[str, Any]:
        """Return the keys `caption`, `columns`, `rows`, `notes`, `name` and `drawn`.

        A column is `{"label", "align"}`. `msgspec.convert` makes the table of it.
        """
        parts = asdict(replace(self, others={}))
        del parts["others"], parts["lang"]
        return {name: part for name, part in parts.items() if part or name not in OPTIONAL}

    @classmethod
    def of(cls, data: Mapping[str, Any], lang: str) -> Self:
        """Return the table that an output as data holds, for readers of `lang` and of others."""
        made = msgspec.convert(output.said(data, lang), cls)
        others = {
            other: replace(msgspec.convert(parts, cls), lang=other)
            for other, parts in data[output.SAID].items()
            if other != lang
        }
        return replace(made, lang=lang, others=others)

    def data(self) -> dict[str, Any]:
        """Return the output as data."""
        others = {lang: other.to_json() for lang, other in self.others.items()}
        return output.data(output.TABLE, {self.lang: self.to_json(), **others})

    def to_html(self) -> str:
        """Return an HTML figure that scrolls sideways; claims' and requirements' rows have ids."""
        linked = self.name.endswith(LINKED)
        kind = ""
        if not any(column.label for column in self.columns):
            kind = " form"  # to fill in
        elif len(self.columns) <= FEW_COLUMNS and len(self.rows) <= FEW_ROWS:
            kind = " few"
        return str(_template().render(table=self, linked=linked, whole=_whole, kind=kind))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        shown = {"text/html": self.to_html(), "text/plain": self.caption}
        return {output.MIME: self.data(), **shown}


@cache
def _template() -> Any:
    from jinja2 import Environment, FileSystemLoader  # which takes long to load

    loader = FileSystemLoader(Path(__file__).parent)
    return Environment(autoescape=True, loader=loader).get_template("table.html")


def _whole(text: str) -> Markup:
    """Return a cell's text with its intervals marked, that no line may break."""
    return Markup(re.sub(INTERVAL, r'<span class="keep">\g<0></span>', str(escape(text))))
