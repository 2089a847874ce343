"""Values by name: variables of the notebook, and addresses such as `payload.write[mapping=kept].p50`."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ipclab.errors import LabError, nearest
from ipclab.frames.address import quantity
from ipclab.stats.quantity import Quantity, missing


def beside(points: pd.DataFrame, whole: pd.DataFrame, more: Mapping[str, str | tuple[str, str]]) -> pd.DataFrame:
    """Return rows with a column for each of `more`: that metric (or op and metric) of the same point in `whole`."""
    for name, wanted in more.items():
        op, metric = (None, wanted) if isinstance(wanted, str) else wanted
        rows = whole[(whole.metric == metric) & whole.point.isin(points.point)].itertuples()
        found = {(row.point, row.op): quantity(row) for row in rows}
        cells = [found.get((point, op or own), np.nan) for point, own in zip(points.point, points.op, strict=True)]
        points = points.assign(**{name: pd.Series(cells, index=points.index, dtype=object)})
    return points


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


def named(name: str, namespace: Mapping[str, Any]) -> Quantity | str:
    """Return a variable of the notebook, or an attribute or entry of one (`payload.gain`), as a quantity or a text.

    Raises `LabError` with the nearest name when there is none.
    """
    root, *rest = name.split(".")
    what = f"no value is named {name!r}"
    if root not in namespace:
        near = nearest(name, [each for each in namespace if not each.startswith("_")])
        raise LabError(what, "the prose asks for it", f"the nearest name is {near!r}")
    found = namespace[root]
    for part in rest:
        try:
            found = found[part] if isinstance(found, Mapping) else getattr(found, part)
        except (KeyError, AttributeError) as error:
            raise LabError(what, f"{root} has no {part!r}", "see what the notebook keeps") from error
    return plain(found)


def plain(found: Any) -> Quantity | str:
    """Return any scalar as a quantity, a text as it is."""
    if isinstance(found, Quantity | str):
        return found
    if isinstance(found, int | float | np.integer | np.floating) and not isinstance(found, bool):
        whole = isinstance(found, int | np.integer)
        value = int(found) if whole else float(found)
        return missing() if value != value else Quantity(value, "count" if whole else "1", kind="computed")  # noqa: PLR0124
    return missing() if found is None or found is pd.NA else str(found)


def drawn_from(quantities: Iterable[Any]) -> dict[str, int]:
    """Return the studies that quantities follow from, with the number of rows of each."""
    sources = {source for each in quantities if isinstance(each, Quantity) for source in each.sources}
    return dict(sorted(Counter(source.partition("/")[0] for source in sources).items()))
