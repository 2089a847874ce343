"""What a person looks at: one study, op and metric, one factor across, every other factor held at one level."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ipclab.facts.rows import Row, Rows
from ipclab.store.point import Level

SIZE, BACKEND = "size_bytes", "backend"
FIRST = ("arm", "placement")  # the factors that decide which levels the others have


@dataclass(frozen=True)
class Selection:
    """One view of a run; `held` is the level of every factor that is neither across nor the mechanism."""

    study: str
    op: str
    metric: str
    across: str = SIZE
    backends: tuple[str, ...] = ()
    held: Mapping[str, Level] = field(default_factory=dict)

    def rows(self, rows: Rows) -> Rows:
        """Return the rows of this view in the order of the factor across."""
        found = rows.all(self.op, self.metric, study=self.study, **self.held)
        wanted = (row for row in found if not self.backends or row.point.backend in self.backends)
        return Rows(sorted(wanted, key=lambda row: order(row.levels[self.across])))


def order(level: Level) -> tuple[int, float, str]:
    """Return the sorting key of a level: numbers by value, then words."""
    return (0, float(level), "") if isinstance(level, int) else (1, 0.0, level)


def studies(rows: Rows) -> list[str]:
    """Return the studies that have rows, in their order."""
    return list(dict.fromkeys(row.point.study for row in rows))


def ops(rows: Rows, study: str) -> list[str]:
    """Return the ops of a study, whole ones before their phases."""
    found = dict.fromkeys(row.op for row in rows if row.point.study == study)
    return sorted(found, key=lambda op: ("." in op, op == "launch"))


def metrics(rows: Rows, study: str, op: str) -> list[str]:
    """Return the metrics of an op, in their order."""
    return list(dict.fromkeys(row.metric for row in rows if row.point.study == study and row.op == op))


def factors(rows: Iterable[Row]) -> dict[str, list[Level]]:
    """Return the factors of `rows` that have more than one level, with their levels in order."""
    found: dict[str, dict[Level, None]] = {}
    for row in rows:
        for name, level in row.levels.items():
            found.setdefault(name, {})[level] = None
    varied = {name: sorted(levels, key=order) for name, levels in found.items() if len(levels) > 1}
    return {name: varied[name] for name in sorted(varied, key=lambda name: (name not in FIRST, name))}


def settle(
    rows: Rows, study: str, op: str, metric: str, across: str, wished: Mapping[str, Level]
) -> tuple[dict[str, Level], dict[str, list[Level]]]:
    """Return a level for each factor to hold, and the levels that could be chosen for it.

    A sweep is not a full grid: what a factor offers depends on the levels held before it. A wish that is not on offer
    gives way to the level with the most points.
    """
    left = rows.all(op, metric, study=study)
    held: dict[str, Level] = {}
    offered: dict[str, list[Level]] = {}
    for name in (name for name in factors(left) if name not in (across, BACKEND)):
        counts = Counter(row.levels[name] for row in left if name in row.levels)
        if not counts:
            continue
        offered[name] = sorted(counts, key=order)
        most = max(offered[name], key=counts.__getitem__)
        held[name] = wished[name] if wished.get(name) in counts else most
        left = Rows(row for row in left if row.levels.get(name) == held[name])
    return held, offered
