"""Planted faults are caught on every backend, and killed processes leave nothing of ours and take
nothing else.
"""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from ipclab.backends.interface import Backend, Place
from ipclab.errors import LabError
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.ledger import SHARED_MEMORY, Session, close_dead_sessions
from ipclab.spawn.owned import KINDS
from ipclab.spawn.started import Role
from tests.backends.test_channels import CHANNELS, talk
from tests.spawn.test_workers import CPUS
from tests.support.channel_targets import TRIALS, TRIPS
from tests.support.commands import (
    ROOT,
    environment,
    eventually,
    kernel_objects,
    names_of,
    processes_of,
    servers_of,
)

SIZE = 200
WORKER_KILLS, OWNER_KILLS = 60, 6
OWNER = """
import sys
from pathlib import Path
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.started import Role
with Launcher(Path(sys.argv[1])) as launcher:
    while True:
        for name in sys.argv[2:]:
            target, every = "tests.support.channel_targets:chat", {"backend": name}
            print(launcher.session.id, flush=True)
            launcher.launch([Role(role, target, every, frozenset({%d})) for role in ("server", "client")], 60)
"""


@pytest.mark.slow
@pytest.mark.parametrize("backend", CHANNELS, ids=lambda backend: backend.name)
def test_planted_faults_are_caught(launcher: Launcher, backend: Backend) -> None:
    told = talk(launcher, "faulty", backend, size=SIZE)["client"].facts
    wrong = [1 + trial % (TRIPS - 1) for trial in range(TRIALS)]
    for fault in ("stale", "torn", "short"):
        assert told[fault] == [[at] for at in wrong], fault
    assert told["duplicate"] == [[*range(at, TRIPS)] for at in wrong]


@pytest.fixture
def foreign() -> Iterator[list[Path]]:
    """Files that look much like ours and are not."""
    mark = f"ipclab-1-1-{os.urandom(4).hex()}"
    names = [f"{mark}-1-request", f"sem.{mark}-1-request-full", f"iox2_{mark}.data", f"srb_{mark}"]
    files = [SHARED_MEMORY / name for name in names]
    folder = Path("/tmp") / mark
    folder.mkdir()
    files.append(folder / "socket")
    for file in files:
        file.write_text("not ours")
    yield files
    for file in files:
        file.unlink()
    folder.rmdir()


def there() -> list[str]:
    return [backend.name for backend in CHANNELS if not backend.ranks and not backend.missing()]


def kill_one(launcher: Launcher, chance: random.Random) -> None:
    time.sleep(chance.uniform(0.005, 0.08))
    workers = [pid for pid in processes_of(launcher.session.id) if pid not in servers_of(launcher)]
    # Until the launch ends, in case the first shot came before there was a worker.
    while not workers:
        time.sleep(0.005)
        workers = [
            pid for pid in processes_of(launcher.session.id) if pid not in servers_of(launcher)
        ]
    with suppress(ProcessLookupError):
        os.kill(chance.choice(workers), signal.SIGKILL)


def queues(session: Session, launch: int) -> list[str]:
    """Return the message queues that launch number `launch` has left, where no folder shows them."""
    place = Place(session.prefix(launch), session.folder, 1)
    tags = ("request", "answer")
    named = [("posix-queue", f"/{place.name(tag)}") for tag in tags]
    named += [("system-v-queue", str(place.key(tag))) for tag in tags]
    return [name for kind, name in named if KINDS[kind].exists(name)]


@pytest.mark.matrix
@pytest.mark.slow
def test_killed_workers_leave_nothing_and_take_nothing(tmp_path: Path, foreign: list[Path]) -> None:
    chance, before = random.Random(3), kernel_objects()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        with Launcher(tmp_path / "ledger") as launcher:
            session = launcher.session
            for number in range(WORKER_KILLS):
                name = there()[number % len(there())]
                roles = [
                    Role(role, "tests.support.channel_targets:chat", {"backend": name}, CPUS)
                    for role in ("server", "client")
                ]
                killer = threading.Thread(target=kill_one, args=(launcher, chance))
                killer.start()
                with pytest.raises(LabError):
                    launcher.launch(roles, 60)
                killer.join()
                assert names_of(session.id) == [], name
                assert not queues(session, number + 1), name
                assert processes_of(session.id) == servers_of(launcher), name
    assert not Path(session.folder).exists()
    assert processes_of(session.id) == []
    # other tests have theirs for a moment
    assert eventually(lambda: kernel_objects() <= before)
    assert [file.read_text() for file in foreign] == ["not ours"] * len(foreign)


def gone(session: str) -> bool:
    return not processes_of(session)


@pytest.mark.slow
def test_killed_owners_leave_nothing_and_take_nothing(tmp_path: Path, foreign: list[Path]) -> None:
    chance = random.Random(4)
    ledger = tmp_path / "ledger"
    for number in range(OWNER_KILLS):
        names = there()[number:] + there()[:number]
        command = [sys.executable, "-c", OWNER % min(CPUS), str(ledger), *names]
        with subprocess.Popen(
            command, env=environment(Path("/tmp")) | {"TMPDIR": "/tmp"}, stdout=subprocess.PIPE
        ) as owner:
            assert owner.stdout
            session = owner.stdout.readline().decode().strip()
            time.sleep(chance.uniform(0.0, 1.0))
            owner.kill()
        assert eventually(partial(gone, session)), names[0]
        close_dead_sessions(ledger)
        assert names_of(session) == [], names[0]
        assert not (Path("/tmp") / session).exists()
        assert list(ledger.iterdir()) == []
    assert [file.read_text() for file in foreign] == ["not ours"] * len(foreign)
