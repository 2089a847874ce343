"""Trust follows from facts of the run by a table of rules; what referees said is kept with the run."""

from pathlib import Path

import msgspec
import pytest

from ipclab.errors import LabError
from ipclab.lab.lab import Lab
from ipclab.paths import Paths
from ipclab.report.appendix import trust
from ipclab.report.appendix.trust import HIGH, LOW, MEDIUM, RULES, trust_judged
from ipclab.store.files import dump_json
from ipclab.store.record import Record
from ipclab.store.referees import (
    FILE,
    KEPT,
    SCHEMA,
    Found,
    Referees,
    keep_referees,
    referees_kept,
)
from tests.support.bundled import make_run

GOOD: dict[str, float | None] = dict.fromkeys((rule.fact for rule in RULES), 0.0)
AGREES, DIFFERS = (Found("pipe", "perf", "same", 0.15, ratio) for ratio in (0.9, 1.2))
ABSENT = Found("TCP", "sockperf", "same", 0.15, None, "sockperf is not installed")


@pytest.fixture
def run(tmp_path: Path) -> Record:
    return make_run(tmp_path)


def ask(run: Record, *found: Found) -> None:
    """Write what referees found beside the run, and have the run keep it."""
    said = Referees("2026-11-21T20:00:00+00:00", list(found), SCHEMA)
    (run.path.parent / FILE).write_bytes(dump_json(msgspec.to_builtins(said)))
    keep_referees(run)


def test_each_rule_at_its_best_is_needed_for_high() -> None:
    assert trust_judged(GOOD) == (HIGH, [])
    for rule in RULES:
        between = (rule.high + rule.medium) / 2
        unknown = HIGH if rule.fact == "beaten" else MEDIUM  # a limit that there is not
        for fact, trust_of in (
            (rule.high, HIGH),
            (between, MEDIUM),
            (rule.medium + 0.01, LOW),
            (None, unknown),
        ):
            lowered = [] if trust_of == HIGH else [rule]
            assert trust_judged({**GOOD, rule.fact: fact}) == (trust_of, lowered)


def test_a_method_bounds_what_the_run_can_show() -> None:
    assert trust_judged(GOOD, MEDIUM) == (MEDIUM, [])
    assert trust_judged({**GOOD, "disturbed": 1.0}, MEDIUM)[0] == LOW


@pytest.mark.parametrize(
    ("found", "share"),
    [
        ((), None),
        ((AGREES, AGREES), 0.0),
        ((AGREES, DIFFERS), 0.5),
        ((AGREES, ABSENT), None),
        ((AGREES, DIFFERS, ABSENT), 0.5),
    ],
)
def test_the_run_keeps_what_was_said(
    run: Record, paths: Paths, found: tuple[Found, ...], share: float
) -> None:
    lab = Lab.of(run, paths, "en")
    assert trust.rule_facts(lab, "round_trip")["referees"] is None
    ask(run, *found)
    known = referees_kept(run)
    assert known and known.found == list(found)
    assert trust.rule_facts(lab, "round_trip")["referees"] == share


def test_what_was_altered_is_not_believed(run: Record) -> None:
    ask(run, AGREES)
    (run.path / KEPT).write_bytes((run.path / KEPT).read_bytes().replace(b"0.9", b"1.0"))
    with pytest.raises(LabError, match="not what was measured"):
        referees_kept(run)
    (run.path.parent / FILE).write_text("{}")
    with pytest.raises(LabError, match="cannot be read"):
        keep_referees(run)


def test_the_facts_are_those_of_the_points_asked_for(run: Record, paths: Paths) -> None:
    row = trust.trusted(Lab.of(run, paths, "en"), "round_trip", backend="unix")
    known = trust.rule_facts(Lab.of(run, paths, "en"), "round_trip", backend="unix")
    assert known["disturbed"] == 0.0
    assert 0 < (known["width"] or 0) < 0.2
    assert known["beaten"] == 0.0
    assert known["false_alarms"] is None
    assert row["trust"] == "medium"
    assert row["lowered"] == "no calibration in this run; not every referee was asked"
