"""Values by name: variables of the notebook, and addresses of measured values such as `payload.write[mapping=kept].p50`."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ipclab.errors import LabError, UsageError, nearest
from ipclab.stats.quantity import Quantity, missing

ADDRESS = re.compile(r"(?P<study>\w+)\.(?P<op>[\w.\-]+)\[(?P<levels>[^\]]*)\](?:\.(?P<metric>[\w.]+))?")
Points = Callable[[str], pd.DataFrame]


def narrowed(frame: pd.DataFrame, levels: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows that have all `levels`; a list of levels means any of them, NA the absence of one.

    Raises `UsageError` for a column that the frame has not.
    """
    kept = np.ones(len(frame), dtype=bool)
    for name, level in levels.items():
        if name not in frame:
            near = f"did you mean {nearest(name, map(str, frame.columns))!r}?"
            raise UsageError(f"no column {name!r}", f"the frame has {', '.join(map(str, frame.columns))}", near)
        wanted = list(level) if isinstance(level, list | tuple | set | frozenset | np.ndarray | pd.Series) else [level]
        kept &= frame[name].isin(wanted).to_numpy()
    return frame[kept]


def quantity(row: Any) -> Quantity:
    """Return a row of a point frame, or of a text's table, as a quantity."""
    if not hasattr(row, "launches"):
        return Quantity(float(row.value), str(row.unit), kind=str(row.kind))
    n = f"{int(row.launches)} x {int(row.samples)}"
    source = "/".join(str(getattr(row, name, "")) for name in ("study", "point", "op", "metric"))
    return Quantity(float(row.value), str(row.unit), float(row.low), float(row.high), n, sources=(source,))


def one(frame: pd.DataFrame, levels: Mapping[str, Any]) -> Quantity:
    """Return the only row with all `levels` as a quantity, the median where no metric is named.

    What was not measured is a quantity without a value; raises `LabError` when several rows have the levels.
    """
    absent = [name for name in levels if name not in frame]
    found = frame.iloc[:0] if absent and frame.empty else narrowed(frame, levels)
    if len(found) > 1 and "metric" not in levels and "metric" in found:
        found = found[found.metric == "p50"]
    if found.empty:
        units = narrowed(frame, {name: levels[name] for name in ("op", "metric") if name in levels and name in frame})
        return missing(str(units.unit.iloc[0]) if len(units) else "ns")
    if len(found) > 1:
        differ = [str(name) for name in found if found[name].nunique(dropna=False) > 1 and name not in ("point", "flags")]
        raise LabError(f"{len(found)} rows have {dict(levels)}", f"they differ in {', '.join(differ[:6])}", "name one level")
    return quantity(found.iloc[0])


def over(points: pd.DataFrame, under: pd.DataFrame, on: list[str]) -> pd.DataFrame:
    """Return `points` with `cell` over the `cell` of the only row of `under` that has the same levels `on`.

    A row over itself is exactly one. Raises `LabError` when several rows of `under` have the same levels.
    """
    if under.duplicated(on).any():
        raise LabError(f"several rows share {', '.join(on)}", "a ratio needs one row to divide by", "choose one level")
    found = points.merge(under, on=on, how="left", suffixes=("", "_under"))
    ratios = [
        missing() if not isinstance(base, Quantity) else top / base if top.sources != base.sources else Quantity(1.0)
        for top, base in zip(found.cell, found.cell_under, strict=True)
    ]
    return found.assign(cell=pd.Series(ratios, found.index, dtype=object))


def at(address: str, points: Points) -> Quantity | None:
    """Return the value at an address over the point frames that `points` gives by study; None when it is no address."""
    parts = ADDRESS.fullmatch(address)
    if not parts:
        return None
    frame = points(parts["study"])
    pairs = [pair.partition("=") for pair in parts["levels"].split(",") if pair.strip()]
    levels = {name.strip(): _typed(frame, name.strip(), text.strip()) for name, _, text in pairs}
    unknown = [name for name in levels if name not in frame]
    if unknown and not frame.empty:
        return missing()
    return one(frame, {"op": parts["op"], "metric": parts["metric"] or "p50", **levels})


def named(name: str, namespace: Mapping[str, Any]) -> Quantity | str:
    """Return a variable of the notebook, or an attribute or entry of one (`payload.gain`), as a quantity or a text.

    Raises `LabError` with the nearest name when there is none.
    """
    root, *rest = name.split(".")
    if root not in namespace:
        known = [each for each in namespace if not each.startswith("_")]
        raise LabError(f"no value is named {name!r}", "the prose asks for it", f"the nearest name is {nearest(name, known)!r}")
    found = namespace[root]
    for part in rest:
        try:
            found = found[part] if isinstance(found, Mapping) else getattr(found, part)
        except (KeyError, AttributeError) as error:
            raise LabError(f"no value is named {name!r}", f"{root} has no {part!r}", "see what the notebook keeps") from error
    return plain(found)


def plain(found: Any) -> Quantity | str:
    """Return any scalar as a quantity, a text as it is."""
    if isinstance(found, Quantity | str):
        return found
    if isinstance(found, bool | np.bool_):
        return str(bool(found))
    if found is None or found is pd.NA or (isinstance(found, float | np.floating) and np.isnan(found)):
        return missing()
    if isinstance(found, int | np.integer):
        return Quantity(int(found), "count", kind="computed")
    if isinstance(found, float | np.floating):
        return Quantity(float(found), "1", kind="computed")
    return str(found)


def _typed(frame: pd.DataFrame, name: str, text: str) -> Any:
    numeric = name in frame and pd.api.types.is_numeric_dtype(frame[name])
    return int(text) if numeric and re.fullmatch(r"-?\d+", text) else text


def drawn_from(quantities: Iterable[Any]) -> dict[str, int]:
    """Return the studies that quantities follow from, with the number of rows of each."""
    sources = {source for each in quantities if isinstance(each, Quantity) for source in each.sources}
    return dict(sorted(Counter(source.partition("/")[0] for source in sources).items()))
