"""A table: a frame with a caption, its cells as finished text, shown and exported in several forms; how it is made."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup, escape

from ipclab.errors import LabError
from ipclab.lab import labels
from ipclab.lab.catalogue import N_
from ipclab.lab.data import DASH, Data
from ipclab.stats.quantity import Quantity

MIME = "application/vnd.ipclab.table+json"
SAID = ("caption", "columns", "rows", "notes", "name", "drawn")
LEFT_OUT = N_("Left out, since nothing is in them: {columns}.")
LINKED = ("-claims", "requirements")
_INTERVAL = re.compile(r"\[[^\[\]]{1,32}[–~][^\[\]]{1,32}\]")
HTML = Environment(autoescape=True, loader=FileSystemLoader(Path(__file__).parent)).get_template("table.html")
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
        if wrong := [row for row in self.rows if len(row) != len(self.columns)]:
            raise LabError(
                f"table {self.caption!r}", f"a row has {len(wrong[0])} cells for {len(self.columns)} columns"
            )

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Table":
        """Return the table that `to_json` described, without its frame."""
        return cls(**data | {"columns": [Column(**each) for each in data["columns"]]})

    def to_json(self) -> dict[str, Any]:
        """Return `{"caption", "columns": [{"label", "align"}], "rows": [[...]], "notes", "name", "drawn"}`."""
        told = asdict(replace(self, frame=None))
        return {name: told[name] for name in SAID if told[name] or name not in ("name", "drawn")}

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

    def to_html(self) -> str:
        """Return an HTML figure that scrolls sideways by itself; a row of claims or requirements has an address."""
        linked = self.name.endswith(LINKED)
        return HTML.render(table=self, linked=linked, whole=_whole)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {MIME: self.to_json(), "text/html": self.to_html(), "text/plain": self.caption}


def _whole(text: str) -> Markup:
    """Return a cell's text with its intervals marked, that no line may break."""
    return Markup(_INTERVAL.sub(r'<span class="keep">\g<0></span>', str(escape(text))))


def tabulated(
    lab: Data, frame: pd.DataFrame, caption: str, *,
    spec: str | Mapping[str, str] = "interval", notes: Sequence[str] = (), name: str = "", empty: str = "",
) -> Table:  # fmt: skip
    """Return a frame as a table: index levels and columns are named, cells formatted and translated.

    `spec` is how quantities are printed, for all columns or by column: see `lab.numbers.format`; it also names the
    unit of plain numbers ("ns", "B", "share"). `caption`, `notes` and `empty` are msgids; `empty` says what it
    means that there is no row, by default that nothing was measured, and why. Where the index is sorted, levels
    that have a usual order stand in that; so do columns. Of what `pivot` makes of several `values`, those of one
    level stand together, `cell` without a name of its own. Of several rows, named columns without a cell are left out,
    which a note says; others are lines to write on. Raises `LabError` when the cells follow from rows of several
    studies (the limits excepted).

    >>> lab.table(lab.cells(writes).pivot(index="size_bytes", columns="mapping", values="cell"), _("One write"))
    """
    said = [lab.say(note) for note in (*notes, *([empty or lab.why_empty()] if frame.empty else []))]
    frame = labels.in_order(labels.ordered_columns(frame))
    index = [level for level in frame.index.names if level is not None]
    shown = frame.reset_index() if index else frame
    parts = [(name,) for name in index] + [each if isinstance(each, tuple) else (each,) for each in frame.columns]
    factors = [(None,)] * len(index) + [tuple(frame.columns.names)] * len(frame.columns)
    heads = [_head(lab, *each) for each in zip(parts, factors, strict=True)]
    series = [shown.iloc[:, place] for place in range(len(parts))]
    right = [place > 0 and _numeric(each, str(parts[place][-1])) for place, each in enumerate(series)]
    specs = [spec if isinstance(spec, str) else _spec(each, spec) for each in parts]
    told = [
        [_text(lab, str(part[-1]), value, how) for value in each]
        for part, how, each in zip(parts, specs, series, strict=True)
    ]
    sources = {source for each in shown.to_numpy().ravel() if isinstance(each, Quantity) for source in each.sources}
    drawn = dict(sorted(Counter(source.partition("/")[0] for source in sources).items()))
    if len(drawn.keys() - {"limits"}) > 1:
        raise LabError(f"table {name or caption!r} holds one study", f"its rows are of {', '.join(drawn)}")
    always = [len(shown) <= 1 or place < len(index) or not head.strip() for place, head in enumerate(heads)]
    kept = [place for place, cells in enumerate(told) if always[place] or {*cells} - {"", DASH}]
    gone = [head for place, head in enumerate(heads) if place not in kept]
    said += [lab.say(LEFT_OUT, columns=lab.joined(gone))] if gone else []
    columns = [Column(heads[place], "right" if right[place] else "left") for place in kept]
    rows = [list(row) for row in zip(*(told[place] for place in kept), strict=True)]
    return Table(
        lab.say(caption), columns, rows if len(kept) > len(index) or not gone else [], said, name, drawn, frame
    )


def _head(lab: Data, parts: tuple[Any, ...], factors: tuple[Any, ...]) -> str:
    words = [
        lab.level(str(factor), part) if factor else lab.label(str(part))
        for part, factor in zip(parts, factors, strict=True)
        if part != "cell" or len(parts) == 1
    ]
    return reduce(lambda one, other: lab.say(N_("{one}, {other}"), one=one, other=other), words)


def _text(lab: Data, column: str, value: Any, spec: str) -> str:
    if isinstance(value, Quantity):
        return lab.numbers.format(lab.judged(value), spec) if value else DASH
    if isinstance(value, float) and value == value and column not in labels.UNITS:  # noqa: PLR0124
        unit = next((word for word in spec.split(",") if word in ("ns", "B", "share", "B/s")), "1")
        return lab.numbers.format(Quantity(value, unit), "int" if "int" in spec.split(",") else "")
    return lab.level(column, value)


def _spec(parts: tuple[Any, ...], specs: Mapping[str, str]) -> str:
    return next((specs[str(part)] for part in parts if str(part) in specs), "interval")


def _numeric(column: "pd.Series[Any]", name: str) -> bool:
    """Tell whether a column has numbers, be it beside words."""
    kinds = Quantity | int | float | np.number
    return name not in labels.UNITS and any(isinstance(each, kinds) for each in column.dropna())
