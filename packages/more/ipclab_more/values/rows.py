"""Tidy rows of a run: what its frames hold, with units and intervals, as CSV, as JSON and as lines."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from ipclab.bounds.points import cut_points
from ipclab.console import aligned
from ipclab.errors import UsageError, hint
from ipclab.frames import derived, tails
from ipclab.frames.metrics import QUANTILES
from ipclab.frames.points import KEY, VALUES, Frame, point_rows
from ipclab.frames.run_table import RUN, levels_as_text, op_rows, told_of_run
from ipclab.lab.runs import run_named
from ipclab.paths import Paths
from ipclab.report.sheet import csv
from ipclab.stats.quantity import FEW_SAMPLES, Quantity
from ipclab.store.bundle import place, verify
from ipclab.store.door import measured_points
from ipclab.store.run import INDEX, RunFolder, read_run
from ipclab.words.catalogue import SOURCE
from ipclab.words.words import DASH, Words

SUFFIX = ".ipclab"
SCHEMA = 1  # of the JSON: docs/values.schema.json
VALUE_COLUMNS = ("op", "metric", "unit", "value", "low", "high", "launches", "samples", "flags")
COLUMNS = [*RUN[:3], *KEY, "levels", *VALUE_COLUMNS]
FILTERS = ("op", "metric", "backend", "placement", "size_bytes")
Asked = Mapping[str, Sequence[Any]]


def rows(
    run: RunFolder, studies: Sequence[str], asked: Asked, quantile: float | None
) -> pd.DataFrame:
    """Return the columns `KEY`, levels (a dict) and `VALUE_COLUMNS` of what is `asked` of `run`.

    All studies where none is named; the `quantile` alone where one is given. Raises `UsageError`
    for a study, a level or a name that the run does not hold, and `LabError` where nothing that is
    asked has enough samples for the quantile.
    """
    measured = derived.studies_measured(run)
    for study in studies:
        if study not in measured:
            raise UsageError(f"the run holds no {study!r}", "", hint(study, measured))
    parts = []
    for study in studies or measured:
        points = _points(run, study, quantile)
        points["levels"] = [row["levels"] for row in op_rows(points, VALUES)]
        parts.append(points[[*KEY, "levels", *VALUE_COLUMNS]])
    table = pd.concat(parts, ignore_index=True)
    for name, wanted in asked.items():
        table = _narrowed(table, name, wanted)
    if quantile is not None and table.value.isna().all():
        raise tails.too_few(quantile)
    return table


def _points(run: RunFolder, study: str, quantile: float | None) -> pd.DataFrame:
    """Return the point frame of `study`, or one of this quantile alone."""
    if quantile is None:
        return cut_points(run, study)
    metric = tails.metric(quantile)
    if metric not in QUANTILES:
        return _derived_anew(run, study, quantile)
    points = cut_points(run, study)
    points = points[points.metric == metric]
    # Runs that were thinned of old have values of too few samples.
    few = ~tails.enough(points.samples, quantile) & points.value.notna()
    flags = points["flags"].where(~few, points["flags"] + f";{FEW_SAMPLES}")
    numbers = points[["value", "low", "high"]].mask(few)
    return points.assign(flags=flags, **numbers)


def _derived_anew(run: RunFolder, study: str, quantile: float) -> pd.DataFrame:
    """Return the rows of `study` with a quantile that frames do not hold."""
    made = Frame(VALUES)
    for measured in measured_points(run, study):
        for row in point_rows(measured):
            if row["metric"] != "p99":  # one row of each op
                continue
            flags = [flag for flag in row["flags"].split(";") if flag != FEW_SAMPLES]
            row.update(dict.fromkeys(("value", "low", "high"), math.nan))
            if pooled := tails.of_point(measured, row["op"], quantile):
                counts = {"launches": row["launches"], "samples": row["samples"]}
                row.update(vars(replace(pooled, **counts).for_sessions()))
            else:
                flags.append(FEW_SAMPLES)
            row["metric"] = tails.metric(quantile)
            row["flags"] = ";".join(flags)
            made.add([row])
    return made.whole()


def _narrowed(table: pd.DataFrame, name: str, wanted: Sequence[Any]) -> pd.DataFrame:
    """Return the rows whose column or level `name` is one of those that are `wanted`."""
    column = table[name] if name in FILTERS else table.levels.str.get(name)
    column = column.dropna().astype(str)
    words = [str(value) for value in wanted]
    for word in words:
        if word not in set(column):
            fix = hint(word, column.unique()) if len(column) else "leave it out"
            raise UsageError(f"nothing that is asked has {name}={word}", "", fix)
    return table.loc[column.index[column.isin(words)]]


def as_csv(run: RunFolder, table: pd.DataFrame) -> str:
    """Return rows as CSV; each number is read back as it is, an end that is not there is empty."""
    worded = table.levels.map(levels_as_text)
    whole = _finite(table).assign(**told_of_run(run.id, run.about), levels=worded)
    return csv(whole[COLUMNS])


def as_json(run: RunFolder, table: pd.DataFrame) -> str:
    """Return rows as JSON (docs/values.schema.json); what is not there is null."""
    table = _finite(table).astype(object)
    values = table.where(table.notna(), None).to_dict("records")
    for row in values:
        row["flags"] = [flag for flag in row["flags"].split(";") if flag]
    about = {"schema": SCHEMA, **told_of_run(run.id, run.about), "values": values}
    return json.dumps(about, indent=1, ensure_ascii=False) + "\n"


def as_table(run: RunFolder, table: pd.DataFrame) -> str:
    """Return rows as lines for a person: numbers to three digits, with their intervals."""
    numbers = Words.load(SOURCE).numbers
    lines = [(*KEY[2:], "levels", "op", "metric", "value")]
    for row in table.to_dict("records"):
        levels = levels_as_text(row["levels"], ", ")
        ends = (row["low"], row["high"]) if math.isfinite(row["low"]) else ()
        shown = DASH
        if not pd.isna(row["value"]):
            value = Quantity(row["value"], row["unit"], *ends)
            shown = numbers.format(value, "interval" if ends else "")
        where = (str(row[name]) for name in KEY[2:])
        lines.append((*where, levels, row["op"], row["metric"], shown))
    return "\n".join(aligned(lines))


def _finite(table: pd.DataFrame) -> pd.DataFrame:
    return table.replace([math.inf, -math.inf], math.nan)


FORMS = {"csv": as_csv, "json": as_json, "table": as_table}


def sources(named: Sequence[Path]) -> list[Path]:
    """Return what is meant by each name: itself, or the bundles in a folder at any depth, sorted.

    Raises `UsageError` for a folder that is no run and holds no bundle.
    """
    found: list[Path] = []
    for name in named:
        if not name.is_dir() or (name / INDEX).is_file():
            found.append(name)
            continue
        bundles = sorted(filter(Path.is_file, name.rglob(f"*{SUFFIX}")))
        if not bundles:
            fix = "put there what 'ipclab bundle' wrote"
            raise UsageError(f"{name} holds no bundle", f"no file ends in {SUFFIX}", fix)
        found += bundles
    return found


@contextmanager
def run_given(paths: Paths, source: Path) -> Iterator[RunFolder]:
    """Give the run of `source`.

    A bundle's is placed for as long as it is read, so that thousands need the room of one. Raises
    what `ipclab.lab.runs.run_named`, `verify` and `place` raise.
    """
    if not source.is_file():
        yield run_named(paths, str(source))
        return
    contents, _ = verify(source)
    paths.opened.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="read-", dir=paths.opened, ignore_cleanup_errors=True) as home:
        place(source, contents, Path(home, "run"))
        yield read_run(Path(home, "run", contents.run))
