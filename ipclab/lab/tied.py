"""What may be taken: of each contest what was not shown to be slower, and within which factor it is
alike.
"""

from typing import Any

import pandas as pd

from ipclab.frames.contests import CONTEST, winners
from ipclab.lab.advice import named_entrant
from ipclab.lab.catalogue import N_
from ipclab.lab.data import Data
from ipclab.lab.questions import within
from ipclab.stats.compare import SLOWER
from ipclab.stats.quantity import Quantity, missing

LOOSE = 2.0  # a factor beyond which nothing is called alike
NAMED = 3  # mechanisms that are named before "any of" or "all but" says it shorter


def alike(lab: Data, study: str, **levels: Any) -> pd.DataFrame:
    """Return one row for each contest of `study` with `levels` that has more than one mechanism.

    Columns beside the contest's: `tied` (names of what was not shown to be slower), `slower`
    (names), `within` (the factor that the intervals of the tied stay within, rounded up; missing
    where they have no end), `next` (how many times as long the nearest slower one takes), and
    `choice`: what to take, in words.

    >>> alike(lab, "shared_dict", placement="free", among="all")
    """
    found = lab.contests(study, **levels)
    rows = []
    for row in winners(found).to_dict("records"):
        if len(row["tied"]) + len(row["slower"]) > 1:
            rivals = _rivals(found, row)
            factor, nearest = _factor(rivals), _next(rivals)
            tied = [named_entrant(lab, name) for name in row["tied"]]
            slower = [named_entrant(lab, name) for name in row["slower"]]
            told = {"tied": tied, "slower": slower, "within": factor, "next": nearest}
            told["choice"] = _choice(lab, tied, slower, factor, nearest)
            rows.append({name: row[name] for name in CONTEST} | told)
    return pd.DataFrame(rows, columns=[*CONTEST, "tied", "slower", "within", "next", "choice"])


def _rivals(found: pd.DataFrame, row: dict[Any, Any]) -> pd.DataFrame:
    same = (found[list(CONTEST)] == pd.Series({name: row[name] for name in CONTEST})).all(
        axis="columns"
    )
    return found[same & (found.other != "")]


def _factor(rivals: pd.DataFrame) -> Quantity:
    """Return the factor that all ratios of rivals that were not shown to be slower stay within."""
    tied = rivals[rivals.verdict != SLOWER]
    if tied.empty or tied[["low", "high"]].isna().any(axis=None):
        return missing()
    return within(Quantity(1.0, "1", float(tied.low.min()), float(tied.high.max())), 1)


def _next(rivals: pd.DataFrame) -> Quantity:
    slower = rivals[rivals.verdict == SLOWER].sort_values("ratio")
    for row in slower.to_dict("records"):
        return Quantity(row["ratio"], "1", row["low"], row["high"])
    return missing()


def _choice(lab: Data, tied: list[str], slower: list[str], within: Quantity, next: Quantity) -> str:
    names = lab.words.joined(tied, N_("; ") if any("," in name for name in tied) else N_(", "))
    if not slower and len(tied) > NAMED:
        names = lab.say(N_("any of {count}"), count=len(tied))
    elif len(tied) > NAMED:
        names = lab.say(N_("all but {slower}"), slower=lab.words.joined(slower))
    return lab.say(N_("{names} ({why})"), names=names, why=_why(lab, tied, within, next))


def _why(lab: Data, tied: list[str], within: Quantity, next: Quantity) -> str:
    if len(tied) == 1:
        return lab.say(N_("the next takes {ratio:x}"), ratio=next)
    if not within:
        return lab.say(N_("too few launches to tell"))
    if within.value > LOOSE:
        return lab.say(N_("not told apart within {factor:x}"), factor=within)
    return lab.say(N_("alike within {factor:x}"), factor=within)
