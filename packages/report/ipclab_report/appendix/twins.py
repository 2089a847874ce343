"""What a run's calibration says: its judge's errors on identical code, slow-downs found."""

from typing import Any

import pandas as pd
from scipy.special import betaincinv

from ipclab.stats.compare import NOT_TESTED, SLOWER
from ipclab.stats.intervals import LEVEL

STUDY = "calibration"
EXCHANGES = 10  # of an operation without a planted slow-down


def rows(contests: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a row for each placement of the contest frame of the study `calibration`.

    Of the `comparisons` of twins that launches could tell apart, `false_alarms` called one of the
    two slower: a share of at most `upper` with 95 % confidence, since no two pairs share a
    contestant. `found` gives for each planted share how many of the `trials` (contests) called it
    slower; the fastest itself was not.
    """
    # a mechanism alone in its contest is compared with none
    compared = contests[contests.other != ""]
    return [{"placement": str(name), **_row(part)} for name, part in compared.groupby("placement")]


def _row(part: pd.DataFrame) -> dict[str, Any]:
    planted = part.other.str.split().str[-1].astype(int) / EXCHANGES - 1
    same = planted.eq(0)
    slower = part.verdict.eq(SLOWER)
    count = int((same & part.verdict.ne(NOT_TESTED)).sum())
    alarms = int((slower & same).sum())
    found_of = {
        f"{share:.2f}": int(slower[planted == share].sum())
        for share in sorted(planted[~same].unique())
    }
    head = {"trials": part.question.nunique(), "comparisons": count, "false_alarms": alarms}
    return {**head, "upper": rate_upper(alarms, count), "found": found_of}


def rate_upper(hits: int, trials: int) -> float:
    """Return the upper end of a rate's exact 95 % interval.

    Clopper and Pearson, Biometrika 26, 1934, 404-413.
    """
    if hits == trials:
        return 1.0
    return float(betaincinv(hits + 1, trials - hits, (1 + LEVEL) / 2))
