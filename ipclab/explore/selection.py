"""What the explorer shows of a frame: a metric over one factor, every other factor held at one level. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from ipclab.frames.points import VALUES

SIZE, BACKEND = "size_bytes", "backend"
USUAL = {"arm": "main", "placement": "same"}
FIRST = ("arm", "placement", SIZE)


@dataclass(frozen=True)
class Selection:
    """A metric of one op of a study, over the factor `across`; `held` are the levels of the other factors."""

    study: str
    op: str
    metric: str
    across: str = SIZE
    backends: tuple[str, ...] = ()
    held: Mapping[str, Any] = field(default_factory=dict)

    def rows(self, points: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of the study's frame that are shown, ordered by the factor that goes across."""
        kept = points[(points.op == self.op) & (points.metric == self.metric)]
        for name, level in self.held.items():
            kept = _having(kept, name, level) if name in kept else kept
        kept = kept[kept.backend.isin(self.backends)] if self.backends else kept
        return kept.sort_values([self.across, BACKEND])


def _having(points: pd.DataFrame, name: str, level: Any) -> pd.DataFrame:
    return points[points[name].isna() if level is None else points[name] == level]


def factors(points: pd.DataFrame) -> dict[str, list[Any]]:
    """Return the factors that vary in these rows, the usual ones first, with their levels in order; no mechanism."""
    names = sorted(name for name in map(str, points) if name not in (*VALUES, "study", "point", BACKEND))
    names.sort(key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
    varied = {name: points[name] for name in names if points[name].nunique(dropna=False) > 1}
    keys = {name: None if each.dtype.kind in "iu" else str for name, each in varied.items()}
    return {name: sorted(each.dropna().unique(), key=keys[name]) for name, each in varied.items()}


def settle(points: pd.DataFrame, across: str, wished: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return each factor to hold with the levels on offer, the chosen one first.

    Factor by factor: a level that was `wished` for, else the usual one, else the first that is left by those before.
    """
    offered = {}
    for name in (name for name in factors(points) if name != across):
        levels = factors(points).get(name) or list(points[name].dropna().iloc[:1]) or [None]
        chosen = next((level for level in (wished.get(name), USUAL.get(name)) if level in levels), levels[0])
        offered[name] = [chosen, *(level for level in levels if level != chosen)]
        points = _having(points, name, chosen)
    return offered
