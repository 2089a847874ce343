"""Advice: of each contest the best guess, its evidence, the second best, a wrong choice's price, what would decide."""

import math
import re
from typing import Any

import pandas as pd

from ipclab.frames.contests import CONTEST
from ipclab.lab import labels
from ipclab.lab.catalogue import N_
from ipclab.lab.data import Data
from ipclab.stats.compare import EQUIVALENCE, NOT_TESTED, SAME, SLOWER, power_step
from ipclab.stats.family import launches_needed
from ipclab.stats.quantity import Quantity

STRENGTHS, ROLES = labels.SAID["strengths"], labels.SAID["roles"]
STRONG, PART, LEAST, NONE = "strong", "part", "least", "none"
NOTES = tuple(labels.SAID["advice"].values())
GUESS = ("guess", "best", "rivals", "shown", "strength")
ADVICE = (*GUESS, "second", "ratio", "low", "high", "loss", "slowest", "times", "more")
TOLD = ("guess", "evidence", "second", "price", "more")
MANY = 1000  # launches that nobody will measure
_ROLE = re.compile(r"(\d+)(SYNC|RnC|CnR|R|C)")


def advised(found: pd.DataFrame, bound: float = EQUIVALENCE) -> pd.DataFrame:
    """Return one row for each contest of more than one mechanism in a contest frame, in the frame's order.

    Columns beside those of the contest: `guess` (the least median, `best` ns), `rivals` (how many), `shown` (how many
    of them were shown to be slower), `strength` (`strong`: each rival was shown to be slower or the same, `part`: some
    were, `least`: none, `none`: too few launches to show any), `second` with its `ratio` to the guess from `low` to
    `high`, `loss` (the share that the guess may take longer than the best rival by the intervals; NaN where these
    have no end), `slowest` and how many `times` as long it takes, and `more`: the launches that are estimated to
    decide between guess and nearest undecided rival, beyond those that there are; 0 where all is decided.
    """
    groups = found[found.other != ""].groupby(list(CONTEST), sort=False)
    rows = [(*key, *_advice(part.sort_values("value", kind="stable"), bound)) for key, part in groups]
    return pd.DataFrame(rows, columns=[*CONTEST, *ADVICE])


def _advice(rivals: pd.DataFrame, bound: float) -> tuple[Any, ...]:
    """Return the values of `ADVICE` for the rivals of one guess, ordered by their medians."""
    slower, known = rivals.verdict == SLOWER, rivals.verdict.isin([SLOWER, SAME])
    second, last, open_ones = rivals.iloc[0], rivals.sort_values("ratio").iloc[-1], rivals[~known]
    some = PART if known.any() else NONE if (rivals.verdict == NOT_TESTED).all() else LEAST
    ends = open_ones.low.astype(float)
    loss = float("nan") if ends.isna().any() else max([0.0, *(1 / ends - 1)])
    more = _more(open_ones.iloc[0], len(rivals) + 1, bound) if len(open_ones) else 0
    evidence = (len(rivals), int(slower.sum()), STRONG if known.all() else some)
    ratio = (str(second.other), second.ratio, second.low, second.high)
    return (str(second.fastest), float(second.best), *evidence, *ratio, loss, str(last.other), last.ratio, more)


def _more(rival: Any, mechanisms: int, bound: float) -> int:
    """Return how many launches more would show a rival to be slower, or the same: whichever needs fewer.

    The ratio is taken as it was found, and the width of its interval as shrinking with the root of the launches
    (see `stats.compare.power_step`).
    """
    launches = min(map(int, str(rival.launches).split("/")))
    step = None if pd.isna(rival.low) or pd.isna(rival.high) else power_step(rival.low, rival.high, rival.level)
    if step is None:
        return max(1, launches_needed(mechanisms) - launches)
    apart = abs(math.log(rival.ratio))
    margin = max(apart, math.log1p(bound) - apart)  # to one, or to what counts as the same
    return max(1, math.ceil(launches * (step / margin) ** 2) - launches)


def advice(lab: Data, study: str, **levels: Any) -> pd.DataFrame:
    """Return, for each contest of `study` with `levels`, what `advised` gives of it, in words.

    Columns beside the contest's: guess, evidence, second, price, more, to be shown with the notes `lab.advice_notes`.

    >>> lab.advice("round_trip", placement="same", among="sleeping")
    """
    rows = advised(lab.contests(study, **levels), lab.bound.value or 0.0)
    told = pd.DataFrame([_told(lab, row) for row in rows.itertuples()], rows.index, columns=list(TOLD))
    return rows.drop(columns=list(TOLD), errors="ignore").join(told)


def named_entrant(lab: Data, name: str) -> str:
    """Return an entrant's name in words: a mechanism, or a way to read with the roles of its threads.

    >>> named_entrant(lab, "overlapped 2RnC+2C")
    'read, overlapped: 2 read all, then compute; 2 only compute (2RnC+2C)'
    """
    way, _, code = name.rpartition(" ")
    parts = _ROLE.findall(code)
    if not parts or "+".join(map("".join, parts)) != code:
        return lab.level("", name)
    roles = lab.joined((lab.say(ROLES[role], n=int(count)) for count, role in parts), N_("; "))
    said = N_("{way}: {roles} ({code})") if way else N_("{roles} ({code})")
    return lab.say(said, way=lab.level("", way), roles=roles, code=code)


def _told(lab: Data, row: Any) -> tuple[str, str, str, str, str]:
    show, named = lab.numbers.format, N_("{name} ({text})")
    guess = lab.say(named, name=named_entrant(lab, row.guess), text=show(Quantity(row.best, "ns")))
    counts = {"shown": int(row.shown), "rivals": int(row.rivals), "all": int(row.rivals) + 1}
    ends = () if pd.isna([row.low, row.high]).any() else (row.low, row.high)
    ratio = show(Quantity(row.ratio, "1", *ends), "x,interval")
    second = lab.say(named, name=named_entrant(lab, row.second), text=ratio)
    bounded = N_("not bounded; slowest {slowest}") if pd.isna(row.loss) else N_("up to {most}; slowest {slowest}")
    most, slowest = show(Quantity(row.loss, "share"), "pct,int"), show(Quantity(row.times, "1"), "x")
    price = lab.say(bounded if row.loss else N_("slowest {slowest}"), most=most, slowest=slowest)
    rounded = round(int(row.more), 2 - len(str(int(row.more))))  # to two digits: it is an estimate
    more = lab.numbers.number(min(rounded, MANY), 0)
    more = lab.say(N_("over {many}"), many=more) if row.more > MANY else more
    return guess, lab.say(STRENGTHS[row.strength], **counts), second, price, more
