"""The page of many machines: what one round trip takes by machine and mechanism, over the limit, and by rank."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ipclab.gather.bundles import FACTS, PLACEMENTS, Damaged, Gathered, frame, newest
from ipclab.lab.catalogue import N_, Catalogue
from ipclab.lab.labels import LEVELS, spec
from ipclab.lab.numbers import Formatter
from ipclab.lab.table import MIME, Column, Table
from ipclab.render.document import read
from ipclab.render.exporters import ReportHTMLExporter
from ipclab.stats.quantity import Quantity
from ipclab.store.files import write_whole

DASH = "–"
TITLE = N_("Machines and mechanisms")
SAID = N_(
    "{machines} machines, from {bundles} bundles; {older} older runs of the same machines and {damaged} bundles that "
    "cannot be taken are left out. A round trip of {size}, each mechanism at its plainest: the median over launches. "
    "The limit is the native echo over the same medium on the same machine. Machines were measured apart, each by its "
    "owner: a ratio of two of them has no interval here. Ranks follow the medians; neighbours may change places by "
    "chance."
)
TABLES = (
    ("ns", N_("Time of a round trip, {placement}")),
    ("over_limit", N_("Round trip over the limit of its machine, {placement}")),
    ("rank", N_("Rank among the mechanisms of its machine, {placement}")),
)
SUMMARY = N_("Mechanisms over all machines, {placement}")
HEADS = (
    N_("Mechanism"), N_("Machines"), N_("Median time"), N_("Median, over the limit"), N_("Best, over the limit"),
    N_("Median rank"), N_("Times first"),
)  # fmt: skip
MACHINE = (N_("Machine"), N_("Processor"), N_("Hardware threads"), N_("Kernel"), N_("Virtualisation"))
LEFT_OUT, FILE, REASON = N_("Bundles that cannot be taken"), N_("File"), N_("Reason")
WHOLE = N_("Every bundle could be taken.")


def notebook(found: Sequence[Gathered | Damaged], size: int, lang: str) -> dict[str, Any]:
    """Return the page of round trips of `size` bytes in the form of an executed notebook."""
    words = Catalogue.load(lang)
    say, numbers = words.translate, Formatter(lang, words.translate)
    whole = [each for each in found if isinstance(each, Gathered)]
    damaged = [each for each in found if isinstance(each, Damaged)]
    kept = newest(whole)
    told: Mapping[str, Any] = {
        "machines": len(kept), "bundles": len(found), "older": len(whole) - len(kept), "damaged": len(damaged),
        "size": numbers.format(Quantity(size, "B"), spec("size_bytes", size)),
    }  # fmt: skip
    cells = [_prose(f"# {say(TITLE)}\n\n{say(SAID).format_map(told)}")]
    rows = frame(kept)
    for placement in PLACEMENTS:
        part, where = rows[rows.placement == placement], say(LEVELS[placement])
        cells.append(_prose(f"## {where}"))
        cells += [_shown(table) for table in _tables(kept, part, placement, where, say, numbers)]
    broken = Table(
        say(LEFT_OUT), [Column(say(FILE)), Column(say(REASON))], [[each.file, each.why] for each in damaged],
        () if damaged else (say(WHOLE),), "damaged",
    )  # fmt: skip
    cells.append(_shown(broken))
    about = {"lang": lang, "date": max([each.begun for each in kept], default=""), "run": ""}
    return {"cells": cells, "metadata": {"ipclab": about}}


def write(page: Mapping[str, Any], file: Path) -> None:
    """Export the page into `file`, whole."""
    exporter = ReportHTMLExporter()  # type: ignore[no-untyped-call]
    write_whole(file, exporter.convert(read(page, file.parent)).encode())


def _tables(
    kept: Sequence[Gathered],
    part: pd.DataFrame,
    placement: str,
    where: str,
    say: Callable[[str], str],
    numbers: Formatter,
) -> list[Table]:
    wide = {name: part.pivot_table(index="file", columns="backend", values=name, dropna=False) for name, _ in TABLES}
    order = list(part.groupby("backend")["rank"].median().sort_values(kind="stable").index)
    made = [_summary(part, order, placement, say(SUMMARY).format(placement=where), say, numbers)]
    for name, caption in TABLES:
        heads = [Column(say(head)) for head in MACHINE] + [Column(each, "right") for each in order]
        cells = [[_cell(numbers, name, wide[name], each.file, backend) for backend in order] for each in kept]
        rows = [[each.machine, *_facts(each), *row] for each, row in zip(kept, cells, strict=True)]
        made.append(
            Table(say(caption).format(placement=where), heads, rows, (), f"{name.replace('_', '-')}-{placement}")
        )
    return made


def _summary(
    part: pd.DataFrame,
    order: Sequence[str],
    placement: str,
    caption: str,
    say: Callable[[str], str],
    numbers: Formatter,
) -> Table:
    rows = []
    for backend in order:
        mine = part[part.backend == backend]
        over = mine.over_limit.dropna().astype(float)
        ratios = [numbers.format(Quantity(value)) if len(over) else DASH for value in (over.median(), over.min())]
        time, first = numbers.format(Quantity(float(mine.ns.median()), "ns")), int((mine["rank"] == 1).sum())
        rows.append([backend, str(len(mine)), time, *ratios, f"{mine['rank'].median():g}", str(first)])
    columns = [Column(say(head), "right" if place else "left") for place, head in enumerate(HEADS)]
    return Table(caption, columns, rows, (), f"mechanisms-{placement}")


def _cell(numbers: Formatter, name: str, wide: pd.DataFrame, file: str, backend: str) -> str:
    value = wide[backend].get(file)
    if value is None or pd.isna(value):
        return DASH
    return str(int(value)) if name == "rank" else numbers.format(Quantity(float(value), "ns" if name == "ns" else "1"))


def _facts(each: Gathered) -> list[str]:
    return [DASH if each.facts[name] is None else str(each.facts[name]) for name in FACTS]


def _prose(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def _shown(table: Table) -> dict[str, Any]:
    shown = {"output_type": "display_data", "data": {MIME: table.to_json()}, "metadata": {}}
    return {"cell_type": "code", "metadata": {}, "source": "", "outputs": [shown]}
