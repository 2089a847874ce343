"""How a run differs from what its text did, in words: as a table, in a line, for each arm."""

from collections.abc import Collection, Iterable
from typing import Any

import pandas as pd

from ipclab.claims.claim import FAILS, HOLDS, NOT_TESTABLE
from ipclab.claims.faithful import (
    LACKING,
    OTHER,
    SAME,
    TIMES,
    UNSTATED,
    Faithfulness,
    faithfulness,
    has_another,
)
from ipclab.lab.data import Data
from ipclab.stats.quantity import Quantity
from ipclab.tables.table import Table
from ipclab.tables.tabulation import tabulated
from ipclab.words.catalogue import N_

SAID = {
    SAME: N_("the same"),  # "same" alone is a level
    TIMES: N_("× {k}"),
    LACKING: N_("not run here: {levels} ({why})"),
    OTHER: N_("other"),
    UNSTATED: N_("not stated"),
}
NOT_RUN = N_("not run here")
RANGE = N_("{low} to {high}")
CHANGES = N_("{k} of {n} values, {low} to {high} times")
DECIDED = N_("Decided: {m} of the {n} statements that this machine can test.")
OF_COUNT, OF_WORD = N_("{here} of {text}"), N_("{here} instead of {text}")
OF_VALUES = N_("{here} of {text} values")
HEADS = [
    *(N_("Experiment"), N_("Parameter")),
    *(N_("As the text"), N_("Here"), N_("Faithful"), N_("Changes the result")),
]


def faithful(lab: Data, study: str) -> pd.DataFrame:
    """Return `faithfulness` in the reader's words, for `lab.table`: a row each, indexed by what."""
    rows = [
        (
            _word(lab, one.experiment),
            _word(lab, one.what),
            _told(lab, one, one.text),
            _told(lab, one, one.here) or _word(lab, NOT_RUN),
            _how(lab, one),
            _changes(lab, one.effect),
        )
        for one in faithfulness(lab, study)
    ]
    heads = [lab.words.translate(head) for head in HEADS]
    return pd.DataFrame(rows, columns=heads).set_index(heads[:2])


def faithful_table(lab: Data, study: str) -> Table:
    """Return `faithful` as a table, below it in one line what differs."""
    but = identical_but(lab, study)
    caption = N_("What the text did, and what was done here")
    name = f"{study.replace('_', '-')}-faithful"
    return tabulated(lab, faithful(lab, study), caption, notes=[but], name=name)


def identical_but(lab: Data, study: str, most: int = 0) -> str:
    """Return in one line what differs from the text of `study`; "" for a study without a text.

    Of many the first are named, `most` of them, counts and levels before all else.
    """
    every = faithfulness(lab, study)
    counted_first = sorted(every, key=lambda one: not _is_counted(one)) if most else every
    if rows := _differing(lab, counted_first, most):
        return lab.say(N_("identical but for: {rows}"), rows=rows)
    stated = [one for one in every if one.how != UNSTATED]
    return lab.say(N_("identical in all {n} parameters"), n=len(stated)) if every else ""


def less_of(lab: Data, study: str, arm: str, points: Collection[str] = ()) -> str:
    """Return in a few words what a claim on the text of `study` was run less of than by the text.

    That are counts and levels of its `arm`, or of the `points` that are compared, where another
    arm can stand for it; programs and machines, which all claims share, are told by
    `identical_but`.
    """
    compared = points if has_another(study, arm) else ()
    every = [one for one in faithfulness(lab, study, compared) if arm in one.arms]
    if not every:
        return lab.say(N_("not run by the text"))
    return _differing(lab, filter(_is_counted, every)) or _word(lab, SAID[SAME])


def _is_counted(one: Faithfulness) -> bool:
    """Tell whether a parameter is a number of the text, or several levels."""
    return isinstance(one.text, int | float | list)


def _differing(lab: Data, every: Iterable[Faithfulness], most: int = 0) -> str:
    """Return the parameters that differ, each with how, `most` of them; "" where none does."""
    differing = dict[str, dict[str, None]]()
    for one in (one for one in every if one.differs):
        differing.setdefault(one.what, {})[_briefly(lab, one)] = None
    rows = [
        lab.say(N_("{what} ({parts})"), what=_word(lab, what), parts=lab.words.joined([*parts]))
        for what, parts in differing.items()
    ]
    said = lab.words.joined(rows[: most or None], N_("; "))
    more = len(rows) - most if most else 0
    return lab.say(N_("{which} and {more} more"), which=said, more=more) if more > 0 else said


def _briefly(lab: Data, one: Faithfulness) -> str:
    """Return how a parameter differs from the text in a few words, such as `578 of 50,000`."""
    if isinstance(one.text, list) and set(one.here) <= set(one.text):
        return lab.say(OF_VALUES, here=str(len(one.here)), text=str(len(one.text)))
    here = _told(lab, one, one.here) or _word(lab, NOT_RUN)
    fewer = isinstance(one.text, int | float) and one.here and max(one.times) <= 1
    form = OF_COUNT if fewer else OF_WORD
    return lab.say(form, here=here, text=_told(lab, one, one.text))


def statements_decided(lab: Data, claims: pd.DataFrame) -> str:
    """Return how many of the statements in `claims` (as `audited`) the published method decides.

    They are those that the machine can test, be they measured in this run or not.
    """
    testable = claims[(claims.here != NOT_TESTABLE) | claims.unmeasured]
    count = int(testable.here.isin([HOLDS, FAILS]).sum())
    return lab.say(DECIDED, n=len(testable), m=count)


def _word(lab: Data, text: str) -> str:
    return lab.words.translate(text) if text else ""


def _told(lab: Data, one: Faithfulness, value: Any) -> str:
    """Return what a side of a parameter is, in words: levels, a range of numbers, a name."""
    if isinstance(value, list):
        return lab.words.joined(
            [lab.level(one.factor, level) if one.factor else str(level) for level in value]
        )
    if isinstance(value, tuple):
        low, high = (_number(lab, number, one.unit) for number in value)
        return low if low == high else lab.say(RANGE, low=low, high=high)
    if isinstance(value, int | float):
        return _number(lab, value, one.unit)
    return _word(lab, value)


def _number(lab: Data, number: float, unit: str) -> str:
    if unit:
        return lab.words.numbers.format(Quantity(number, unit), "")
    return lab.words.numbers.number(number, 0 if number >= 1 else None)


def _how(lab: Data, one: Faithfulness) -> str:
    if one.how == LACKING and not one.lacking:
        return lab.words.translate(NOT_RUN)
    levels = lab.words.joined([lab.level(one.factor, level) for level in one.lacking])
    if one.how not in SAID:
        return _word(lab, one.how)
    k = _range(lab, one.times)
    profile = lab.level("profile", lab.run.profile)
    why = one.why or lab.say(N_("not of the profile {profile}"), profile=profile)
    said = SAID[one.how] if one.here else N_("not run here ({why})")
    return lab.say(said, k=k, levels=levels, why=why)


def _range(lab: Data, ends: tuple[float, float]) -> str:
    low, high = (f"{end:.3g}" for end in ends)
    return low if low == high else lab.say(RANGE, low=low, high=high)


def _changes(lab: Data, effect: list[Quantity]) -> str:
    """Return of how many values measured both ways the quotient excludes 1, and its range."""
    if not effect:
        return ""
    changed = [one for one in effect if one.ends[0] > 1 or one.ends[1] < 1]
    low, high = (f"{extreme(float(one.value) for one in effect):.3g}" for extreme in (min, max))
    return lab.say(CHANGES, k=len(changed), n=len(effect), low=low, high=high)
