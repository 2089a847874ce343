"""Verdicts on claims in a reader's words: the bounds of a rule, what decides, and why a claim
cannot be tested.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf

from ipclab.claims.claim import SLACK, Claim, Verdict
from ipclab.claims.rules import Rule
from ipclab.frames import derived
from ipclab.frames.address import Address
from ipclab.lab import labels
from ipclab.lab.catalogue import N_
from ipclab.lab.data import Data
from ipclab.lab.numbers import Formatter
from ipclab.stats.quantity import Quantity

WORDS, NEEDS, REASONS = (labels.SAID[name] for name in ("verdicts", "needs", "reasons"))


@dataclass(frozen=True)
class VerdictWords:
    """What is said of verdicts on the data of `lab`; `known` is what rules know of its run, by
    name.
    """

    lab: Data
    known: Mapping[str, float]

    @property
    def numbers(self) -> Formatter:
        """Return how numbers are written in the reader's language."""
        return self.lab.words.numbers

    def say(self, text: str, **values: object) -> str:
        """Return `text` in the reader's language, filled with `values`."""
        return self.lab.say(text, **values)

    def bounds(self, rule: Rule) -> str:
        """Return the rule's bounds as a reader writes them, and whether what rounds to them is
        meant.
        """
        low, high = rule.written
        known = [end for end in dict.fromkeys((low, high)) if abs(end) < inf]
        whole = rule.unit in ("share", "points") and all(
            abs(100 * end - round(100 * end)) < SLACK for end in known
        )
        ends = [
            self.numbers.format(Quantity(end, rule.unit), "int" if whole else "") for end in known
        ]
        sign = "=" if low == high else ("≥>" if high == inf else "≤<")[rule.open]
        said = f"{sign} {ends[0]}"
        if len(ends) > 1:
            said = self.say(N_("{low} to {high}"), low=ends[0], high=ends[1])
        return self.say(N_("{bounds} (rounded)"), bounds=said) if rule.rounded else said

    def in_words(self, verdict: Verdict, reason: str, rule: Rule, code: bool) -> str:
        """Return a verdict in words: with the quantity that decides it, or with why there is none."""
        word = self.say(WORDS[verdict.word])
        if verdict.deciding is None:
            return self.say(N_("{word} ({reason})"), word=word, reason=reason)
        value = self.with_interval(verdict.deciding, (rule.low, rule.high))
        said = N_("{word}: {value} (its code)") if code else N_("{word}: {value}")
        return self.say(said, word=word, value=value)

    def with_interval(self, deciding: Quantity, bounds: tuple[float, float]) -> str:
        """Return what decides with its interval, in as many digits as keep an end apart from a
        bound beside it.
        """
        if deciding.ends == (deciding.value,) * 2:
            return self.numbers.format(deciding)
        shown = {
            end: self.numbers.format(replace(deciding, low=end, high=end), "interval")
            for end in (*deciding.ends, *bounds)
        }
        near = any(
            end != bound and shown[end] == shown[bound] for end in deciding.ends for bound in bounds
        )
        return self.numbers.format(deciding, "interval,fine" if near else "interval")

    def reason(self, claim: Claim, verdict: Verdict, own: bool) -> str:
        """Return why a claim cannot be tested."""
        if own or claim.untestable:
            return self.say((claim.unstated if own else claim.untestable) or REASONS["unsaid"])
        if verdict.need:
            here = Quantity(self.known.get(verdict.need), "count")
            needed = NEEDS.get(verdict.need, REASONS["unmeasured"])
            return self.say(needed, least=claim.needs[verdict.need], here=here, fact=verdict.need)
        address = Address.read(verdict.missing)
        if address and derived.read(self.lab.run, address.study, "points").empty:
            return self.say(REASONS["unrun"], study=address.study)
        return self.say(REASONS["unmeasured"])
