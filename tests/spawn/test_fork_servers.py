"""Fork servers: which one a worker comes from, and which are started anew."""

import socket
import sys
from dataclasses import replace
from pathlib import Path
from threading import Timer

import pytest

from ipclab.spawn.launcher import Launcher
from ipclab.spawn.started import ForkServer, Role, Started
from ipclab.spawn.wire import Wire
from tests.support.commands import ROOT, processes_of, ran
from tests.support.measured import CPUS

PRELOADED = """
import sys
import ipclab.spawn.zygote
from ipclab.studies.installed import preload
preload()
print(*sys.modules)
"""
HEAVY = {"IPython", "matplotlib", "pandas", "pyarrow", "scipy", "seaborn"}


def role(name: str = "solo") -> Role:
    return Role(name, "tests.support.targets:tell_parent", {}, CPUS)


def test_a_fork_server_loads_nothing_that_only_makes_each_fork_longer() -> None:
    loaded = {*ran([sys.executable, "-c", PRELOADED]).stdout.split()}
    assert "numpy" in loaded and not loaded & HEAVY


def test_the_first_worker_comes_from_another_server_than_the_others(launcher: Launcher) -> None:
    outcomes = launcher.launch([role(name) for name in "abc"], 30)
    first, other = (server.process.pid for server in launcher.servers)
    assert [outcome.facts["parent"] for outcome in outcomes.values()] == [first, other, other]


def test_new_servers_have_come_before_the_old_ones_go(
    launcher: Launcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between them nothing would remove what the session owns if its owner were killed."""
    old, killed, kill = launcher.servers, [], ForkServer.kill

    def told(server: ForkServer) -> None:
        killed.append((server, [each.process.poll() for each in launcher.servers]))
        kill(server)

    monkeypatch.setattr(ForkServer, "kill", told)
    launcher.renew()
    assert killed == [(server, [None, None]) for server in old]
    assert not set(old) & set(launcher.servers)


@pytest.mark.slow
def test_servers_with_a_preload_stay_until_they_have_started_a_worker(tmp_path: Path) -> None:
    preload = "ipclab.studies.installed:preload"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        with Launcher(tmp_path, preloads=[preload]) as launcher:
            usual, loaded = launcher.servers, launcher.loaded[preload]
            launcher.renew()
            assert not set(usual) & set(launcher.servers)
            assert launcher.loaded[preload] == loaded
            assert [server.process.poll() for server in loaded] == [None, None]
            asked = replace(role(), preload=preload)
            outcome = launcher.launch([asked], 30)["solo"]
            assert outcome.facts["parent"] == loaded[0].process.pid
            launcher.renew()
            assert not set(loaded) & set(launcher.loaded[preload])
            loaded = launcher.loaded[preload]
            loaded[1].kill()
            launcher.renew()  # one that is gone is replaced, and its fellow with it
            assert not set(loaded) & set(launcher.loaded[preload])
    assert processes_of(launcher.session.id) == []


def test_the_end_of_a_worker_is_waited_for_however_short_the_wait_before_was() -> None:
    ours, server = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    wire, worker_side = socket.socketpair()
    with ours, server, wire, worker_side:
        started = Started(Role("one", "", {}, frozenset()), Wire(wire), ours, stderr=-1)
        assert not started.await_start(0.01)
        ended = Timer(0.3, server.send, [b"7"])
        ended.start()
        assert started.await_end() == 7
        ended.join()
