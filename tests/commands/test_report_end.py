"""What `ipclab report` says at its end: how much is decided, what more would be, and how long it takes."""

from ipclab.claims.audit import audited
from ipclab.claims.claim import FAILS, HOLDS
from ipclab.commands.report import added, decided
from ipclab.lab.lab import Lab
from ipclab.paths import checkout
from tests.support.told import reference


def test_statements_are_those_that_the_machine_can_test() -> None:
    found = audited(Lab.of(reference(), checkout(), "en"))
    count = int(found.here.isin([HOLDS, FAILS]).sum())
    out_of_reach = found.here_reason.str.startswith("needs ").sum()
    testable = len(found) - out_of_reach
    said = f"Decided: {count} of the {testable} statements that this machine can test."
    assert decided(reference(), checkout()) == said
    assert 0 < count < len(found) - out_of_reach < len(found)


def test_a_briefer_profile_names_what_standard_adds_and_how_long_it_takes() -> None:
    (line,) = added("quick")
    assert line == (
        "PROFILE=standard adds more launches, the studies stream, faults, objects, spin, tasks"
        " and all round trips of the text; it takes 32 to 52 minutes: make report PROFILE=standard"
    )
    assert added("standard") == added("published") == []
