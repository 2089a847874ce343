"""Advice: of each contest the best guess, how strong its evidence is, what comes second, and what would decide."""

import math
from typing import Any

import pandas as pd

from ipclab.frames.contests import CONTEST
from ipclab.stats.compare import EQUIVALENCE, NOT_TESTED, SAME, SLOWER, power_step
from ipclab.stats.family import launches_needed

STRONG, PART, LEAST, NONE = "strong", "part", "least", "none"
ADVICE = (
    *("guess", "best", "rivals", "shown", "strength"),
    *("second", "ratio", "low", "high", "loss", "slowest", "times", "more"),
)


def advised(found: pd.DataFrame, bound: float = EQUIVALENCE) -> pd.DataFrame:
    """Return one row for each contest of more than one mechanism in a contest frame, in the frame's order.

    Columns beside those of the contest: `guess` (the least median, `best` ns), `rivals` (how many), `shown` (how many
    of them were shown to be slower), `strength` (`strong`: each rival was shown to be slower or the same, `part`: some
    were, `least`: none, `none`: too few launches to show any), `second` with its `ratio` to the guess from `low` to
    `high`, `loss` (the share that the guess may take longer than the best rival by the intervals; NaN where these
    have no end), `slowest` and how many `times` as long it takes, and `more`: the launches that are estimated to
    decide between guess and nearest undecided rival, beyond those that there are; 0 where all is decided.
    """
    groups = [(key, part[part.other != ""]) for key, part in found.groupby(list(CONTEST), sort=False)]
    rows = [{**dict(zip(CONTEST, key, strict=True)), **_advice(part, bound)} for key, part in groups if len(part)]
    return pd.DataFrame(rows, columns=[*CONTEST, *ADVICE])


def _advice(rivals: pd.DataFrame, bound: float) -> dict[str, Any]:
    rivals = rivals.sort_values("value", kind="stable")
    slower, known = rivals.verdict == SLOWER, rivals.verdict.isin([SLOWER, SAME])
    second, last, open_ones = rivals.iloc[0], rivals.sort_values("ratio").iloc[-1], rivals[~known]
    some = PART if known.any() else NONE if (rivals.verdict == NOT_TESTED).all() else LEAST
    ends = open_ones.low.astype(float)
    loss = float("nan") if ends.isna().any() else max([0.0, *(1 / ends - 1)])
    more = _more(open_ones.iloc[0], len(rivals) + 1, bound) if len(open_ones) else 0
    values = (
        *(str(second.fastest), float(second.best), len(rivals), int(slower.sum()), STRONG if known.all() else some),
        *(str(second.other), second.ratio, second.low, second.high, loss, str(last.other), last.ratio, more),
    )
    return dict(zip(ADVICE, values, strict=True))


def _more(rival: Any, mechanisms: int, bound: float) -> int:
    """Return how many launches more would show a rival to be slower, or the same: whichever needs fewer.

    The ratio is taken as it was found, and the width of its interval as shrinking with the root of the launches
    (see `stats.compare.power_step`).
    """
    launches = min(map(int, str(rival.launches).split("/")))
    step = None if pd.isna(rival.low) or pd.isna(rival.high) else power_step(rival.low, rival.high, rival.level)
    least = max(1, launches_needed(mechanisms) - launches)
    if step is None:
        return least
    apart = abs(math.log(rival.ratio))
    margin = max(apart, math.log1p(bound) - apart)  # to one, or to what counts as the same
    return max(1, math.ceil(launches * (step / margin) ** 2) - launches)
