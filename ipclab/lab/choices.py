"""What may be taken in each contest, since it was not shown to be slower, in a reader's words."""

from typing import Any

import pandas as pd

from ipclab.frames.contests import CONTEST
from ipclab.lab.advice import named_entrant
from ipclab.lab.catalogue import N_
from ipclab.lab.data import Data
from ipclab.lab.questions import within
from ipclab.stats.compare import SLOWER
from ipclab.stats.quantity import Quantity, missing

LOOSE = 2.0  # a factor beyond which nothing is called alike
NAMED = 6  # mechanisms that are named before "any of" or "all but" says it shorter


def alike(lab: Data, study: str, **levels: Any) -> pd.DataFrame:
    """Return one row for each contest of `study` with `levels` that has more than one mechanism.

    Columns beside the contest's: `tied` (names of what was not shown to be slower), `slower`
    (names), `within` (the factor that the intervals of the tied stay within; missing
    where they have no end), `next` (how many times as long the nearest slower one takes), and
    `choice`: what to take, in words.

    >>> alike(lab, "shared_dict", placement="free", among="all")
    """
    rows = []
    for contest, part in lab.contests(study, **levels).groupby(list(CONTEST)):
        rivals = part[part.other != ""]
        if len(rivals):
            rows.append((*contest, *_taken(lab, rivals)))
    return pd.DataFrame(rows, columns=[*CONTEST, "tied", "slower", "within", "next", "choice"])


def _taken(lab: Data, rivals: pd.DataFrame) -> tuple[Any, ...]:
    """Return the columns beside the contest's, of the rows of the rivals of its fastest."""
    is_slower = rivals.verdict == SLOWER
    equal = rivals[~is_slower]
    left_behind = rivals[is_slower]
    fastest = str(rivals.fastest.iloc[0])
    tied = [named_entrant(lab, name) for name in (fastest, *equal.other)]
    slower = [named_entrant(lab, name) for name in left_behind.other]
    factor = _factor(equal)
    nearest = _nearest(left_behind)
    return tied, slower, factor, nearest, _choice(lab, tied, slower, factor, nearest)


def _factor(equal: pd.DataFrame) -> Quantity:
    """Return the factor that all ratios of rivals that were not shown to be slower stay within."""
    if equal.empty or equal[["low", "high"]].isna().any(axis=None):
        return missing()
    low = float(equal.low.min())
    high = float(equal.high.max())
    return within(Quantity(1.0, "1", low, high), 1)


def _nearest(slower: pd.DataFrame) -> Quantity:
    """Return how many times as long the nearest of the slower ones takes."""
    if slower.empty:
        return missing()
    nearest = slower.sort_values("ratio").iloc[0]
    return Quantity(nearest.ratio, "1", nearest.low, nearest.high)


def _choice(
    lab: Data,
    tied: list[str],
    slower: list[str],
    factor: Quantity,
    nearest: Quantity,
) -> str:
    if len(tied) <= NAMED:
        has_comma = any("," in name for name in tied)
        names = lab.words.joined(tied, N_("; ") if has_comma else N_(", "))
    elif slower:
        names = lab.say(N_("all but {slower}"), slower=lab.words.joined(slower))
    else:
        names = lab.say(N_("any of {count}"), count=len(tied))
    return lab.say(
        N_("{names} ({why})"),
        names=names,
        why=_why(lab, tied, factor, nearest),
    )


def _why(
    lab: Data,
    tied: list[str],
    factor: Quantity,
    nearest: Quantity,
) -> str:
    if len(tied) == 1:
        return lab.say(N_("the next takes {ratio:x}"), ratio=nearest)
    if not factor:
        return lab.say(N_("too few launches to tell"))
    if factor.value > LOOSE:
        return lab.say(N_("not told apart within {factor:x}"), factor=factor)
    return lab.say(N_("alike within {factor:x}"), factor=factor)
