"""Which run a request goes into, and which one answers it already: by parameters, machine, code."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ipclab.errors import UsageError
from ipclab.paths import Paths
from ipclab.session.asked_run import continued, measured_before
from ipclab.session.request import Request
from ipclab.store.record import Record
from ipclab.studies.interface import Sweep
from tests.support.made import begun

MINE = Request(("payload",), "smoke", sweep=Sweep((84,), ("shm-mmap",)), label="n1")
OTHER = replace(MINE, sweep=Sweep((88,), ("shm-mmap",)))
WHEN = "2026-11-20T10:00:00+00:00"


@pytest.fixture
def run(paths: Paths) -> Record:
    """A finished run of that request, of one session."""
    made = begun(paths.runs, **MINE.parameters())
    made.about["finished"] = WHEN
    made.save()
    return made


def test_a_notebook_opens_what_the_same_code_measured_for_the_same_request(
    run: Record, paths: Paths
) -> None:
    digest, facts = run.machine, run.facts

    def found(request: Request = MINE, digest: str = digest, **other: str) -> bool:
        machine: Any = SimpleNamespace(digest=digest, facts={**facts, **other})
        return measured_before(paths, request, machine) is not None

    assert found()
    assert not found(OTHER) and not found(replace(MINE, label="n2"))
    assert not found(digest="another") and not found(code_digest="another")
    run.about["failures"] = {"a point": "no such luck"}
    run.save()
    assert not found()
    run.about |= {"failures": {}, "finished": None}
    run.save()
    assert not found()


def path_of(found: Record | None) -> Path | None:
    return found.path if found else None


def test_what_is_not_finished_is_continued_by_the_same_request_on_the_same_machine(
    run: Record, paths: Paths
) -> None:
    assert continued(paths, MINE, run.machine) is None
    run.about["finished"] = None
    run.save()
    assert path_of(continued(paths, MINE, run.machine)) == run.path
    assert path_of(continued(paths, replace(MINE, seed=1), run.machine)) == run.path
    for request, machine in ((OTHER, run.machine), (MINE, "another")):
        assert continued(paths, request, machine) is None
    assert continued(paths, replace(MINE, seed=2), run.machine) is None


def test_a_run_gets_the_sessions_that_are_asked_for(run: Record, paths: Paths) -> None:
    assert run.last_session == 1
    assert path_of(continued(paths, replace(MINE, sessions=2), run.machine)) == run.path
    begins: dict[str, object] = {"begun": WHEN, "conditions": {}}
    run.about["sessions"] = [begins | {"number": number} for number in (1, 2)]
    run.save()
    assert run.last_session == 2
    assert continued(paths, replace(MINE, sessions=2), run.machine) is None
    assert path_of(continued(paths, replace(MINE, sessions=3), run.machine)) == run.path


def test_a_run_that_is_named_is_continued_though_it_is_finished(run: Record, paths: Paths) -> None:
    assert path_of(continued(paths, replace(MINE, run=run.path), run.machine)) == run.path
    for request, machine in ((OTHER, run.machine), (MINE, "another")):
        with pytest.raises(UsageError, match=f"{run.id} cannot be continued"):
            continued(paths, replace(request, run=run.path), machine)
