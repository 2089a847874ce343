"""Whole sessions of one run: each measures all anew, and one that was killed goes on."""

from dataclasses import replace
from typing import Any

import pytest

from ipclab.paths import Paths
from ipclab.session.progress import Progress
from ipclab.session.request import Request
from ipclab.session.rounds import Rounds
from ipclab.session.session import measure_run
from ipclab.spawn.failures import SessionError
from ipclab.stats.sessions import SESSION_HEATS
from ipclab.store.contradictions import refuse_contradictions
from ipclab.store.launch import Launch
from ipclab.store.run import RunFolder
from ipclab.store.samples import decode
from ipclab.studies.calibration import CalibrationStudy
from ipclab.studies.profile import PROFILES

STUDY = CalibrationStudy()
SMOKE = PROFILES["smoke"]
GIVEN = {STUDY.name: (SMOKE, STUDY.pairs(1, ("same",)))}
REQUEST = Request((), "smoke", purpose={"test": 1}, given=GIVEN)


def numbers(run: RunFolder) -> list[int]:
    return [session["number"] for session in run.about["sessions"]]


def sessions_of(run: RunFolder) -> list[list[tuple[int, int]]]:
    """Return by point the session of each launch's heat, and that of its round."""

    def number(launch: Launch, name: str) -> int:
        return int(str(launch.facts[name])) // SESSION_HEATS

    points = [*map(decode, run.point_files())]
    refuse_contradictions(run, points, 1 << 20)
    return [
        [(number(launch, "heat"), number(launch, "round")) for launch in each.launches]
        for each in points
    ]


def test_sessions_are_added_to_one_run_each_whole(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress, said = Progress(), list[str]()
    monkeypatch.setattr(progress, "say", said.append)
    run = measure_run(paths, replace(REQUEST, sessions=2), progress)
    assert numbers(run) == [1, 2] and run.complete
    begun = [line for line in said if "is being prepared" in line]
    assert [line.endswith("is being prepared (session 2)") for line in begun] == [False, True]
    # hours later
    again = measure_run(paths, replace(REQUEST, sessions=3), Progress())
    assert again.id == run.id and numbers(again) == [1, 2, 3] and again.complete
    launches = SMOKE.least_launches
    whole = [(number, number) for number in range(3) for _ in range(launches)]
    assert sessions_of(again) == [whole] * 3
    # it lacks none: another one is begun, as ever
    assert measure_run(paths, REQUEST, Progress()).id != run.id


def test_a_session_that_was_killed_goes_on_and_the_one_before_is_kept(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = measure_run(paths, REQUEST, Progress())
    usual = Rounds.measure

    def killed(rounds: Rounds, *asked: Any) -> None:
        rounds.launch(rounds.heats[0], 1)
        raise SessionError("the fork server does not answer")

    monkeypatch.setattr(Rounds, "measure", killed)
    with pytest.raises(SessionError):
        measure_run(paths, replace(REQUEST, sessions=2), Progress())
    monkeypatch.setattr(Rounds, "measure", usual)
    again = measure_run(paths, REQUEST, Progress())
    assert again.id == run.id and numbers(again) == [1, 2, 2] and again.complete
    assert sessions_of(again) == [[(0, 0)] * 2 + [(1, 1)] * 2] * 3
