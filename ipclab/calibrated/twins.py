"""What a calibration says: the judge's errors on identical code, and which slow-downs it found."""

from collections import Counter
from collections.abc import Iterable

import pandas as pd
from scipy.special import betaincinv

from ipclab.stats.compare import NOT_TESTED, SLOWER
from ipclab.stats.intervals import LEVEL
from ipclab.store.calibration import TwinCounts

STUDY = "calibration"
EXCHANGES = 10  # of an operation without a planted slow-down


class Counted(TwinCounts, frozen=True):
    """What was counted in one placement, and what it says of the judge."""

    @property
    def upper(self) -> float:
        """Return the share of alarms that is not exceeded with 95 % confidence.

        It is exact, since no two pairs share a contestant: 0.05 without alarm among 59 twins.
        """
        return rate_upper(self.alarms, self.twins, LEVEL)

    def often(self, share: str, least: float) -> bool:
        """Tell whether `least` of the slow-downs of a share that were planted were found."""
        return self.found.get(share, 0) >= least * self.planted.get(share, 0)


def total_counted(parts: Iterable[Counted]) -> Counted:
    """Return what was counted in all parts."""
    twins, alarms = 0, 0
    planted, found = Counter[str](), Counter[str]()
    for part in parts:
        twins, alarms = twins + part.twins, alarms + part.alarms
        planted.update(part.planted)
        found.update(part.found)
    return Counted(twins, alarms, dict(sorted(planted.items())), dict(sorted(found.items())))


def counted(contests: pd.DataFrame) -> dict[str, Counted]:
    """Return what the contest frame of the study `calibration` shows, by placement.

    A contest in which the slowed one looks fastest compares no twins and misses what was planted.
    """
    # a mechanism alone in its contest is compared with none, and what is not tested says nothing
    compared = contests[(contests.other != "") & (contests.verdict != NOT_TESTED)]
    return {str(name): _counted(part) for name, part in compared.groupby("placement")}


def _counted(part: pd.DataFrame) -> Counted:
    of_fastest, of_other = _planted(part.fastest), _planted(part.other)
    slower = part.verdict.eq(SLOWER)
    twins = (of_fastest == 0) & (of_other == 0)
    planted, found = Counter[str](), Counter[str]()
    for share in of_other[of_other > 0]:
        planted[f"{share:.2f}"] += 1
    for share in of_other[(of_other > 0) & slower]:
        found[f"{share:.2f}"] += 1
    for share in of_fastest[~part.question.duplicated() & (of_fastest > 0)]:
        planted[f"{share:.2f}"] += 1
    ends = int(twins.sum()), int((twins & slower).sum())
    return Counted(*ends, dict(sorted(planted.items())), dict(sorted(found.items())))


def _planted(names: pd.Series) -> pd.Series:
    """Return the planted share of entrants, each a mechanism and its exchanges."""
    return names.str.split().str[-1].astype(int) / EXCHANGES - 1


def rate_upper(hits: int, trials: int, level: float = (1 + LEVEL) / 2) -> float:
    """Return the upper bound of a rate at a one-sided `level`; the end of a 95 % interval.

    Clopper and Pearson, Biometrika 26, 1934, 404-413.
    """
    if hits == trials:
        return 1.0
    return float(betaincinv(hits + 1, trials - hits, level))
