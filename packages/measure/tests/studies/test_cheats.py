"""The catalogue of cheats: each is refused as what it is, and genuine mechanisms are not."""

import re
from dataclasses import replace

import pytest

from ipclab.errors import LabError
from ipclab_measure.machine.placement import Placement
from ipclab_measure.spawn.heat import Contestant, Heat, Schedule
from ipclab_measure.spawn.launcher import Launcher
from ipclab_measure.spawn.proof import PayloadError
from ipclab_measure.studies.installed import study
from ipclab_measure.studies.interface import Sweep
from ipclab_measure.studies.profile import PROFILES
from tests.spawn.test_workers import CPUS

SMOKE = replace(PROFILES["smoke"], turn_ns=10_000_000, least_samples=20, most_samples=400)
FREE = Placement("free", (CPUS,), "free")
OTHER, AGAIN = (
    r"arrived with other bytes at \d+",
    r"did not arrive: message -?\d+ came in its place",
)
ALONE = "was not answered by the server"
WRONG = f"message -?[0-9]+ ({OTHER}|{AGAIN})"
# cheat -> what is said of it where messages are asked and answered, and where they are streamed
SAID = {
    "Rot": (WRONG, f"({WRONG}|lost)"),
    "RotLast": (OTHER, OTHER),
    "RotMiddle": (OTHER, OTHER),
    "RotSome": (OTHER, OTHER),
    "RotLate": (OTHER, OTHER),
    "RotLong": (OTHER, OTHER),
    "Cut": (r"arrived( at the server)? with [25],[05]00 of 10,000 bytes", "with 5,000 of 10,000 bytes"),
    "Longer": ("arrived longer than it was sent|with 10,00[12] of 10,000 bytes", "with 10,001 of 10,000 bytes"),
    "Padded": (OTHER, OTHER),
    "Zeros": ("message 0 arrived with nothing but zeros|other bytes at 0", "nothing but zeros|lost"),
    "Past": (AGAIN, f"lost|duplicated|{AGAIN}"),
    "OtherTurn": (AGAIN, f"lost|duplicated|{AGAIN}"),
    "Repeated": (AGAIN, f"lost|duplicated|{AGAIN}"),
    "Twice": (AGAIN, "more came than were sent|duplicated"),
    "Swapped": ("no answer to message|did not come", "reordered"),
    "Lost": ("no answer to message|did not come", "reordered"),
    "Skip": (ALONE, ""),
    "Local": (ALONE, ""),
    "OneProcess": (ALONE, "message 0 arrived with 0 of 10,000 bytes"),
    "Half": (OTHER, OTHER),
    "Equal": (f"{OTHER}|nothing but zeros", OTHER),
    "Reused": ("", f"{AGAIN}|{OTHER}"),
    "Early": ("", f"{AGAIN}|{OTHER}|duplicated|lost"),
}  # fmt: skip


def refused(
    launcher: Launcher, name: str, size: int, cheat: str, backend: str = "unix", arm: str = "main"
) -> str:
    """Return why a launch of the study `name` over `cheat` is refused; nothing where it is not."""
    asked = study(name)
    effort = asked.effort(SMOKE)
    points = asked.points(effort, Sweep((size,), (backend,)))
    point = next(point for point in points if point.levels["arm"] == arm)
    lying = [
        replace(
            role,
            target="tests.support.cheats:run",
            arguments={**role.arguments, "target": role.target, "cheat": cheat},
        )
        for role in asked.roles(point, effort, FREE, 9)
    ]
    ended = Heat(launcher, Schedule(turns=3, warm_turns=1, seconds=30)).run(
        {"cheat": Contestant(point, lying)}
    )["cheat"]
    if isinstance(ended, LabError):
        return str(ended)
    try:
        asked.collect(point, ended, 9)
    except PayloadError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("cheat", [cheat for cheat, (said, _) in SAID.items() if said])
def test_a_cheat_in_round_trips_is_refused_as_what_it_is(launcher: Launcher, cheat: str) -> None:
    told = refused(launcher, "round_trip", 10_000, cheat)
    assert re.search(SAID[cheat][0], told), told


def test_who_answers_itself_is_no_time_out_where_messages_are_long(launcher: Launcher) -> None:
    told = refused(launcher, "round_trip", 1_000_000, "Local")
    assert f"message 0 {ALONE}" in told, told


@pytest.mark.parametrize("cheat", [cheat for cheat, (_, said) in SAID.items() if said])
def test_a_cheat_in_streams_is_refused_as_what_it_is(launcher: Launcher, cheat: str) -> None:
    told = refused(launcher, "stream", 10_000, cheat)
    assert re.search(SAID[cheat][1], told), told


@pytest.mark.parametrize("cheat", ["RotSome", "Local", "OneProcess", "Repeated", "Zeros"])
def test_a_cheat_beside_a_neighbour_is_refused_as_what_it_is(
    launcher: Launcher, cheat: str
) -> None:
    told = refused(launcher, "neighbours", 10_000, cheat)
    assert re.search(SAID[cheat][0], told), told


@pytest.mark.parametrize(
    ("cheat", "said"),
    [
        ("Private", "message 0 arrived with nothing but zeros"),
        ("HalfWritten", "message 0 arrived with other bytes at 5000"),
    ],
)
def test_shared_memory_that_is_not_shared_is_refused_as_what_it_is(
    launcher: Launcher, cheat: str, said: str
) -> None:
    told = refused(launcher, "payload", 10_000, cheat, "shm-mmap", "handover")
    assert said in told, told


@pytest.mark.slow
@pytest.mark.parametrize("study", ["round_trip", "stream"])
def test_a_genuine_mechanism_is_never_accused(launcher: Launcher, study: str) -> None:
    assert [refused(launcher, study, 10_000, "Base") for _ in range(20)] == [""] * 20
