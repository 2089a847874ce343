"""Claims and their verdicts: holds, fails, undecided, not testable here. See also `rules`."""

from collections.abc import Mapping
from math import inf, log
from typing import Annotated, Any, NamedTuple

import msgspec

from ipclab.claims.expression import Term
from ipclab.claims.rules import Rule
from ipclab.claims.simultaneous import simultaneous
from ipclab.claims.values import ValueSource
from ipclab.errors import hint
from ipclab.frames.address import MissingError
from ipclab.prose.language import RuleError
from ipclab.stats import judge
from ipclab.stats.quantity import Quantity

HOLDS, FAILS, UNDECIDED, NOT_TESTABLE = "holds", "fails", "undecided", "not testable here"
SEVERITY = {FAILS: 0, UNDECIDED: 1, HOLDS: 2}
WORDS = {judge.INSIDE: HOLDS, judge.UNDECIDED: UNDECIDED, judge.NOT_TESTED: UNDECIDED}
OWN = "own"  # the seed of a person's own claims
Text = Annotated[str, msgspec.Meta(min_length=1)]
# binary fractions of decimal digits; a bound that is not included is left by more
SLACK = 1e-9
NEEDS = ("cpus", "large_files", "massive_files")  # what a claim may need of a run
SETS = {"massive_files": "massive", "large_files": "exp-large"}  # the sets of files that are meant


class Amounts(dict[str, Quantity]):
    """Amounts by name."""


class AmountTable(Amounts):
    """Amounts by address."""


class Claim(msgspec.Struct, forbid_unknown_fields=True):
    """One published statement, as a file of claims states it.

    `text` is the original's words, `meaning` a msgid for readers of other languages with `figures`
    as its placeholders (`translations` by language take its place where they are given). `rule` is
    what must be so by the published method; `own` and `fair` are what is compared with the same
    bounds on the text's own table, and by a fair method, where these differ. `unstated` says, as a
    msgid, why the text's table cannot decide, `untestable` what it would take where no run of
    another machine can, `adds` what the fair method adds; `from_code` tells that the text's code
    decides, not its table. `needs` is what must be known of the run, at least; `published` the
    claim's own table, where it is in none of the texts.
    """

    id: Text
    text: Text
    rule: Rule
    language: str = ""
    section: str = ""
    source: str = ""
    meaning: str = ""
    own: Term | None = None
    fair: Term | None = None
    unstated: str = ""
    untestable: str = ""
    from_code: bool = False
    adds: str = ""
    needs: dict[str, float] = {}
    translations: dict[str, str] = {}
    figures: Amounts = msgspec.field(default_factory=Amounts)
    published: AmountTable | None = None

    def __post_init__(self) -> None:
        """Raise `RuleError` for needs that cannot be known of a run."""
        for name, least in self.needs.items():
            if name not in NEEDS:
                raise RuleError(f"nothing is known of {name!r}", hint(name, NEEDS), "needs")
            if not 0 < least < inf:
                raise RuleError(f"{name} = {least} is no least number", "give one above 0", "needs")


class Verdict(NamedTuple):
    """The outcome of a rule: what decides it, all it compared, or what is missing or needed."""

    word: str
    deciding: Quantity | None = None
    found: tuple[Quantity, ...] = ()
    missing: str = ""
    need: str = ""


class Verdicts(NamedTuple):
    """The three verdicts of a claim; `fair` equals `here` when the published method is fair."""

    own: Verdict
    here: Verdict
    fair: Verdict


def judge_all(claim: Claim, text: ValueSource, run: ValueSource) -> Verdicts:
    """Return the verdicts of `claim` on the text's table, and on the run by both methods.

    Those are the published and the fair one.
    """
    table = text if claim.published is None else ValueSource(text.points, given=claim.published)
    own = lacking = Verdict(NOT_TESTABLE)
    if not claim.unstated:
        own = decide(claim.rule, claim.own or claim.rule.term, table)
    if claim.untestable:
        return Verdicts(own, lacking, lacking)
    for name, least in claim.needs.items():
        if run.known.get(name, least) < least:
            lacking = Verdict(NOT_TESTABLE, need=name)
            return Verdicts(own, lacking, lacking)
    here = decide(claim.rule, claim.rule.term, run)
    fair = decide(claim.rule, claim.fair, run) if claim.fair else here
    if claim.needs.keys() - run.known.keys():  # the run does not tell whether it has them
        here = Verdict(NOT_TESTABLE, missing=here.missing)
        fair = Verdict(NOT_TESTABLE, missing=fair.missing)
    return Verdicts(own, here, fair)


def decide(rule: Rule, term: Term, source: ValueSource) -> Verdict:
    """Return the verdict of `rule` on what `term` gives: all of it must lie inside the bounds.

    It holds when every interval does, fails when one lies outside, and is undecided when one
    contains a bound. One of several fails by intervals that hold together (`simultaneous`); that
    all lie inside needs no such care, since each of them has to.
    """
    try:
        alone = term(source).shown(rule.unit)
    except MissingError as missing:
        return Verdict(NOT_TESTABLE, missing=str(missing))
    if not all(alone) or not alone:
        return Verdict(NOT_TESTABLE)
    quantities = alone
    if any(_word(rule, quantity) != HOLDS for quantity in alone):
        quantities = [simultaneous(quantity, len(alone)) for quantity in alone]

    def severity(quantity: Quantity) -> tuple[int, float]:
        return SEVERITY[_word(rule, quantity)], _margin(rule, quantity)

    deciding = min(quantities, key=severity)
    return Verdict(_word(rule, deciding), deciding, tuple(quantities))


def _word(rule: Rule, quantity: Quantity) -> str:
    inward = SLACK if rule.open else -SLACK
    low = rule.low
    high = rule.high
    if low > -inf:
        low += inward * max(abs(low), SLACK * rule.open)
    if high < inf:
        high -= inward * max(abs(high), SLACK * rule.open)
    return WORDS.get(judge.within(quantity, low, high), FAILS)


def _margin(rule: Rule, quantity: Quantity) -> float:
    """Return how far the value lies inside the bounds: a ratio where there is one, else less.

    By the ends of intervals a claim of "every" would print another than the least.
    """
    value = float(quantity.value)
    above_low = _inside(value, rule.low) if rule.low > -inf else inf
    below_high = _inside(rule.high, value) if rule.high < inf else inf
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
