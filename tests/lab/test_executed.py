"""Pages of the reference run, each executed once in this process: findings are true of their rows and
have no hole, ratios are quotients as printed, figures can be told apart in grey and show their data.
"""

from pathlib import Path

import pytest

from tests.lab.test_sweeps import PAGES, STUDIES
from tests.support.beyond import beyond
from tests.support.changed import Run
from tests.support.cut import cut
from tests.support.divided import undivided
from tests.support.executed import contradicted, executed, findings, holes
from tests.support.few import some, where
from tests.support.grey import alike
from tests.support.rendered import DATA
from tests.support.told import measured, reference

BOOKS = sorted(PAGES[study] for study in STUDIES)
DAILY = ("07_faults", "10_spin")  # which are quick; of others the reports are looked at
# What is changed: values of a level, levels that change places.
TIMES = [
    ("payload", "backend", "tcp", 10),
    ("payload", "mapping", "kept", 0.1),
    ("shared_dict", "backend", "zmq-push", 0.1),
    ("shared_dict", "entries", 10_000, 10),
    ("round_trip", "backend", "unix", 0.1),
    ("round_trip", "placement", "cross", 10),
    ("round_trip", "wait", "spin", 10),
    ("stream", "backend", "shm-ring", 10),
    ("stream", "placement", "cross", 0.1),
    ("objects", "way", "shared-memory", 10),
    ("tasks", "backend", "thread", 10),
    ("spin", "spin_ns", 30_000, 0.1),
    ("multiplexer", "backend", "hybrid", 10),
    ("multiplexer", "medium", "unix", 0.1),
    ("file_io", "backend", "mmap", 10),
    ("file_io", "cache", "cold", 0.1),
]
EXCHANGED = [
    ("payload", "mapping", "kept", "truncated"),
    ("round_trip", "placement", "same", "cross"),
    ("round_trip", "backend", "unix", "shm-futex"),
    ("stream", "backend", "unix", "shm-ring"),
    ("objects", "way", "pickle5", "arrow"),
    ("tasks", "backend", "thread", "pool-fork"),
    ("multiplexer", "backend", "hybrid", "original"),
    ("multiplexer", "pool", "yes", "no"),
    ("file_io", "buffer", "fresh", "prefaulted"),
]
AS_MEASURED = Run()
CHANGED = [Run(study, {(factor, level): times}) for study, factor, level, times in TIMES]
CHANGED += [
    Run(study, places={factor: {one: other, other: one}}) for study, factor, one, other in EXCHANGED
]


@pytest.mark.slow
@pytest.mark.parametrize("name", where(BOOKS, lambda name: name in DAILY))
def test_a_page_is_true_and_its_figures_can_be_read(name: str) -> None:
    page = executed(name, AS_MEASURED, drawn=True)
    assert findings(page.said) or name == "07_faults"  # whose findings are counts
    assert contradicted(page.said, measured(name.partition("_")[2], "points")) == []
    assert holes(page.said) == []
    assert [line for part in page.together for line in undivided(part)] == []
    assert page.figures
    for figure in page.figures.values():
        figure.draw_without_rendering()  # which lays it out
    for wrong in (alike, cut, beyond):
        assert {
            title: found for title, each in page.figures.items() if (found := wrong(each))
        } == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    "run", some(CHANGED, 10), ids=lambda run: f"{run.study} {run.changes or run.places}"
)
def test_findings_follow_the_values(run: Run) -> None:
    page = executed(PAGES[run.study], run)
    assert findings(page.said)
    assert contradicted(page.said, run(reference(), run.study, "points")) == []
    assert holes(page.said) == []


@pytest.mark.slow
@pytest.mark.timeout(1800)  # the first that asks for the reports renders them
def test_the_appendix_prints_the_quotients_of_its_values(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it quotes was executed for the reports."""
    monkeypatch.setenv("IPCLAB_DATA", str(made / DATA))
    page = executed("00_appendix", AS_MEASURED)
    assert len(page.together) > 20
    assert [line for part in page.together for line in undivided(part)] == []
