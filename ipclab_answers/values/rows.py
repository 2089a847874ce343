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
            ends = (math.nan,) * 3 if found is None else (found.value, found.low, found.high)
            flags = [flag for flag in row["flags"].split(";") if flag != FEW_SAMPLES]
            if found is None:
                flags.append(FEW_SAMPLES)
            wide = Estimate(*ends, row["launches"], row["samples"]).for_sessions()
            name = {"metric": tails.metric(quantile), "flags": ";".join(flags)}
            made.append(row | vars(wide) | name)
    return frame(made, VALUES)


def _kept(found: pd.DataFrame, name: str, wanted: Sequence[Any]) -> pd.DataFrame:
    """Return the rows whose column or level `name` is one of those that are `wanted`."""
    if name in FILTERS:
        own = found[name]
    else:
        own = pd.Series([levels.get(name) for levels in found.levels], found.index, object)
    own = own.dropna().astype(str)
    words = [str(value) for value in wanted]
    for word in words:
        if word not in set(own):
            fix = hint(word, list(dict.fromkeys(own))) if len(own) else "leave it out"
            raise UsageError(f"nothing that is asked has {name}={word}", "", fix)
    return found.loc[own.index[own.isin(words)]]


def head(run: RunFolder) -> dict[str, str]:
    """Return what is told of the run itself."""
    about = run.about
    parameters = run.about["parameters"]
    return {
        "run": run.id,
        "machine": about["machine"]["digest"],
        "label": parameters.get("label", ""),
        "begun": about["begun"],
        "profile": parameters["profile"],
    }


def as_csv(run: RunFolder, found: pd.DataFrame) -> str:
    """Return rows as CSV; each number is read back as it is, an end that is not there is empty."""
    levels = []
    for by_name in found.levels:
        levels.append(" ".join(f"{name}={level}" for name, level in by_name.items()))
    about = {name: head(run)[name] for name in ("run", "machine", "label")}
    told = _finite(found).assign(**about, levels=pd.Series(levels, found.index))
    return told[list(COLUMNS)].to_csv(index=False, lineterminator="\n")


def as_json(run: RunFolder, found: pd.DataFrame) -> str:
    """Return rows as JSON (docs/values.schema.json); what is not there is null."""
    known = _finite(found)
    values = known.astype(object).where(known.notna(), None).to_dict("records")
    for row in values:
        row["flags"] = [flag for flag in row["flags"].split(";") if flag]
    about = {"schema": SCHEMA, **head(run), "values": values}
    return json.dumps(about, indent=1, ensure_ascii=False) + "\n"


def _finite(found: pd.DataFrame) -> pd.DataFrame:
    return found.replace([math.inf, -math.inf], math.nan)
