"""Each shared point of two runs: its ratio with interval, detectable effect and verdict."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ipclab.compare.shared import Matching, Measurement, RunData, Unshared, match
from ipclab.store.point import Point
from ipclab.stats.compare import FASTER, NOT_COMPARABLE, SAME, SLOWER, UNDECIDED, Comparison, Side
from ipclab.stats.independent import compare_runs, together

VERDICTS = (FASTER, SLOWER, SAME, UNDECIDED, NOT_COMPARABLE)
LIMITS = "limits"


@dataclass(frozen=True)
class Judged:
    """One op of one point of the first run, and what is known about the second run's over it."""

    point: Point
    op: str
    found: Comparison


@dataclass(frozen=True)
class Pairing:
    """Two runs: every point that both have (or have under other conditions), and those that only one has."""

    first: RunData
    second: RunData
    judged: Sequence[Judged]
    unshared: Sequence[Unshared]

    def counts(self, study: str | None = None) -> dict[str, int]:
        """Return how many points have each verdict, of one study or of all but the limits."""
        chosen = (each for each in self.judged if study == each.point.study or (study is None and not _limit(each)))
        found = Counter(each.found.verdict for each in chosen)
        return {verdict: found[verdict] for verdict in VERDICTS}

    def studies(self) -> list[str]:
        """Return the studies with a point in the comparison, in the order of their names, the limits first."""
        names = {each.point.study for each in self.judged}
        return sorted(names, key=lambda name: (name != LIMITS, name))

    def together(self) -> int | None:
        """Return how many points must differ clearly before the correction lets one be shown; None without points."""
        tested = [each.found.launches for each in self.judged if each.found.verdict != NOT_COMPARABLE]
        tested = [launches for launches in tested if all(launches)]
        return together(sorted(tested)[len(tested) // 2], len(tested)) if tested else None


def _limit(judged: Judged) -> bool:
    return judged.point.study == LIMITS


def pairing(first: RunData, second: RunData) -> Pairing:
    """Return the comparison of two runs, corrected for the number of points that both have."""
    found = match(first, second)
    judged = [*_shared(found), *_close(found)]
    judged.sort(key=lambda each: (each.point.study, each.point.id, each.op))
    return Pairing(first, second, judged, found.unshared)


def _shared(found: Matching) -> list[Judged]:
    compared = compare_runs([(_side(a), _side(b)) for a, b in found.shared])
    return [Judged(a.point, a.medians.op, each) for (a, _), each in zip(found.shared, compared, strict=True)]


def _side(measured: Measurement) -> Side:
    return Side(measured.medians.values, measured.conditions())


def _close(found: Matching) -> list[Judged]:
    made = []
    for a, b, names in found.close:
        launches = len(a.medians.values), len(b.medians.values)
        reason = f"differs:{','.join(names)}"
        made.append(Judged(a.point, a.medians.op, Comparison(NOT_COMPARABLE, reason, launches=launches)))
    return made
