"""Workers that are killed at any moment leave nothing, whatever mechanism they talk over."""

import os
import random
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from ipclab.backends.installed import ready
from ipclab.errors import LabError
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.started import Role
from tests.backends.test_channels import VICTIMS, queues_of
from tests.support.commands import (
    ROOT,
    eventually,
    kernel_objects,
    names_of,
    processes_of,
    servers_of,
)
from tests.support.measured import CPUS

KILLS = 60


def kill_one(launcher: Launcher, chance: random.Random) -> None:
    time.sleep(chance.uniform(0.005, 0.08))
    workers: list[int] = []
    until = time.monotonic() + 30
    while not workers and time.monotonic() < until:  # the shot may come before there is a worker
        servers = servers_of(launcher)
        workers = [pid for pid in processes_of(launcher.session.id) if pid not in servers]
        time.sleep(0.001)
    with suppress(ProcessLookupError):
        os.kill(chance.choice(workers), signal.SIGKILL)


@pytest.mark.matrix
@pytest.mark.slow
def test_killed_workers_leave_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance, before = random.Random(3), kernel_objects()
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    names = [*ready(lambda backend: backend.channel and not backend.ranks)]
    with Launcher(tmp_path / "ledger") as launcher:
        session = launcher.session
        for number in range(KILLS):
            name = names[number % len(names)]
            target, levels = "tests.support.channel_targets:chat", {"backend": name}
            killer = threading.Thread(target=kill_one, args=(launcher, chance))
            killer.start()
            with pytest.raises(LabError):
                launcher.launch([Role(role, target, levels, CPUS) for role in VICTIMS], 60)
            killer.join(60)
            assert names_of(session.id) == queues_of(session, launcher.started) == [], name
            assert processes_of(session.id) == servers_of(launcher), name
    assert not Path(session.folder).exists()
    assert processes_of(session.id) == []
    # other tests have theirs for a moment
    assert eventually(lambda: kernel_objects() <= before)
