"""Tidy rows of a run: what its frames hold, with units and intervals, as CSV and JSON."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ipclab.errors import UsageError, hint
from ipclab.frames import derived, tails
from ipclab.frames.metrics import FEW_SAMPLES, QUANTILES
from ipclab.frames.points import KEY, VALUES, frame, point_rows
from ipclab.stats.intervals import Estimate
from ipclab.store.run import RunFolder
from ipclab.store.samples import decode

SCHEMA = 1  # of the JSON: docs/values.schema.json
TOLD = ("op", "metric", "unit", "value", "low", "high", "launches", "samples", "flags")
COLUMNS = ("run", "machine", "label", *KEY, "levels", *TOLD)
FILTERS = ("op", "metric", "backend", "placement", "size_bytes")
Asked = Mapping[str, Sequence[Any]]


def rows(
    run: RunFolder, studies: Sequence[str], asked: Asked, quantile: float | None
) -> pd.DataFrame:
    """Return the columns `KEY`, levels (a dict) and `TOLD` of what is `asked` of `run`.

    All studies where none is named; the `quantile` alone where one is given. Raises `UsageError`
    for a study, a level or a name that the run does not hold, and `LabError` where nothing that is
    asked has enough samples for the quantile.
    """
    held = derived.measured(run)
    for study in studies:
        if study not in held:
            raise UsageError(f"the run holds no {study!r}", "", hint(study, held))
    parts = [_rows(run, study, quantile) for study in studies or held]
    found = pd.concat(parts, ignore_index=True)
    for name, wanted in asked.items():
        found = _kept(found, name, wanted)
    if quantile is not None and found.value.isna().all():
        raise tails.too_few(quantile)
    return found


def _rows(run: RunFolder, study: str, quantile: float | None) -> pd.DataFrame:
    if quantile is None or tails.metric(quantile) in QUANTILES:
        found = derived.read(run, study, "points")
        if quantile is not None:
            found = _enough(found[found.metric == tails.metric(quantile)], quantile)
    else:
        found = _at(run, study, quantile)
    factors = [name for name in found if name not in (*KEY, *VALUES)]
    levels = []
    for row in found[factors].to_dict("records"):
        levels.append({str(name): row[name] for name in row if pd.notna(row[name])})
    return found.assign(levels=pd.Series(levels, found.index, object))[[*KEY, "levels", *TOLD]]


def _enough(found: pd.DataFrame, quantile: float) -> pd.DataFrame:
    """Return rows without the values that runs thinned of old have of too few samples."""
    few = ~tails.enough(found.samples, quantile) & found.value.notna()
    flags = found["flags"].where(~few, found["flags"] + f";{FEW_SAMPLES}")
    ends = {name: found[name].mask(few) for name in ("value", "low", "high")}
    return found.assign(flags=flags, **ends)


def _at(run: RunFolder, study: str, quantile: float) -> pd.DataFrame:
    """Return the rows of `study` with a quantile that frames do not hold."""
    made = []
    for file in run.checked(f"points/{study}/").values():
        measured = decode(file)
        for row in point_rows(measured):
            if row["metric"] != "p99":  # one row of each op
                continue
            found = tails.of_point(measured, row["op"], quantile)
            told = {"value": math.nan, "low": math.nan, "high": math.nan}
            flags = [flag for flag in row["flags"].split(";") if flag != FEW_SAMPLES]
            if found:
                ends = found.value, found.low, found.high
                counts = row["launches"], row["samples"]
                wide = Estimate(*ends, *counts).for_sessions()
                told = {"value": wide.value, "low": wide.low, "high": wide.high}
            else:
                flags.append(FEW_SAMPLES)
            name = {"metric": tails.metric(quantile), "flags": ";".join(flags)}
            made.append(row | told | name)
    return frame(made, VALUES)


def _kept(found: pd.DataFrame, name: str, wanted: Sequence[Any]) -> pd.DataFrame:
    """Return the rows whose column or level `name` is one of those that are `wanted`."""
    own = found[name] if name in FILTERS else found.levels.map(lambda held: held.get(name))
    known = {str(value): value for value in own[own.notna()]}
    for value in wanted:
        if str(value) not in known:
            fix = hint(str(value), known) if known else "leave it out"
            raise UsageError(f"nothing that is asked has {name}={value}", "", fix)
    return found[own.astype(str).isin([str(value) for value in wanted])]


def head(run: RunFolder) -> dict[str, str]:
    """Return what is told of the run itself."""
    label = run.about["parameters"].get("label", "")
    return {
        "run": run.id,
        "machine": run.about["machine"]["digest"],
        "label": label,
        "begun": run.about["begun"],
        "profile": run.about["parameters"]["profile"],
    }


def as_csv(run: RunFolder, found: pd.DataFrame) -> str:
    """Return rows as CSV; each number is read back as it is, an end that is not there is empty."""
    levels = [
        " ".join(f"{name}={level}" for name, level in levels.items()) for levels in found.levels
    ]
    about = {name: head(run)[name] for name in ("run", "machine", "label")}
    told = found.assign(**about, levels=pd.Series(levels, found.index)).replace(
        [math.inf, -math.inf], math.nan
    )
    return told[list(COLUMNS)].to_csv(index=False, lineterminator="\n")


def as_json(run: RunFolder, found: pd.DataFrame) -> str:
    """Return rows as JSON (docs/values.schema.json); what is not there is null."""
    values = []
    for row in found.to_dict("records"):
        told = {str(name): _plain(value) for name, value in row.items()}
        told["flags"] = [flag for flag in row["flags"].split(";") if flag]
        told["levels"] = {name: _plain(level) for name, level in row["levels"].items()}
        values.append(told)
    about = {"schema": SCHEMA, **head(run), "values": values}
    return json.dumps(about, indent=1, ensure_ascii=False) + "\n"


def _plain(value: Any) -> Any:
    """Return a value of a frame as JSON has it: no NaN, no infinite end, no number of numpy."""
    if isinstance(value, dict):
        return value
    if pd.isna(value) or value in (math.inf, -math.inf):
        return None
    return value.item() if hasattr(value, "item") else value
