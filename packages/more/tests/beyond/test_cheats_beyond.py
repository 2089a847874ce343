"""The catalogue of cheats (docs/cheats.md) in streams, in objects and after a spin."""

from collections.abc import Iterator

import pytest

from ipclab.spawn.launcher import Launcher
from ipclab_more.studies.objects import ObjectsStudy
from tests.support.catalogue import GENUINE, mistold, refused, said
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


@pytest.mark.slow
def test_a_cheat_in_streams_is_refused_as_what_it_is(launcher: Launcher) -> None:
    assert mistold(STREAMS, launcher, "stream", 10_000) == {}


def test_what_is_wrong_with_few_of_long_messages_is_found(launcher: Launcher) -> None:
    told = dict.fromkeys(("RotSome", "Filled"), r"message \d+ arrived with other bytes")
    assert mistold(told, launcher, "stream", 1_000_000) == {}


@pytest.mark.slow
def test_a_cheat_with_objects_is_refused_as_what_it_is(launcher: Launcher) -> None:
    assert mistold(OBJECTS, launcher, "objects", 10_000, arm="carriers") == {}


def test_a_cheat_in_round_trips_after_a_spin_is_refused_as_what_it_is(launcher: Launcher) -> None:
    some = {
        cheat: TRIPS[cheat] for cheat in ("RotSome", "Local", "OneProcess", "Repeated", "Zeros")
    }
    assert mistold(some, launcher, "spin", 10_000) == {}


@pytest.mark.parametrize(("study", "arm"), [("stream", "main"), ("objects", "carriers")])
def test_a_genuine_mechanism_is_never_accused(launcher: Launcher, study: str, arm: str) -> None:
    assert refused(launcher, study, 10_000, GENUINE, arm=arm) == [""] * len(GENUINE)
