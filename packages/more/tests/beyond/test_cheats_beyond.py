"""The catalogue of cheats (docs/cheats.md) in streams, objects, beside a neighbour and in windows."""

import re
from collections.abc import Iterator

import pytest

from ipclab.spawn.launcher import Launcher
from ipclab_more.studies.objects import ObjectsStudy
from tests.support.catalogue import refused, said
from tests.support.commands import ROOT

STREAMS, OBJECTS, TRIPS = said("streams"), said("objects"), said("round trips")


@pytest.fixture(scope="module")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launcher]:
    """Fork servers that have imported what objects need, so that no worker must."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        folder = tmp_path_factory.mktemp("ledger")
        with Launcher(folder, preloads=(ObjectsStudy.preload,)) as made:
            yield made


@pytest.mark.parametrize("cheat", STREAMS)
def test_a_cheat_in_streams_is_refused_as_what_it_is(launcher: Launcher, cheat: str) -> None:
    told = refused(launcher, "stream", 10_000, cheat)
    assert re.search(STREAMS[cheat], told), told


def test_a_bit_that_turns_in_few_of_long_messages_is_found(launcher: Launcher) -> None:
    told = refused(launcher, "stream", 1_000_000, "RotSome")
    assert re.search(r"message \d+ arrived with other bytes", told), told


@pytest.mark.parametrize("cheat", OBJECTS)
def test_a_cheat_with_objects_is_refused_as_what_it_is(launcher: Launcher, cheat: str) -> None:
    told = refused(launcher, "objects", 10_000, cheat, arm="carriers")
    assert re.search(OBJECTS[cheat], told), told


@pytest.mark.parametrize("cheat", ["RotSome", "Local", "OneProcess", "Repeated", "Zeros"])
@pytest.mark.parametrize("study", ["neighbours", "spin"])
def test_a_cheat_in_another_studys_round_trips_is_refused_as_what_it_is(
    launcher: Launcher, study: str, cheat: str
) -> None:
    told = refused(launcher, study, 10_000, cheat)
    assert re.search(TRIPS[cheat], told), told


@pytest.mark.slow
@pytest.mark.parametrize(("study", "arm"), [("stream", "main"), ("objects", "carriers")])
def test_a_genuine_mechanism_is_never_accused(launcher: Launcher, study: str, arm: str) -> None:
    assert [refused(launcher, study, 10_000, "Base", arm=arm) for _ in range(5)] == [""] * 5
