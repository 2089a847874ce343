"""Requirements in a reader's words: statistic, number of samples, evidence, verdict."""

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import pandas as pd

from ipclab.claims import wording
from ipclab.claims.audit import figures_of, in_language
from ipclab.claims.claim import NOT_TESTABLE
from ipclab.claims.computed import numbers_at
from ipclab.claims.requirement import (
    MAX,
    NOT_SHOWN,
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
COLUMNS = ["id", "requirement", "statistic", "n", "evidence", "verdict", "word", "why"]
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
    return pd.DataFrame(rows, columns=COLUMNS)


def requirements_table(lab: "Lab", name: str = "requirements") -> Table:
    """Return your own requirements as a table: statistic, N, evidence and verdict of each."""
    rows = requirements(lab)
    heads = {
        "id": N_("No."),
        "requirement": N_("Requirement"),
        "statistic": N_("Statistic and bound"),
        "n": N_("N"),
        "evidence": N_("What was found"),
        "verdict": N_("Verdict"),
    }
    cells = rows[[*heads]].rename(columns={key: lab.say(head) for key, head in heads.items()})
    notes = [lab.say(note) for note in NOTES]
    return tabulated(lab, cells, lab.say(N_("Requirements, judged")), notes=notes, name=name)


def _row(lab: "Lab", requirement: Requirement) -> dict[str, Any]:
    found = _found(lab, requirement)
    words = in_language(lab, requirement, figures_of(requirement))
    if requirement.source:
        said = N_("{words} ({section})")
        words = lab.say(said, words=words, section=requirement.source)
    return {
        "id": requirement.id,
        "requirement": words,
        "statistic": _statistic(lab, requirement),
        "n": _counted(lab, found),
        "evidence": _evidence(lab, requirement, found),
        "verdict": _verdict(lab, found),
        "word": found.verdict,
        "why": found.why,
    }


def _counted(lab: "Lab", found: Evidence) -> str:
    """Return how much was judged: samples, and what was timed beside them and kept."""
    counts = {"launches": found.launches, "samples": found.samples, "others": found.others}
    return lab.say(COUNTED_ALL if found.others else COUNTED, **counts)


def _found(lab: "Lab", requirement: Requirement) -> Evidence:
    """Return what the run shows; what it did not measure is not testable here."""
    addresses = requirement.rule.addresses
    run = numbers_at(lab.run, addresses)
    found = replace(run, value=lambda row: row, looked_up={})
    rows = dict[tuple[str, str, str], Any]()
    try:
        for row in chain.from_iterable(map(found.at, addresses)):
            rows[str(row.study), str(row.point), str(row.op)] = row
    except MissingError:
        return Evidence(NOT_TESTABLE, why="unmeasured")
    if not rows:
        return Evidence(NOT_TESTABLE)
    if requirement.statistic not in OF_SAMPLES:
        return judge_frames(requirement, run)._replace(
            launches=sum(int(row.launches) for row in rows.values()),
            samples=sum(int(row.samples) for row in rows.values()),
        )
    points = [(point_of(lab.run, study, point), op) for study, point, op in rows]
    return judge_samples(requirement, points, bool(lab.run.about["parameters"].get(FIXED)))


def _statistic(lab: "Lab", requirement: Requirement) -> str:
    """Return what is compared with which bound, in words."""
    key: str = requirement.statistic
    shares = dict[str, Quantity]()
    if (asked := requirement.asked) is not None:
        key = COVERED if key == MAX else key
        shares["coverage"] = Quantity(asked.share, "share")
        shares["confidence"] = Quantity(asked.confidence, "share")
    said = lab.say(STATISTICS[key], **shares)
    return f"{said} {wording.bounds(lab, requirement.rule.bounds)}"


def _evidence(lab: "Lab", requirement: Requirement, found: Evidence) -> str:
    if found.value is None:
        return DASH
    rule = requirement.rule.bounds
    if requirement.statistic in OF_SAMPLES:
        largest = wording.with_interval(lab, found.value, (rule.low, rule.high))
        return lab.say(N_("largest sample: {value}"), value=largest)
    return wording.with_interval(lab, found.value, (rule.low, rule.high))


def _verdict(lab: "Lab", found: Evidence) -> str:
    """Return a verdict in words, with what violates the bound or what keeps it from being shown."""
    word = lab.say(labels.WORDS["verdicts"][found.verdict])
    counts = {"n": found.beyond, "samples": found.samples + found.others, "more": found.more}
    if found.verdict == VIOLATED and found.beyond:
        in_all = N_("violated in {n:int} of {samples:int} operations")
        at_least = N_("violated in at least {n:int} of {samples:int} operations")
        return lab.say(in_all if found.counted else at_least, **counts)
    if found.verdict in (NOT_SHOWN, NOT_TESTABLE) and found.why:
        reason = lab.say(UNSHOWN[found.why], **counts)
        return lab.say(N_("{word}: {reason}"), word=word, reason=reason)
    return word
