"""The catalogue of cheats (docs/cheats.md): each is refused as what it is, genuine mechanisms are
not.
"""

import re
from dataclasses import replace

import pytest

from ipclab.spawn.launcher import Launcher
from ipclab.spawn.proof import PayloadError
from ipclab.studies.installed import study
from ipclab.studies.interface import Sweep
from ipclab.studies.profile import PROFILES
from ipclab.studies.shared_dict import ends
from tests.support.catalogue import GENUINE, mistold, refused, said
from tests.support.few import some
from tests.support.store_cheats import CHEATS, ran

TRIPS, DICTIONARY, PAYLOAD = said("round trips"), said("dictionary"), said("payload")


@pytest.mark.slow
def test_a_cheat_in_round_trips_is_refused_as_what_it_is(launcher: Launcher) -> None:
    assert mistold(TRIPS, launcher, "round_trip", 10_000) == {}


def test_what_is_wrong_with_few_of_long_messages_is_found(launcher: Launcher) -> None:
    # the server gives up where the other end takes long to say what is wrong
    of_few = "message \\d+ (arrived at the server with other bytes|of a turn did not come)"
    told = {cheat: f"{TRIPS[cheat]}|{of_few}" for cheat in ("RotSome", "RotLast", "Past")}
    # who answers itself is no time-out where messages are long
    told["Local"] = "message 0 was not answered by the server"
    assert mistold(told, launcher, "round_trip", 1_000_000) == {}


@pytest.mark.slow
def test_a_cheat_in_shared_memory_is_refused_as_what_it_is(launcher: Launcher) -> None:
    assert mistold(PAYLOAD, launcher, "payload", 10_000, "shm-mmap", "handover") == {}


@pytest.mark.parametrize(
    ("study", "backend", "arm"),
    [("round_trip", "unix", "main"), ("payload", "shm-mmap", "handover")],
)
def test_a_genuine_mechanism_is_never_accused(
    launcher: Launcher, study: str, backend: str, arm: str
) -> None:
    assert refused(launcher, study, 10_000, GENUINE, backend, arm) == [""] * len(GENUINE)


def dictionary(cheat: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return why a launch of the dictionary over `cheat` is refused; nothing where it is not."""
    asked = study("shared_dict")
    effort = replace(PROFILES["smoke"], turn_ns=5_000_000, least_samples=40, most_samples=60)
    points = asked.points(effort, Sweep((), ("posix-shm",)))
    point = next(
        point for point in points if (point.levels["arm"], point.levels["readers"]) == ("stream", 1)
    )
    monkeypatch.setattr(ends, "store_of", lambda backend: CHEATS[cheat])
    ended = ran(3, backend=point.backend, **point.levels, writes=30, **effort.samples)
    outcomes = {}
    for role, outcome in ended.items():
        if isinstance(outcome, PayloadError):
            return str(outcome)
        assert not isinstance(outcome, Exception), outcome
        outcomes[role] = outcome
    try:
        asked.collect(point, dict(sorted(outcomes.items(), reverse=True)), 9)
    except PayloadError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("cheat", some([*DICTIONARY], 4))
def test_a_cheat_in_the_dictionary_is_refused_as_what_it_is(
    cheat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = dictionary(cheat, monkeypatch)
    assert re.search(DICTIONARY[cheat], told), told


def test_a_genuine_store_is_never_accused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [dictionary(each, monkeypatch) for each in GENUINE] == [""] * len(GENUINE)
