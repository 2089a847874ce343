"""What may be taken in each contest, since it was not shown to be slower, in a reader's words."""

from collections.abc import Collection, Mapping
from math import isfinite
from typing import Any

import pandas as pd

from ipclab.bounds import states
from ipclab.frames.contests import CONTEST
from ipclab.lab.data import Data
from ipclab.report.appendix.advice import BY_LEVEL, named_entrant
from ipclab.stats.compare import SLOWER
from ipclab.stats.quantity import Quantity, missing
from ipclab.words.amounts import FEW_WITHIN
from ipclab.words.catalogue import N_

TAKEN = ("fastest", "tied", "shaken", "slower", "within", "next", "choice")
SEVERAL_STATES = N_("not told apart: {name} takes {fast} or {slow}")
BEATS_LIMIT = N_("not told apart: {name} takes less time than its limit, so that it is no measure")
NEEDS_IDLE = N_("{why}; needs an otherwise idle CPU: {names}")
HUNDREDTHS, LEAST_FACTOR = 2, 1.01  # of a factor that is told, and the least of one with a width
NAMED = 6  # mechanisms that are named before "any of" or "all but" says it shorter


def alike(lab: Data, study: str, **levels: Any) -> pd.DataFrame:
    """Return one row for each contest of `study` with `levels` that has more than one mechanism.

    Columns beside the contest's: `fastest`, `tied` (names: it, and what was not shown to be
    slower in each state of the fastest), `shaken` (how many only its slower state does not beat),
    `slower` (names), `within` (the factor that the intervals
    of the tied stay within; missing where they have no end), `next` (how many times as long the
    nearest slower one takes), and `choice`: what to take, in words, of one alone with who is next.

    >>> alike(lab, "shared_dict", placement="free", among="all")
    """
    return alike_heeded(lab, states.heeded(lab.run, study, lab.contests(study, **levels)))


def alike_heeded(lab: Data, compared: pd.DataFrame) -> pd.DataFrame:
    """Return `alike` of the contest rows that `frames.states.heeded` gives."""
    contests = compared.groupby(list(CONTEST))
    rows = [(*contest, *_taken(lab, rivals)) for contest, rivals in contests]
    return pd.DataFrame(rows, columns=[*CONTEST, *TAKEN])


def _taken(lab: Data, rivals: pd.DataFrame) -> tuple[Any, ...]:
    """Return `TAKEN`, the columns beside the contest's, of the rows of the rivals of its fastest."""
    is_slower = rivals.verdict == SLOWER
    equal = rivals[~is_slower]
    left_behind = rivals[is_slower]
    first = rivals.iloc[0]
    tied = [named_entrant(lab, name) for name in (first.fastest, *equal.other)]
    slower = {}
    ratios = zip(left_behind.ratio, left_behind.low, left_behind.high, strict=True)
    for other, (ratio, low, high) in zip(left_behind.other, ratios, strict=True):
        slower[named_entrant(lab, other)] = Quantity(ratio, "1", low, high)
    factor = _factor(equal)
    nearest = min(slower.values(), key=lambda ratio: ratio.value, default=missing())
    why = following(lab, slower) if len(tied) == 1 else _likeness(lab, equal, factor)
    needing = [first.busy, *equal.other_busy]
    busy = [name for name, needs in zip(tied, needing, strict=True) if needs]
    if busy:
        why = lab.say(NEEDS_IDLE, why=why, names=_listed(lab, busy))
    decided = not _beats_limit(equal)
    names = _names(lab, tied, list(slower), factor) if decided else lab.say(N_("undecided"))
    choice = lab.say(N_("{names} ({why})"), names=names, why=why)
    shaken = int(equal.verdict.eq(states.UNSTEADY).sum())
    return str(first.fastest), tied, shaken, list(slower), factor, nearest, choice


def _factor(equal: pd.DataFrame) -> Quantity:
    """Return the factor that all ratios of rivals that were not shown to be slower stay within."""
    if equal.empty or equal[["low", "high"]].isna().any(axis=None):
        return missing()
    low, high = (round(float(end), HUNDREDTHS) for end in (equal.low.min(), equal.high.max()))
    if low <= 0 or not isfinite(high):
        return missing()
    factor = max(high, 1 / low)
    least = LEAST_FACTOR if factor > 1 else 1.0
    return Quantity(max(round(factor, HUNDREDTHS), least), "1", kind="computed")


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


def _names(lab: Data, tied: list[str], slower: list[str], factor: Quantity) -> str:
    """Return the names of what may be taken, or which ones they are where these are many."""
    if len(tied) <= NAMED:
        return _listed(lab, tied)
    if len(slower) > NAMED:
        first = _listed(lab, tied[:NAMED])
        return lab.say(N_("{names} and {count} more"), names=first, count=len(tied) - NAMED)
    if slower:
        return lab.say(N_("all but {slower}"), slower=_listed(lab, slower))
    if _is_alike(factor):
        return lab.say(N_("any of {count}"), count=len(tied))
    return lab.say(N_("all {count}"), count=len(tied))


def _listed(lab: Data, names: Collection[str]) -> str:
    """Return names as a list, whose separator is none that stands within a name."""
    has_comma = any("," in name for name in names)
    return lab.words.joined(names, N_("; ") if has_comma else N_(", "))


def _likeness(lab: Data, equal: pd.DataFrame, factor: Quantity) -> str:
    """Return why rivals that were not shown to be slower than the fastest are named beside it."""
    unsteady = equal[equal.verdict == states.UNSTEADY]
    if len(unsteady):
        first = equal.iloc[0]
        name = named_entrant(lab, first.fastest)
        if _beats_limit(equal):
            return lab.say(BEATS_LIMIT, name=name)
        fast, slow = Quantity(first.fast, "ns"), Quantity(first.slow, "ns")
        return lab.say(SEVERAL_STATES, name=name, fast=fast, slow=slow)
    if not factor:
        return lab.say(N_("too few launches to tell"))
    alike = N_("alike within {factor:x}")
    apart = N_("not told apart in {launches:int} launches of each")
    fewest = min(int(count) for text in equal.launches for count in str(text).split("/"))
    why = lab.say(alike if _is_alike(factor) else apart, factor=factor, launches=fewest)
    return lab.say(BY_LEVEL, why=why) if equal.by_level.any() else why


def _beats_limit(equal: pd.DataFrame) -> bool:
    """Tell whether one is slower than both states of the first, and yet not told apart from it."""
    unsteady = equal[equal.verdict == states.UNSTEADY]
    return bool((unsteady.value >= unsteady.slow).any())


def _is_alike(factor: Quantity) -> bool:
    return bool(factor) and factor.value <= FEW_WITHIN
