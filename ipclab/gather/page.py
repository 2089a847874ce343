"""The page of many machines: what one round trip takes by machine and mechanism, over the limit, and by rank."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ipclab.gather.bundles import PLACEMENTS, Gathered, frame, newest
from ipclab.lab.catalogue import Catalogue
from ipclab.lab.labels import LEVELS, spec
from ipclab.lab.numbers import Formatter
from ipclab.lab.table import MIME, Column, Table
from ipclab.render.document import read
from ipclab.render.exporters import ReportHTMLExporter
from ipclab.stats.quantity import Quantity
from ipclab.store.files import write_whole

DASH = "–"
WORDS: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("labels.toml").read_text("utf-8"))
UNITS = {"ns": "ns", "over_limit": "1", "best": "1"}  # of the columns that are measured; the others are counts


def notebook(found: Sequence[Gathered], size: int, lang: str) -> dict[str, Any]:
    """Return the page of round trips of `size` bytes in the form of an executed notebook."""
    words = Catalogue.load(lang)
    say, numbers = words.translate, Formatter(lang, words.translate)
    heads = {table: {name: say(head) for name, head in told.items()} for table, told in WORDS.items()}
    page = heads["page"]
    whole = [each for each in found if not each.why]
    damaged = [(each.file, each.why) for each in found if each.why]
    kept = newest(whole)
    told: Mapping[str, Any] = {
        "machines": len(kept), "bundles": len(found), "older": len(whole) - len(kept), "damaged": len(damaged),
        "size": numbers.format(Quantity(size, "B"), spec("size_bytes", size)),
    }  # fmt: skip
    cells = [_prose(f"# {page['title']}\n\n{page['said'].format_map(told)}")]
    rows, files = frame(kept), [each.file for each in kept]
    known = pd.DataFrame([{"machine": each.machine, **each.facts} for each in kept], index=files, dtype=object)
    facts = {head: list(known.where(known.notna(), DASH)[name].astype(str)) for name, head in heads["machine"].items()}
    for placement in PLACEMENTS:
        part, where = rows[rows.placement == placement], say(LEVELS[placement])
        summed = _summed(part)
        columns = {head: _written(numbers, name, summed[name]) for name, head in heads["summary"].items()}
        caption = page["summary"].format(placement=where)
        cells += [_prose(f"## {where}"), _shown(caption, columns, f"mechanisms-{placement}", 1)]
        for name, caption in heads["captions"].items():
            wide = part.pivot(index="file", columns="backend", values=name).reindex(files)
            measured = {backend: _written(numbers, name, wide[backend]) for backend in summed.backend}
            named = f"{name.replace('_', '-')}-{placement}"
            cells.append(_shown(caption.format(placement=where), facts | measured, named, len(facts)))
    broken = {head: [row[place] for row in damaged] for place, head in enumerate(heads["damaged"].values())}
    cells.append(_shown(page["damaged"], broken, "damaged", 2, () if damaged else (page["whole"],)))
    about = {"lang": lang, "date": max([each.begun for each in kept], default=""), "run": ""}
    return {"cells": cells, "metadata": {"ipclab": about}}


def write(page: Mapping[str, Any], file: Path) -> None:
    """Export the page into `file`, whole."""
    exporter = ReportHTMLExporter()  # type: ignore[no-untyped-call]
    write_whole(file, exporter.convert(read(page, file.parent)).encode())


def _summed(part: pd.DataFrame) -> pd.DataFrame:
    """Return what is known of each mechanism over all machines, in the order of their median ranks."""
    groups = part.assign(first=part["rank"] == 1, best=part.over_limit, machines=1).groupby("backend")
    how = {"machines": "sum", "ns": "median", "over_limit": "median", "best": "min", "rank": "median", "first": "sum"}
    return groups.agg(how).sort_values("rank", kind="stable").reset_index()


def _written(numbers: Formatter, name: str, values: "pd.Series[Any]") -> list[str]:
    """Return numbers of a column as text, a dash where there is none; names as they are."""
    if name in UNITS:
        return [DASH if pd.isna(value) else numbers.format(Quantity(float(value), UNITS[name])) for value in values]
    return [DASH if pd.isna(value) else value if isinstance(value, str) else f"{value:g}" for value in values]


def _prose(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def _shown(
    caption: str, columns: Mapping[Any, Sequence[str]], name: str, words: int, notes: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the cell of a table, by the heads of its columns; the first `words` of them hold words, others numbers."""
    heads = [Column(head, "left" if place < words else "right") for place, head in enumerate(columns)]
    table = Table(caption, heads, [list(row) for row in zip(*columns.values(), strict=True)], notes, name)
    shown = {"output_type": "display_data", "data": {MIME: table.to_json()}, "metadata": {}}
    return {"cell_type": "code", "metadata": {}, "source": "", "outputs": [shown]}
