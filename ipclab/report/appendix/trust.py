"""How far statements can be trusted, and whether a run fits a table of machines."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from ipclab.bounds.floors import WIDE
from ipclab.bounds.limits import below_limit, floors, lines_below_limit, with_limits
from ipclab.calibrated import STUDY, calibration_file, counted_in_run, total_counted
from ipclab.errors import LabError
from ipclab.frames.derived import studies_measured
from ipclab.lab.data import Data
from ipclab.lab.runs import full
from ipclab.paths import typed
from ipclab.report.appendix import limits
from ipclab.stats.quantity import Quantity
from ipclab.store.referees import referees_kept
from ipclab.words import labels
from ipclab.words.catalogue import N_
from ipclab.words.words import DASH

DISTURBED_MOST = 0.10  # of the launches, where all can be trusted
WIDE_MOST = 0.10  # of the limits
HIGH, MEDIUM, LOW = LEVELS = ("high", "medium", "low")
LEVEL_NAMES, FACTS, UNKNOWN = (
    labels.WORDS[name] for name in ("trust", "trust-facts", "trust-unknown")
)


class TrustRule(NamedTuple):
    """Up to which value of a fact (a share) a statement stays at high, and at medium."""

    fact: str
    high: float
    medium: float

    def level(self, share: float | None) -> str:
        """Return what the fact allows; one that is not known allows no more than medium."""
        if share is None:
            return MEDIUM
        if share <= self.high:
            return HIGH
        return MEDIUM if share <= self.medium else LOW


RULES = [
    TrustRule("disturbed", high=DISTURBED_MOST, medium=0.30),
    TrustRule("width", high=0.20, medium=0.50),
    TrustRule("false_alarms", high=0.05, medium=0.15),
    TrustRule("referees", high=0.0, medium=0.25),
    TrustRule("beaten", high=0.0, medium=0.02),
]


def rule_facts(lab: Data, study: str, **levels: Any) -> dict[str, float | None]:
    """Return each rule's fact (a share) for points of `study` with `levels`, or None."""
    medians = lab.points(study, metric="p50", **levels)
    bounded = medians
    if len(medians):
        medians = with_limits(medians, lab.launches("limits"), lab.run.questions)
        bounded = medians.dropna(subset="over_limit")
    calibrated = total_counted(counted_in_run(lab.run).values())
    asked = referees_kept(lab.run)
    differ = None
    if asked and (asked.differ or not asked.skipped):
        answered = sum(not answer.skipped for answer in asked.found)
        differ = asked.differ / answered if answered else None
    flags = each_launch(lab, study, **levels)["flags"]
    shares = {
        "disturbed": flags.ne("").mean(),
        "width": ((medians.high - medians.low) / medians.value).astype(float).median(),
        "false_alarms": calibrated.alarms / calibrated.twins if calibrated.twins else None,
        "referees": differ,
        "beaten": len(below_limit(bounded)) / len(bounded) if len(bounded) else None,
    }
    return {name: float(share) if pd.notna(share) else None for name, share in shares.items()}


def each_launch(lab: Data, study: str, **levels: Any) -> pd.DataFrame:
    """Return one row for each launch of `study`, whatever its ops and metrics."""
    return lab.launches(study, **levels).drop_duplicates(["point", "launch"])


def trust_judged(
    shares: Mapping[str, float | None], at_most: str = HIGH
) -> tuple[str, list[TrustRule]]:
    """Return the level that facts allow, `at_most` at best, and the rules against high.

    A fact that is not known lowers nothing where `UNKNOWN` has no words for it: `beaten`, when no
    limit matches.
    """
    rules = [rule for rule in RULES if shares[rule.fact] is not None or rule.fact in UNKNOWN]
    levels = {rule: rule.level(shares[rule.fact]) for rule in rules}
    worst = max([at_most, *levels.values()], key=LEVELS.index)
    return worst, [rule for rule, level in levels.items() if level != HIGH]


def trusted(
    lab: Data, study: str, at_most: str = HIGH, why: str = "", **levels: Any
) -> dict[str, str]:
    """Return how far statements on points of `study` can be `trust`ed, and what `lowered` that.

    The level follows from the run's facts by `RULES`; `at_most` is the best that the method allows,
    whatever the run shows, and `why` says for what reason.

    >>> pd.DataFrame({_("Times by the published method"): trusted(lab, "payload",
    arm="published")}).T
    """
    shares = rule_facts(lab, study, **levels)
    level, lowered = trust_judged(shares, at_most)
    reasons = [why] if at_most != HIGH else []
    for rule in lowered:
        share = Quantity(shares[rule.fact], "share")
        if share:
            fact = lab.words.translate(FACTS[rule.fact])
            reasons.append(lab.say(N_("{fact} {share}"), fact=fact, share=share))
        else:
            reasons.append(lab.words.translate(UNKNOWN[rule.fact]))
    trust = lab.words.translate(LEVEL_NAMES[level])
    return {"trust": trust, "lowered": lab.words.joined(reasons, N_("; ")) or DASH}


def unfit(lab: Data) -> list[str]:
    """Return a line for each reason why the run is not fit for a table of machines."""
    try:
        lab.run.checked()
    except LabError as error:
        return [f"digests: {error}"]  # nothing else can be read
    studies = studies_measured(lab.run)
    reasons = []
    if not full(lab.run):
        reasons.append("incomplete: it is not finished, or not of all studies at their own levels")
    for point, why in lab.run.about["failures"].items():
        reasons.append(f"incomplete: {point} failed: {why}")
    flags = [flag for study in studies for flag in each_launch(lab, study)["flags"]]
    disturbed = sum(flag != "" for flag in flags) / max(1, len(flags))
    if disturbed > DISTURBED_MOST:
        most = f"at most {DISTURBED_MOST:.0%} may be"
        reasons.append(f"disturbed: {disturbed:.0%} of {len(flags)} launches, {most}")
    if STUDY not in studies and not calibration_file(lab.run).is_file():
        reasons.append(f"not calibrated: every run that {typed('report')} measures is")
    if "limits" not in studies:
        return [*reasons, "limits: they were not measured"]
    best = floors(lab.launches("limits"), lab.run.questions)
    wide = len(best.wide())
    count = len(best.medians)
    faults = lines_below_limit(limits.beaten(lab))
    if wide > WIDE_MOST * count:
        faults.append(f"the best launches of {wide} of {count} differ by more than {WIDE - 1:.0%}")
    faults += limits.impossible(lab)
    return reasons + [f"limits: {fault}" for fault in faults]
