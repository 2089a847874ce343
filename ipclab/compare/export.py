"""A comparison as rows: every point with its ratio, and those that only one run has."""

import json
from collections.abc import Iterator

from ipclab.compare.compared import Compared
from ipclab.compare.normalised import Normalised
from ipclab.compare.shared import Unshared
from ipclab.compare.verdicts import Judged

COLUMNS = (
    *("first", "second", "study", "backend", "op", "size_bytes", "placement", "levels", "verdict", "reason"),
    *("ratio", "low", "high", "detectable", "launches", "limit_ratio", "use_ratio", "use"),
)
Cell = str | int | float | None


def lines(compared: Compared) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each point of each pair of runs, in the order of `COLUMNS`."""
    for pair, uses in zip(compared.pairings, compared.normalised, strict=True):
        head = pair.first.id, pair.second.id
        known = {(each.point.id, each.op): each for each in uses}
        for judged in pair.judged:
            yield (*head, *_judged(judged, known.get((judged.point.id, judged.op))))
        for lone in pair.unshared:
            yield (
                *head,
                *_head(lone),
                "",
                f"only-{'first' if lone.side == 0 else 'second'}:{lone.reason}",
                *[None] * 8,
            )


def _head(each: Judged | Unshared) -> tuple[Cell, ...]:
    point = each.point
    levels = json.dumps(point.levels, sort_keys=True)
    return point.study, point.backend, each.op, point.size_bytes, point.placement, levels


def _judged(judged: Judged, use: Normalised | None) -> tuple[Cell, ...]:
    found = judged.found
    numbers = (_short(value) for value in (found.ratio, found.low, found.high, found.detectable))
    launches = "/".join(map(str, found.launches))
    more = (_short(use.limit.value), _short(use.use.value), use.verdict) if use else (None, None, None)
    return (*_head(judged), found.verdict, found.reason, *numbers, launches, *more)


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")
