"""The words of verdicts: bounds, what decides, why none can be had."""

from dataclasses import replace
from math import inf, isfinite

from ipclab.claims.claim import Claim
from ipclab.claims.comparison import Bounds
from ipclab.claims.verdicts import SLACK, Verdict, run_constants
from ipclab.frames import derived
from ipclab.frames.address import Address
from ipclab.lab.data import Data
from ipclab.stats.quantity import Quantity
from ipclab.words import labels
from ipclab.words.catalogue import N_

VERDICTS, NEEDS, REASONS = (labels.WORDS[name] for name in ("verdicts", "needs", "reasons"))


def bounds(lab: Data, rule: Bounds) -> str:
    """Return the rule's bounds as a reader writes them, with their rounding if meant."""
    low, high = rule.written
    ends = [end for end in dict.fromkeys((low, high)) if abs(end) < inf]
    spec = ""
    if rule.unit in ("share", "points") and all(_is_whole(100 * end) for end in ends):
        spec = "int"
    first, *more = [lab.words.numbers.format(Quantity(end, rule.unit), spec) for end in ends]
    if more:
        said = lab.say(N_("{low} to {high}"), low=first, high=more[0])
    elif low == high:
        said = f"= {first}"
    elif high == inf:
        said = f"{'>' if rule.open else '≥'} {first}"
    else:
        said = f"{'<' if rule.open else '≤'} {first}"
    return lab.say(N_("{bounds} (rounded)"), bounds=said) if rule.rounded else said


def _is_whole(number: float) -> bool:
    return abs(number - round(number)) < SLACK


def in_words(lab: Data, verdict: Verdict, reason: str, rule: Bounds, code: bool) -> str:
    """Return a verdict in words: with the quantity that decides it, or with why there is none."""
    word = lab.say(VERDICTS[verdict.word])
    if verdict.deciding is None:
        return lab.say(N_("{word} ({reason})"), word=word, reason=reason)
    value = with_interval(lab, verdict.deciding, (rule.low, rule.high))
    said = N_("{word}: {value} (its code)") if code else N_("{word}: {value}")
    return lab.say(said, word=word, value=value)


def with_interval(lab: Data, deciding: Quantity, rule_bounds: tuple[float, float]) -> str:
    """Return what decides with its interval, in digits that keep ends and bounds apart."""
    numbers = lab.words.numbers
    if deciding.ends == (deciding.value,) * 2:
        return numbers.format(deciding)
    ends = (*deciding.ends, *rule_bounds)
    shown = {end: numbers.format(replace(deciding, low=end, high=end), "interval") for end in ends}
    near = any(
        isfinite(end) and end != bound and shown[end] == shown[bound]
        for end in deciding.ends
        for bound in rule_bounds
    )
    return numbers.format(deciding, "interval,fine" if near else "interval")


def reason(lab: Data, claim: Claim, verdict: Verdict, on_table: bool) -> str:
    """Return why a claim cannot be tested."""
    if on_table or claim.untestable:
        return lab.say((claim.unstated if on_table else claim.untestable) or REASONS["unsaid"])
    if verdict.need:
        here = Quantity(run_constants(lab.run.about).get(verdict.need), "count")
        return lab.say(NEEDS[verdict.need], least=claim.needs[verdict.need], here=here)
    address = Address.read(verdict.missing)
    if address and derived.read_frame(lab.run, address.study, "points").empty:
        return lab.say(REASONS["unrun"], study=address.study)
    return lab.say(REASONS["unmeasured"])
