"""What may be taken in each contest, since it was not shown to be slower, in a reader's words."""

from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd

from ipclab.frames.contests import CONTEST
from ipclab.lab.advice import named_entrant
from ipclab.lab.catalogue import N_
from ipclab.lab.data import Data
from ipclab.lab.questions import MOST_WITHIN, within
from ipclab.stats.compare import SLOWER
from ipclab.stats.quantity import Quantity, missing

TAKEN = ("fastest", "tied", "slower", "within", "next", "choice")
NAMED = 6  # mechanisms that are named before "any of" or "all but" says it shorter


def alike(lab: Data, study: str, **levels: Any) -> pd.DataFrame:
    """Return one row for each contest of `study` with `levels` that has more than one mechanism.

    Columns beside the contest's: `fastest`, `tied` (names: it, and what was not shown to be
    slower), `slower` (names), `within` (the factor that the intervals of the tied stay within;
    missing where they have no end), `next` (how many times as long the nearest slower one takes),
    and `choice`: what to take, in words, of one alone with who is next.

    >>> alike(lab, "shared_dict", placement="free", among="all")
    """
    rows = []
    for contest, part in lab.contests(study, **levels).groupby(list(CONTEST)):
        rivals = part[part.other != ""]
        if len(rivals):
            rows.append((*contest, *_taken(lab, rivals)))
    return pd.DataFrame(rows, columns=[*CONTEST, *TAKEN])


def _taken(lab: Data, rivals: pd.DataFrame) -> tuple[Any, ...]:
    """Return `TAKEN`, the columns beside the contest's, of the rows of the rivals of its fastest."""
    is_slower = rivals.verdict == SLOWER
    equal = rivals[~is_slower]
    left_behind = rivals[is_slower]
    fastest = str(rivals.fastest.iloc[0])
    tied = [named_entrant(lab, name) for name in (fastest, *equal.other)]
    slower = {}
    ratios = zip(left_behind.ratio, left_behind.low, left_behind.high, strict=True)
    for other, (ratio, low, high) in zip(left_behind.other, ratios, strict=True):
        slower[named_entrant(lab, other)] = Quantity(ratio, "1", low, high)
    factor = _factor(equal)
    nearest = min(slower.values(), key=lambda ratio: ratio.value, default=missing())
    return fastest, tied, list(slower), factor, nearest, _choice(lab, tied, slower, factor)


def _factor(equal: pd.DataFrame) -> Quantity:
    """Return the factor that all ratios of rivals that were not shown to be slower stay within."""
    if equal.empty or equal[["low", "high"]].isna().any(axis=None):
        return missing()
    low = float(equal.low.min())
    high = float(equal.high.max())
    return within(Quantity(1.0, "1", low, high), 1)


def following(lab: Data, slower: Mapping[str, Quantity]) -> str:
    """Return who is next after the fastest, in words: several where their ratios look the same.

    `slower` are how many times as long the others take, by name.
    """
    by_ratio = sorted(slower.items(), key=lambda named: named[1].value)
    written = {name: lab.words.numbers.format(ratio, "x") for name, ratio in by_ratio}
    nearest, ratio = by_ratio[0]
    names = [name for name, text in written.items() if text == written[nearest]]
    said = N_("next: {names}, {ratio:x} as long")
    return lab.say(said, names=_listed(lab, names), ratio=ratio)


def _choice(
    lab: Data,
    tied: list[str],
    slower: Mapping[str, Quantity],
    factor: Quantity,
) -> str:
    if len(tied) <= NAMED:
        names = _listed(lab, tied)
    elif slower:
        names = lab.say(N_("all but {slower}"), slower=_listed(lab, slower))
    elif _is_alike(factor):
        names = lab.say(N_("any of {count}"), count=len(tied))
    else:
        names = lab.say(N_("{count} mechanisms"), count=len(tied))
    why = following(lab, slower) if len(tied) == 1 else _likeness(lab, factor)
    return lab.say(N_("{names} ({why})"), names=names, why=why)


def _listed(lab: Data, names: Collection[str]) -> str:
    """Return names as a list, whose separator is none that stands within a name."""
    has_comma = any("," in name for name in names)
    return lab.words.joined(names, N_("; ") if has_comma else N_(", "))


def _likeness(lab: Data, factor: Quantity) -> str:
    if not factor:
        return lab.say(N_("too few launches to tell"))
    if not _is_alike(factor):
        return lab.say(N_("not told apart in this run"))
    return lab.say(N_("alike within {factor:x}"), factor=factor)


def _is_alike(factor: Quantity) -> bool:
    return bool(factor) and factor.value <= MOST_WITHIN
