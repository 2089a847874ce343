"""Verdicts: whether a claim holds, fails, is undecided or is not testable here, and why.

A verdict needs an interval: what says nothing of its value decides nothing.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import inf, log
from typing import Any, NamedTuple

from ipclab.claims.amounts import KINDS, UNITS, RuleError
from ipclab.claims.claim import FAILS, HOLDS, NOT_TESTABLE, UNDECIDED, Claim, Compare
from ipclab.claims.comparison import Bounds
from ipclab.claims.numbers import Compared, Numbers
from ipclab.claims.simultaneous import simultaneous
from ipclab.frames.address import MissingError
from ipclab.stats import judge
from ipclab.stats.quantity import Quantity

SEVERITY = {FAILS: 0, UNDECIDED: 1, HOLDS: 2}
DECIDED = (HOLDS, FAILS)
WORDS = {judge.INSIDE: HOLDS, judge.UNDECIDED: UNDECIDED, judge.NOT_TESTED: UNDECIDED}
# binary fractions of decimal digits; a bound that is not included is left by more
SLACK = 1e-9
SETS = {"massive_files": "massive", "large_files": "exp-large"}  # the sets of files that are meant


class Verdict(NamedTuple):
    """The outcome of a rule: what decides it, or what is missing or needed.

    `sources` are the rows of the run that all of what it compares follows from.
    """

    word: str
    deciding: Quantity | None = None
    missing: str = ""
    need: str = ""
    sources: tuple[str, ...] = ()


class Verdicts(NamedTuple):
    """The three verdicts of a claim; `fair` equals `here` when the published method is fair."""

    table: Verdict
    here: Verdict
    fair: Verdict


def judge_all(claim: Claim, table: Numbers, run: Numbers) -> Verdicts:
    """Return the verdicts of `claim` on the text's own table, and on the run by both methods.

    Those are the published and the fair one.
    """
    printed = Verdict(NOT_TESTABLE)
    if not claim.unstated:
        printed = on_table(claim.bounds, claim.table or claim.here, table)
    lacks = [name for name, least in claim.needs.items() if run.known.get(name, least) < least]
    if claim.untestable or lacks:
        lacking = Verdict(NOT_TESTABLE, need="" if claim.untestable else lacks[0])
        return Verdicts(printed, lacking, lacking)
    here = on_run(claim.bounds, claim.here, run)
    fair = on_run(claim.bounds, claim.fair, run) if claim.fair else here
    if claim.needs.keys() - run.known.keys():  # the run does not tell whether it has them
        here = Verdict(NOT_TESTABLE, missing=here.missing)
        fair = Verdict(NOT_TESTABLE, missing=fair.missing)
    return Verdicts(printed, here, fair)


def on_run(bounds: Bounds, compare: Compare, run: Numbers) -> Verdict:
    """Return the verdict on what is compared of a run; what it did not measure is not testable."""
    try:
        return decide(bounds, compare(run))
    except MissingError as missing:
        return Verdict(NOT_TESTABLE, missing=str(missing))


def on_table(bounds: Bounds, compare: Compare, table: Numbers) -> Verdict:
    """Return the verdict on a text's own table: it fails where no rounding of it gives the rule.

    What is told is what the printed numbers give.
    """
    try:
        quantities = in_unit(compare(table), bounds.unit)
    except MissingError as missing:
        return Verdict(NOT_TESTABLE, missing=str(missing))

    def severity(quantity: Quantity) -> tuple[bool, float]:
        return not _outside(bounds, quantity), _margin(bounds, quantity)

    deciding = min(quantities, key=severity)
    word = FAILS if _outside(bounds, deciding) else HOLDS
    return Verdict(word, replace(deciding, low=None, high=None))


def decide(bounds: Bounds, compared: Compared) -> Verdict:
    """Return the verdict on what is compared: all of it must lie inside the bounds.

    It holds when every interval does, fails when one lies outside, and is undecided when one
    contains a bound or says nothing. One of several fails by intervals that hold together
    (`simultaneous`); that all lie inside needs no such care, since each of them has to.
    """
    quantities = in_unit(compared, bounds.unit)
    if not all(quantities) or not quantities:
        return Verdict(NOT_TESTABLE)
    if any(_word(bounds, quantity) != HOLDS for quantity in quantities):
        quantities = [simultaneous(quantity, len(quantities)) for quantity in quantities]

    def severity(quantity: Quantity) -> tuple[int, float]:
        return SEVERITY[_word(bounds, quantity)], _margin(bounds, quantity)

    deciding = min(quantities, key=severity)
    sources = dict.fromkeys(source for quantity in quantities for source in quantity.sources)
    return Verdict(_word(bounds, deciding), deciding, sources=tuple(sources))


def in_unit(compared: Compared, unit: str) -> list[Quantity]:
    """Return the quantities that are compared in `unit`; raises `RuleError` for another kind."""
    quantities = [compared] if isinstance(compared, Quantity) else list(compared)
    wanted = UNITS[unit][1]
    for quantity in quantities:
        kind = UNITS.get(quantity.unit, (1.0, None))[1]
        if quantity and kind != wanted:
            called = KINDS[kind].called if kind in KINDS else repr(quantity.unit)
            why = f"it compares {called} with {KINDS[wanted].called}"
            raise RuleError(why, "give the bound its unit")
    return [quantity.as_unit(unit) for quantity in quantities]


def _ends(bounds: Bounds) -> tuple[float, float]:
    """Return the bounds with slack for what is included, and without for what is not."""
    inward = SLACK if bounds.open else -SLACK
    low, high = bounds.low, bounds.high
    if low > -inf:
        low += inward * max(abs(low), SLACK * bounds.open)
    if high < inf:
        high -= inward * max(abs(high), SLACK * bounds.open)
    return low, high


def _outside(bounds: Bounds, quantity: Quantity) -> bool:
    first, last = quantity.ends
    low, high = _ends(bounds)
    return last < low or first > high


def _word(bounds: Bounds, quantity: Quantity) -> str:
    first, last = quantity.ends
    if first != last and quantity.says_nothing:
        return UNDECIDED
    return WORDS.get(judge.within(quantity, *_ends(bounds)), FAILS)


def _margin(bounds: Bounds, quantity: Quantity) -> float:
    """Return how far the value lies inside the bounds: a ratio where there is one, else less.

    By the ends of intervals a claim of "every" would print another than the least.
    """
    value = float(quantity.value)
    above_low = _inside(value, bounds.low) if bounds.low > -inf else inf
    below_high = _inside(bounds.high, value) if bounds.high < inf else inf
    return min(above_low, below_high)


def _inside(over: float, under: float) -> float:
    return log(over) - log(under) if 0 < over < inf and 0 < under < inf else over - under


def run_constants(about: Mapping[str, Any]) -> dict[str, float]:
    """Return what rules know of the run with index `about`: CPUs, and files of its sets."""
    notes = about["notes"].get("file_io", {})
    counts = {"cpus": notes.get("cores") or about["machine"].get("facts", {}).get("cores")}
    for name, file_set in SETS.items():
        counts[name] = notes.get("sets", {}).get(file_set, {}).get("count")
    return {name: float(value) for name, value in counts.items() if value}
