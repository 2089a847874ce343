"""How far statements can be trusted, computed from facts of the run by the rules in `trust.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ipclab.frames import calibration
from ipclab.frames.limits import beaten
from ipclab.lab.catalogue import N_
from ipclab.stats.quantity import Quantity
from ipclab.store import referees

if TYPE_CHECKING:
    from ipclab.lab.lab import Lab

HIGH, MEDIUM, LOW = LEVELS = ("high", "medium", "low")
WORDS = {HIGH: N_("high"), MEDIUM: N_("medium"), LOW: N_("low")}
FACTS = {
    "disturbed": N_("disturbed launches"),
    "width": N_("width of the intervals over the median"),
    "false_alarms": N_("identical code called slower"),
    "referees": N_("referees that differ"),
    "beaten": N_("results faster than their limit"),
}
UNKNOWN = {
    "disturbed": N_("not measured in this run"),
    "width": N_("not measured in this run"),
    "false_alarms": N_("no calibration in this run"),
    "referees": N_("not every referee was asked"),
}


@dataclass(frozen=True)
class Rule:
    """Up to which value of a fact (a share) a statement stays at high, and up to which at medium."""

    fact: str
    high: float
    medium: float

    def level(self, share: float | None) -> str:
        """Return what the fact allows; one that is not known allows no more than medium."""
        if share is None:
            return MEDIUM
        return HIGH if share <= self.high else MEDIUM if share <= self.medium else LOW


RULES = [Rule(**row) for row in tomllib.loads(Path(__file__).with_name("trust.toml").read_text("utf-8"))["rule"]]


def facts(lab: "Lab", study: str, **levels: Any) -> dict[str, float | None]:
    """Return each rule's fact (a share) for the points of `study` with `levels`; None where it is not known."""
    launches = lab.launches(study, **levels).drop_duplicates(["point", "launch"])
    medians = lab.limited(lab.points(study, metric="p50", **levels))
    bounded = medians.dropna(subset="over_limit")
    width = ((medians.high - medians.low) / medians.value).astype(float).median()
    return {
        "disturbed": float(launches["flags"].ne("").mean()) if len(launches) else None,
        "width": None if pd.isna(width) else float(width),
        "false_alarms": _alarms(lab),
        "referees": _differing(lab),
        "beaten": len(beaten(bounded)) / len(bounded) if len(bounded) else None,
    }


def judged(known: Mapping[str, float | None], at_most: str = HIGH) -> tuple[str, list[Rule]]:
    """Return the level that the facts allow, no better than `at_most`, and the rules that keep it from being high.

    A fact without a limit that matches lowers nothing.
    """
    found = {
        rule: rule.level(known[rule.fact]) for rule in RULES if known[rule.fact] is not None or rule.fact in UNKNOWN
    }
    worst = max([at_most, *found.values()], key=LEVELS.index)
    return worst, [rule for rule, level in found.items() if level != HIGH]


def row(lab: "Lab", study: str, at_most: str = HIGH, why: str = "", **levels: Any) -> dict[str, Any]:
    """Return a statement's facts, its level and what lowers it, as cells of a table.

    `at_most` is the best that its method allows, whatever the run shows, and `why` says for what reason.
    """
    known = facts(lab, study, **levels)
    level, lowered = judged(known, at_most)
    reasons = [why] * (at_most != HIGH) + [_reason(lab, rule, known[rule.fact]) for rule in lowered]
    shares = {name: Quantity(known[name], "share") for name in ("disturbed", "width")}
    told = {"disturbed": shares["disturbed"], "width": shares["width"], "trust": lab.translate(WORDS[level])}
    return {**told, "lowered": lab.joined(reasons, N_("; ")) or "–"}


def _reason(lab: "Lab", rule: Rule, share: float | None) -> str:
    if share is None:
        return lab.translate(UNKNOWN[rule.fact])
    return f"{lab.translate(FACTS[rule.fact])} {lab.numbers.format(Quantity(share, 'share'))}"


def _alarms(lab: "Lab") -> float | None:
    """Return the share of identical code that the run's own calibration called slower."""
    rows = calibration.rows(lab.contests(calibration.STUDY))
    compared = sum(each["comparisons"] for each in rows)
    return sum(each["false_alarms"] for each in rows) / compared if compared else None


def _differing(lab: "Lab") -> float | None:
    """Return the share of referees that differ; None where one was skipped, since that is no pass."""
    found = referees.kept(lab.run)
    if found is None or (found.skipped and not found.differ):
        return None
    return found.differ / len(found.found)
