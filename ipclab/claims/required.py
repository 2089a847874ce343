"""Requirements in a reader's words: statistic, number of samples, evidence, verdict."""

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import pandas as pd

from ipclab.claims import wording
from ipclab.claims.audit import in_language
from ipclab.claims.claim import NOT_TESTABLE
from ipclab.claims.computed import numbers_at
from ipclab.claims.requirement import (
    MAX,
    OF_SAMPLES,
    VIOLATED,
    Evidence,
    Requirement,
    judge_frames,
    judge_samples,
)
from ipclab.frames.address import MissingError
from ipclab.stats.quantity import Quantity
from ipclab.store.door import point_of
from ipclab.tables.table import Table
from ipclab.tables.tabulation import tabulated
from ipclab.words import labels
from ipclab.words.catalogue import N_
from ipclab.words.words import DASH

if TYPE_CHECKING:
    from ipclab.lab.lab import Lab

COVERED = "max-covered"  # the words of a maximum that a coverage shows
FIXED = "launches"  # the parameter of a run whose number of launches was fixed before
STATISTICS, UNSHOWN = (labels.WORDS[name] for name in ("statistics", "unshown"))
HEADS = {
    "id": N_("No."),
    "requirement": N_("Requirement"),
    "statistic": N_("Statistic and bound"),
    "n": N_("N"),
    "evidence": N_("What was found"),
    "verdict": N_("Verdict"),
}
COUNTED = N_("{launches:int} launches, {samples:int} samples")
COUNTED_ALL = N_(
    "{launches:int} launches, {samples:int} samples, {others:int} operations beside these (warm,"
    " first, looked at)"
)
NOTES = [
    N_("One sample beyond an unconditional bound violates it, whatever the others are."),
    N_(
        "What is not violated is shown only by enough launches: a share of them is covered with a"
        " confidence (Wilks), by a number that was fixed before."
    ),
]


def requirements(lab: "Lab") -> pd.DataFrame:
    """Return one row for each requirement of your own, in words.

    Columns: id, requirement, statistic, n, evidence, verdict, and `word`: the verdict as it is
    (holds, violated, not shown, not testable here), with `why` it is not shown.

    >>> requirements(lab).query("word == 'violated'")
    """
    stated = lab._own.requirements if lab._own else []
    rows = [_row(lab, requirement) for requirement in stated]
    return pd.DataFrame(rows, columns=[*HEADS, "word", "why"])


def requirements_table(lab: "Lab") -> Table:
    """Return your own requirements as a table: statistic, N, evidence and verdict of each."""
    heads = {key: lab.say(head) for key, head in HEADS.items()}
    cells = requirements(lab)[[*HEADS]].rename(columns=heads)
    return tabulated(lab, cells, N_("Requirements, judged"), notes=NOTES, name="requirements")


def _row(lab: "Lab", requirement: Requirement) -> dict[str, Any]:
    found = _found(lab, requirement)
    words = in_language(lab, requirement)
    if requirement.source:
        words = lab.say(N_("{words} ({section})"), words=words, section=requirement.source)
    bounds = requirement.rule.bounds
    evidence = DASH
    if found.value is not None:
        evidence = wording.with_interval(lab, found.value, (bounds.low, bounds.high))
        if requirement.statistic in OF_SAMPLES:
            evidence = lab.say(N_("largest sample: {value}"), value=evidence)
    return {
        "id": requirement.id,
        "requirement": words,
        "statistic": lab.words.joined(
            (_statistic(lab, requirement), wording.bounds(lab, bounds)), " "
        ),
        "n": lab.say(COUNTED_ALL if found.others else COUNTED, **found._asdict()),
        "evidence": evidence,
        "verdict": _verdict(lab, found),
        "word": found.verdict,
        "why": found.why,
    }


def _found(lab: "Lab", requirement: Requirement) -> Evidence:
    """Return what the run shows; what it did not measure is not testable here."""
    addresses = requirement.rule.addresses
    run = numbers_at(lab.run, addresses)
    of_rows = replace(run, value=lambda row: row, looked_up={})
    try:
        found = [*chain.from_iterable(map(of_rows.at, addresses))]
    except MissingError:
        return Evidence(NOT_TESTABLE, why="unmeasured")
    rows = {(str(row.study), str(row.point), str(row.op)): row for row in found}
    if requirement.statistic not in OF_SAMPLES:
        return judge_frames(requirement, run)._replace(
            launches=sum(int(row.launches) for row in rows.values()),
            samples=sum(int(row.samples) for row in rows.values()),
        )
    points = [(point_of(lab.run, study, point), op) for study, point, op in rows]
    return judge_samples(requirement, points, bool(lab.run.about["parameters"].get(FIXED)))


def _statistic(lab: "Lab", requirement: Requirement) -> str:
    """Return what is compared with the bound, in words."""
    if (asked := requirement.asked) is None:
        return lab.say(STATISTICS[requirement.statistic])
    key = COVERED if requirement.statistic == MAX else requirement.statistic
    shares = (Quantity(share, "share") for share in (asked.share, asked.confidence))
    return lab.say(STATISTICS[key], **dict(zip(("coverage", "confidence"), shares, strict=True)))


def _verdict(lab: "Lab", found: Evidence) -> str:
    """Return a verdict in words, with what violates the bound or what keeps it from being shown."""
    word = lab.say(labels.WORDS["verdicts"][found.verdict])
    counts = {"n": found.beyond, "samples": found.samples + found.others, "more": found.more}
    if found.verdict == VIOLATED and found.beyond:
        in_all = N_("violated in {n:int} of {samples:int} operations")
        at_least = N_("violated in at least {n:int} of {samples:int} operations")
        return lab.say(in_all if found.counted else at_least, **counts)
    if found.why:
        reason = lab.say(UNSHOWN[found.why], **counts)
        return lab.say(N_("{word}: {reason}"), word=word, reason=reason)
    return word
