"""Advice in a reader's words: for each use the best guess, its evidence, the second best, a wrong choice's price."""

import re
from collections.abc import Callable
from typing import Any

import pandas as pd

from ipclab.frames.advice import LEAST, NONE, PART, STRONG, advised
from ipclab.lab.catalogue import N_
from ipclab.lab.data import Data
from ipclab.stats.quantity import Quantity

STRENGTHS = {
    STRONG: N_("strong: {shown} of {rivals} shown to be slower, none left open"),
    PART: N_("medium: {shown} of {rivals} shown to be slower"),
    LEAST: N_("weak: least median of {all}, no difference shown"),
    NONE: N_("none yet: least median of {all}, too few launches to test"),
}
TOLD = ("guess", "evidence", "second", "price", "more")
NOTES = (
    N_("Best guess: the least median, with its time. Second best: the next one, with how many times as long it takes."),
    N_("A wrong choice: what the guess may cost over the true best, by the intervals; and what the slowest costs."),
    N_("More launches: an estimate for telling the guess from its nearest rival, or for showing both to be the same."),
)
MANY = 1000  # launches that nobody will measure
_ROLE = re.compile(r"(\d+)(SYNC|RnC|CnR|R|C)")
ROLES = {
    "SYNC": N_("{n} read and compute in turn"),
    "RnC": N_("{n} read all, then compute"),
    "CnR": N_("{n} compute, then read"),
    "R": N_("{n} only read"),
    "C": N_("{n} only compute"),
}


def advice(lab: Data, found: pd.DataFrame, named: Callable[[str], str] | None = None) -> pd.DataFrame:
    """Return what `frames.advice.advised` gives of a contest frame, with the columns `TOLD` in words in its place.

    `named` writes an entrant's name, by default as its level.
    """
    rows = advised(found, lab.bound.value or 0.0)
    told = [dict(zip(TOLD, _told(lab, row, named or (lambda name: named_entrant(lab, name))), strict=True))
            for row in rows.itertuples()]  # fmt: skip
    return rows.drop(columns=list(TOLD), errors="ignore").join(pd.DataFrame(told, rows.index, columns=list(TOLD)))


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


def _told(lab: Data, row: Any, named: Callable[[str], str]) -> tuple[str, str, str, str, str]:
    show = lab.numbers.format
    guess = lab.say(N_("{name} ({text})"), name=named(row.guess), text=show(Quantity(row.best, "ns")))
    counts = {"shown": int(row.shown), "rivals": int(row.rivals), "all": int(row.rivals) + 1}
    known = not pd.isna([row.low, row.high]).any()
    ratio = Quantity(row.ratio, "1", *((row.low, row.high) if known else ()))
    second = lab.say(N_("{name} ({text})"), name=named(row.second), text=show(ratio, "x,interval"))
    most, slowest = Quantity(row.loss, "share"), show(Quantity(row.times, "1"), "x")
    price = lab.say(N_("slowest {slowest}"), slowest=slowest)
    if row.loss:
        said = N_("not bounded; slowest {slowest}") if pd.isna(row.loss) else N_("up to {most}; slowest {slowest}")
        price = lab.say(said, most=show(most, "pct,int"), slowest=slowest)
    many = lab.say(N_("over {many}"), many=lab.numbers.number(MANY, 0))
    more = many if row.more > MANY else lab.numbers.number(_rounded(int(row.more)), 0)
    return guess, lab.say(STRENGTHS[row.strength], **counts), second, price, more


def _rounded(count: int) -> int:
    """Return a number of launches in two digits: an estimate."""
    return round(count, 1 - len(str(count)) + 1)
