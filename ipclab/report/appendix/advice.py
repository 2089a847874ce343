"""Advice: of each contest the best guess, its evidence, and what would decide."""

import re
from typing import Any

import numpy as np
import pandas as pd

from ipclab.bounds import states
from ipclab.frames.contests import CONTEST
from ipclab.lab.data import Data
from ipclab.report.appendix.about import sessions
from ipclab.session.questions import comparison_of
from ipclab.stats.compare import EQUIVALENCE, NOT_TESTED, SAME, SLOWER
from ipclab.stats.enough import launches_more
from ipclab.stats.quantity import Quantity
from ipclab.words import labels
from ipclab.words.amounts import FEW_WITHIN
from ipclab.words.catalogue import N_
from ipclab.words.words import DASH

STRENGTHS, ROLES = labels.WORDS["strengths"], labels.WORDS["roles"]
STRONG, PART, LEAST, NONE = "strong", "part", "least", "none"
STATES = "states"  # in its slower state the guess is not the fastest
# Two kinds of strong: there is one rival alone, and no rival was shown to be slower.
ONLY, ALIKE = "only", "alike"
GUESS_NOTES = tuple(labels.WORDS["advice"].values())
ADVICE = (
    "guess",
    "best",
    "rivals",
    "shown",
    "strength",
    "second",
    "ratio",
    "low",
    "high",
    "slower",
    "within",
    "loss",
    "slowest",
    "times",
    "more",
    "slow",
    "busy",
    "by_level",
)
TOLD = ("guess", "evidence", "second", "price", "more")
BY_LEVEL = N_("{why}: level of the contest")  # where the intervals of two medians lie apart
MANY = 1000  # launches that nobody will measure
MOST_LOSS = 10.0  # the share that a wrong choice may cost; more is told as that
_ROLE = re.compile(r"(\d+)(SYNC|RnC|CnR|R|C)")


def advised(contests: pd.DataFrame, bound: float = EQUIVALENCE) -> pd.DataFrame:
    """Return one row for each contest of several mechanisms, in the frame's order.

    Columns beside those of the contest: `guess` (the least median, `best` ns), `rivals` (how many),
    `shown` (how many of them were shown to be slower), `strength` (`strong`: each rival was shown
    to be slower or the same, `only`: the one that there is to be slower, `alike`: all to be the
    same; `part`: some were, `least`: none, `none`: too few launches to show any, `states`: some were,
    but not in the slower state of the guess), `second` with its `ratio` to the guess from `low` to
    `high` and whether it is `slower`, `within` (the factor within which all are alike, or
    undecided), `loss` (the share that the guess may take longer than the best rival by the
    intervals, or by its own states; NaN where these have no end), `slowest` and how many `times` as
    long it takes, `more`: the launches that are estimated to decide between guess and nearest
    undecided rival, beyond those that there are; 0 where all is decided, and of the guess `slow`
    (ns), its slower state, `busy`, whether it needs a CPU that is otherwise idle, and `by_level`,
    whether it is the level of their contest that leaves guess and second undecided. `contests` are
    rows that `frames.states.heeded` gives.
    """
    rows = []
    rivals = contests.astype({"low": float, "high": float})
    for contest, part in rivals.groupby(list(CONTEST), sort=False):
        guess = _guess(part.sort_values("ratio", kind="stable"), bound)
        rows.append(dict(zip(CONTEST, contest, strict=True)) | guess)
    return pd.DataFrame(rows, columns=[*CONTEST, *ADVICE])


def _guess(rivals: pd.DataFrame, bound: float) -> dict[str, Any]:
    """Return the values of `ADVICE` for the rivals of one guess, ordered by their medians."""
    decided = rivals.verdict.isin([SLOWER, SAME])
    unsteady = rivals[rivals.verdict == states.UNSTEADY]
    undecided = rivals[~decided].drop(unsteady.index)
    second = rivals.iloc[0]
    losses = [*(1 / undecided.low - 1), *(unsteady.slow / unsteady.value - 1)]
    slowest = rivals.sort_values("ratio", kind="stable").iloc[-1]
    more = 0.0
    if len(undecided):
        more = launches_more(comparison_of(undecided.iloc[0].to_dict()), bound)
    return {
        "guess": str(second.fastest),
        "best": float(second.best),
        "rivals": len(rivals),
        "shown": int((rivals.verdict == SLOWER).sum()),
        "strength": _strength(rivals, decided),
        "second": str(second.other),
        "ratio": second.ratio,
        "low": second.low,
        "high": second.high,
        "slower": second.verdict in (SLOWER, states.UNSTEADY),
        "within": np.max([rivals.high, 1 / rivals.low]),  # NaN where an interval has no end
        "loss": float(np.max([0.0, *losses])),
        "slowest": str(slowest.other),
        "times": slowest.ratio,
        "more": more,
        "slow": float(second.slow),
        "busy": bool(second.busy),
        "by_level": bool(second.by_level),
    }


def _strength(rivals: pd.DataFrame, decided: "pd.Series[bool]") -> str:
    if rivals.verdict.eq(states.UNSTEADY).any():
        return STATES
    if decided.all():
        slower = int((rivals.verdict == SLOWER).sum())
        if not slower:
            return ALIKE
        return ONLY if len(rivals) == 1 else STRONG
    if decided.any():
        return PART
    return NONE if (rivals.verdict == NOT_TESTED).all() else LEAST


def guesses(lab: Data, study: str, **levels: Any) -> pd.DataFrame:
    """Return, for each contest of `study` with `levels`, what `advised` gives of it, in words.

    Columns beside the contest's: guess, evidence, second, price, more, to be shown with
    `GUESS_NOTES`.

    >>> guesses(lab, "round_trip", placement="same", among="sleeping")
    """
    found = states.heeded(lab.run, study, lab.contests(study, **levels))
    rows = advised(found, lab.run.questions.same)
    cells = [_in_words(lab, row) for row in rows.itertuples()]
    words = pd.DataFrame(cells, rows.index, columns=list(TOLD))
    return rows.drop(columns=list(TOLD), errors="ignore").join(words)


def named_entrant(lab: Data, name: str) -> str:
    """Return an entrant's name in words: a mechanism, or a way to read with threads' roles.

    >>> named_entrant(lab, "overlapped 2RnC+2C")
    'read, overlapped: 2 read all, then compute; 2 only compute (2RnC+2C)'
    """
    way, _, code = name.rpartition(" ")
    parts = _ROLE.findall(code)
    if not parts or "+".join(map("".join, parts)) != code:
        return lab.level("", name)
    said_roles = [lab.say(ROLES[role], n=int(count)) for count, role in parts]
    roles = lab.words.joined(said_roles, N_("; "))
    said = N_("{way}: {roles} ({code})") if way else N_("{roles} ({code})")
    return lab.say(
        said,
        way=lab.level("", way),
        roles=roles,
        code=code,
    )


def _in_words(lab: Data, row: Any) -> dict[str, str]:
    """Return the values of `TOLD` of one contest."""
    named = N_("{name} ({text})")
    numbers = lab.words.numbers
    bounded = pd.notna([row.low, row.high]).all()
    if bounded and not row.slower:
        factor = Quantity(max(row.high, 1 / row.low))
        far = factor.value > FEW_WITHIN
        ratio = lab.say(N_("undecided") if far else N_("within {within:x}"), within=factor)
        ratio = lab.say(BY_LEVEL, why=ratio) if row.by_level else ratio
    else:
        ends = (row.low, row.high) if bounded else ()
        ratio = numbers.format(Quantity(row.ratio, "1", *ends), "x,interval")
    best = numbers.format(Quantity(row.best, "ns"))
    evidence = lab.say(
        STRENGTHS[row.strength],
        shown=row.shown,
        rivals=row.rivals,
        all=row.rivals + 1,
        within=Quantity(row.within),
        slow=Quantity(row.slow, "ns"),
    )
    guess = N_("{name} ({text}; needs an otherwise idle CPU)") if row.busy else named
    return {
        "guess": lab.say(guess, name=named_entrant(lab, row.guess), text=best),
        "evidence": evidence,
        "second": lab.say(named, name=named_entrant(lab, row.second), text=ratio),
        "price": _price(lab, row),
        # of a guess that only its own slower state leaves open, none are missing
        "more": DASH if row.strength == STATES and not row.more else _launches(lab, row.more),
    }


def _price(lab: Data, row: Any) -> str:
    """Return what a wrong choice costs: what the guess may lose, and how slow the slowest is."""
    numbers = lab.words.numbers
    most = numbers.format(Quantity(min(row.loss, MOST_LOSS), "share"), "pct,int")
    slowest = numbers.format(Quantity(row.times, "1"), "x")
    if not row.loss:
        said = N_("slowest {slowest}")
    elif pd.isna(row.loss):
        said = N_("not bounded; slowest {slowest}")
    elif row.loss > MOST_LOSS:
        said = N_("over {most}; slowest {slowest}")
    else:
        said = N_("up to {most}; slowest {slowest}")
    return lab.say(said, most=most, slowest=slowest)


def _launches(lab: Data, more: float) -> str:
    """Return an estimated number of launches, or of sessions where these are compared."""
    _, between = sessions(lab)
    if between and more:
        return lab.say(N_("{count} sessions"), count=_estimated(lab, more))
    return _estimated(lab, more)


def _estimated(lab: Data, more: float) -> str:
    """Return an estimated number, to two digits."""
    few = int(min(more, MANY))
    rounded = round(few, 2 - len(str(few)))
    number = lab.words.numbers.number(rounded, 0)
    return lab.say(N_("over {many}"), many=number) if more > MANY else number
