"""How far statements can be trusted, computed from facts of the run by fixed rules."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from ipclab.frames import calibration
from ipclab.frames.limits import beaten
from ipclab.lab import labels
from ipclab.lab.catalogue import N_
from ipclab.lab.data import Data
from ipclab.lab.limits import limited
from ipclab.stats.quantity import Quantity
from ipclab.store import referees

HIGH, MEDIUM, LOW = LEVELS = ("high", "medium", "low")
WORDS, FACTS, UNKNOWN = (labels.SAID[name] for name in ("trust", "trust-facts", "trust-unknown"))


class Rule(NamedTuple):
    """Up to which value of a fact (a share) a statement stays at high, and up to which at medium."""

    fact: str
    high: float
    medium: float

    def level(self, share: float | None) -> str:
        """Return what the fact allows; one that is not known allows no more than medium."""
        if share is None:
            return MEDIUM
        return HIGH if share <= self.high else MEDIUM if share <= self.medium else LOW


RULES = [
    Rule("disturbed", high=0.10, medium=0.30),
    Rule("width", high=0.20, medium=0.50),
    Rule("false_alarms", high=0.05, medium=0.15),
    Rule("referees", high=0.0, medium=0.25),
    Rule("beaten", high=0.0, medium=0.02),
]


def facts(lab: Data, study: str, **levels: Any) -> dict[str, float | None]:
    """Return each rule's fact (a share) for the points of `study` with `levels`; None where it is
    not known.
    """
    medians = limited(lab, lab.points(study, metric="p50", **levels))
    bounded = medians.dropna(subset="over_limit")
    same = pd.DataFrame(
        calibration.rows(lab.contests(calibration.STUDY)),
        columns=["comparisons", "false_alarms"],
    )
    asked = referees.kept(lab.run)
    answered = []
    if asked and (asked.differ or not asked.skipped):
        answered = [answer for answer in asked.found if not answer.skipped]
    shares = {
        "disturbed": (
            lab.launches(study, **levels)
            .drop_duplicates(["point", "launch"])["flags"]
            .ne("")
            .mean()
        ),
        "width": ((medians.high - medians.low) / medians.value).astype(float).median(),
        "false_alarms": (
            same.false_alarms.sum() / same.comparisons.sum() if same.comparisons.any() else None
        ),
        "referees": asked.differ / len(answered) if asked and answered else None,
        "beaten": len(beaten(bounded)) / len(bounded) if len(bounded) else None,
    }
    return {name: None if pd.isna(share) else float(share) for name, share in shares.items()}


def judged(known: Mapping[str, float | None], at_most: str = HIGH) -> tuple[str, list[Rule]]:
    """Return the level that the facts allow, no better than `at_most`, and the rules that keep it
    from being high.

    A fact that is not known lowers nothing where `UNKNOWN` has no words for it: `beaten`, when no
    limit matches.
    """
    rules = [rule for rule in RULES if known[rule.fact] is not None or rule.fact in UNKNOWN]
    found = {rule: rule.level(known[rule.fact]) for rule in rules}
    worst = max([at_most, *found.values()], key=LEVELS.index)
    return worst, [rule for rule, level in found.items() if level != HIGH]


def trusted(
    lab: Data, study: str, at_most: str = HIGH, why: str = "", **levels: Any
) -> dict[str, Any]:
    """Return how far statements on the points of `study` with `levels` can be trusted, as cells of
    a table.

    The level follows from the run's facts by `RULES`; `at_most` is the best that the method allows,
    whatever the run shows, and `why` says for what reason.

    >>> pd.DataFrame({_("Times by the published method"): trusted(lab, "payload",
    arm="published")}).T
    """
    known = facts(lab, study, **levels)
    level, lowered = judged(known, at_most)
    shares = {name: Quantity(share, "share") for name, share in known.items()}
    reasons = [
        (
            f"{lab.words.translate(FACTS[name])} {lab.words.numbers.format(shares[name])}"
            if shares[name]
            else lab.words.translate(UNKNOWN[name])
        )
        for name, *_ in lowered
    ]
    told = lab.words.joined([why] * (at_most != HIGH) + reasons, N_("; ")) or "–"
    facts_shown = {name: shares[name] for name in ("disturbed", "width")}
    return {**facts_shown, "trust": lab.words.translate(WORDS[level]), "lowered": told}
