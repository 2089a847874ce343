"""The page of many machines: a round trip by machine and mechanism, over the limit, and by rank."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ipclab.lab.catalogue import Catalogue
from ipclab.lab.labels import LEVELS, spec
from ipclab.lab.numbers import Formatter
from ipclab.lab.table import MIME, Column, Table
from ipclab.lab.words import DASH
from ipclab.render.document import read
from ipclab.render.exporters import ReportHTMLExporter
from ipclab.stats.quantity import Quantity
from ipclab.store.files import write_whole
from ipclab_answers.gather.bundles import PLACEMENTS, Gathered, best, frame
from ipclab_answers.gather.tables import asked

WORDS: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("labels.toml").read_text("utf-8")
)
# of what is measured; the others are counts
UNITS = {"ns": "ns", "over_limit": "1", "best": "1"}
TOGETHER = {  # of a mechanism over all machines
    "machines": "sum",
    "ns": "median",
    "over_limit": "median",
    "best": "min",
    "rank": "median",
    "first": "sum",
}
Cells = list[dict[str, Any]]


def notebook(
    bundles: Sequence[Gathered], size: int, lang: str, differing: pd.DataFrame
) -> dict[str, Any]:
    """Return the page of round trips of `size` bytes, and of the nodes that are `differing`.

    It has the form of an executed notebook.
    """
    words = Catalogue.load(lang)
    numbers = Formatter(lang, words.translate)
    heads = {}
    for table, labels in WORDS.items():
        heads[table] = {name: words.translate(head) for name, head in labels.items()}
    page = heads["page"]
    whole = [bundle for bundle in bundles if not bundle.why]
    machines = best(whole)
    counts = {
        "machines": len(machines),
        "bundles": len(bundles),
        "older": len(whole) - len(machines),
        "damaged": len(bundles) - len(whole),
        "size": numbers.format(Quantity(size, "B"), spec("size_bytes", size)),
    }
    cells = [_prose(f"# {page['title']}\n\n{page['said'].format_map(counts)}")]
    cells.append(_apart(differing, heads, numbers))
    rows = frame(machines)
    for placement in PLACEMENTS:
        cells.append(_prose(f"## {words.translate(LEVELS[placement])}"))
        placed = rows[rows.placement == placement]
        cells += _placed(placed, machines, heads, numbers, words.translate(LEVELS[placement]))
    cells.append(_damaged(bundles, heads))
    begun = max([bundle.begun for bundle in machines], default="")
    return {
        "cells": cells,
        "metadata": {"ipclab": {"lang": lang, "date": begun, "run": ""}},
    }


def write(page: Mapping[str, Any], file: Path) -> None:
    """Export the page into `file`, whole."""
    exporter = ReportHTMLExporter()  # type: ignore[no-untyped-call]
    write_whole(file, exporter.convert(read(page, file.parent)).encode())


def _placed(
    rows: pd.DataFrame,
    machines: Sequence[Gathered],
    heads: Mapping[str, Mapping[str, str]],
    numbers: Formatter,
    where: str,
) -> Cells:
    """Return the tables of the `rows` of one placement: mechanisms over all machines, then each."""
    together = rows.assign(first=rows["rank"] == 1, best=rows.over_limit, machines=1)
    together = together.groupby("backend").agg(TOGETHER)
    together = together.sort_values("rank", kind="stable").reset_index()
    summary = {}
    for name, head in heads["summary"].items():
        summary[head] = _written(numbers, name, together[name])
    placement = rows.placement.iloc[0] if len(rows) else ""
    caption = heads["page"]["summary"].format(placement=where)
    cells = [_shown(caption, summary, f"mechanisms-{placement}", 1)]
    facts: dict[str, list[str]] = {}
    for name, head in heads["machine"].items():
        known = [{"machine": bundle.machine, **bundle.facts}[name] for bundle in machines]
        facts[head] = [DASH if value is None else str(value) for value in known]
    for name, caption in heads["captions"].items():
        wide = rows.pivot(index="file", columns="backend", values=name)
        wide = wide.reindex([bundle.file for bundle in machines])
        columns = dict(facts)
        for backend in together.backend:
            columns[backend] = _written(numbers, name, wide[backend])
        named = f"{name.replace('_', '-')}-{placement}"
        cells.append(_shown(caption.format(placement=where), columns, named, len(facts)))
    return cells


def _apart(
    differing: pd.DataFrame, heads: Mapping[str, Mapping[str, str]], numbers: Formatter
) -> dict[str, Any]:
    """Return the table of the nodes that differ from their equals, or that none does."""
    rows = []
    for row in differing.to_dict("records"):
        ratio = Quantity(row["ratio"], "1", row["low"], row["high"])
        row |= {"asked": asked(row), "ends": numbers.format(ratio, "interval")}
        far = row["mads"]
        rows.append(row | {"mads": DASH if pd.isna(far) else numbers.number(far, 1)})
    columns = {head: [str(row[name]) for row in rows] for name, head in heads["differing"].items()}
    notes = () if rows else (heads["page"]["equal"],)
    return _shown(heads["page"]["differing"], columns, "differing", 7, notes)


def _damaged(bundles: Sequence[Gathered], heads: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Return the table of the bundles that cannot be taken, or that there is none."""
    damaged = [bundle for bundle in bundles if bundle.why]
    columns = {
        heads["damaged"]["file"]: [bundle.file for bundle in damaged],
        heads["damaged"]["why"]: [bundle.why for bundle in damaged],
    }
    notes = () if damaged else (heads["page"]["whole"],)
    return _shown(heads["page"]["damaged"], columns, "damaged", 2, notes)


def _written(numbers: Formatter, name: str, values: "pd.Series[Any]") -> list[str]:
    """Return a column as text: numbers formatted, names as they are, a dash for what is absent."""

    def text(value: Any) -> str:
        if isinstance(value, str):
            return value
        if pd.isna(value):
            return DASH
        if name in UNITS:
            return numbers.format(Quantity(float(value), UNITS[name]))
        return f"{value:g}"

    return [text(value) for value in values]


def _prose(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def _shown(
    caption: str,
    columns: Mapping[str, Sequence[str]],
    name: str,
    words: int,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the cell of a table; the first `words` columns hold words, the others numbers."""
    heads = []
    for place, head in enumerate(columns):
        heads.append(Column(head, "left" if place < words else "right"))
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    table = Table(caption, heads, rows, notes, name)
    shown = {
        "output_type": "display_data",
        "data": {MIME: table.to_json()},
        "metadata": {},
    }
    return {"cell_type": "code", "metadata": {}, "source": "", "outputs": [shown]}
