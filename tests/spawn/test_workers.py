"""Workers and the fork server: real processes that meet, hang, die and raise."""

import json
import os
import signal
import socket
import subprocess
import sys
from array import array
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from ipclab.backends.waiting import start_ticks
from ipclab.spawn.failures import LaunchError, SessionError
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.ledger import close_dead_sessions
from ipclab.spawn.started import Role
from tests.support.commands import ROOT, eventually, files_of, names_of, processes_of, servers_of
from tests.support.few import some
from tests.support.measured import CPUS


def role(target: str, name: str = "solo", cpus: frozenset[int] = CPUS, **arguments: object) -> Role:
    return Role(name, f"tests.support.targets:{target}", arguments, cpus)


def only_the_server(launcher: Launcher) -> bool:
    return processes_of(launcher.session.id) == servers_of(launcher)


def test_workers_meet_and_hand_everything_over(launcher: Launcher) -> None:
    values = {"left": [0, -1, 2**62], "right": [7]}
    last = max(CPUS)
    roles = [role("echo", name, frozenset({last}), values=given) for name, given in values.items()]
    outcomes = launcher.launch(roles, 30)
    assert list(outcomes) == ["left", "right"]
    for name, outcome in outcomes.items():
        assert outcome.samples == {"op": array("q", values[name])}
        assert outcome.counters == {"op": {"minor_faults": 2.5}}
        assert outcome.facts["cpus"] == [last]
        assert outcome.facts["met"] == {
            peer: {"pid": other.facts["pid"]} for peer, other in outcomes.items()
        }
    assert len({outcome.facts["pid"] for outcome in outcomes.values()}) == 2


CLEARLY = "worker 'solo' failed: the disk is full: 0 bytes are free; free some"
FAILED: list[tuple[list[Role], str]] = [
    ([role("meet", "a"), role("die", "b", sign=signal.SIGKILL)], "worker 'b' was killed by SIGKILL: last words"),
    ([role("refuse", "a"), role("die", "b", sign=signal.SIGSEGV)], "worker 'b' was killed by SIGSEGV: last words"),
    ([role("leave", code=3)], "worker 'solo' ended with exit code 3: giving up"),
    ([role("refuse")], "worker 'solo' failed: ValueError: no such level"),
    ([role("refuse_clearly")], CLEARLY),
    ([role("absent")], "worker 'solo' failed: AttributeError: module 'tests.support.targets' has no"),
    ([role("meet", "a"), role("hang", "b")], "worker 'b' did not finish within 3 s: stuck in the queue"),
]  # fmt: skip


@pytest.mark.parametrize(("roles", "told"), FAILED, ids=[roles[-1].target for roles, _ in FAILED])
def test_a_failed_launch_says_who_and_why_and_is_over(
    launcher: Launcher, roles: list[Role], told: str
) -> None:
    with pytest.raises(LaunchError) as caught:
        launcher.launch(roles, 3 if "did not finish" in told else 30)
    assert str(caught.value).startswith(told)
    assert "\n" not in str(caught.value)
    assert only_the_server(launcher)
    before = launcher.started
    assert list(launcher.launch([role("count", many=1)], 30)) == ["solo"]  # the server goes on
    assert launcher.started == before + 1


def test_a_launch_interrupted_while_it_starts_leaves_no_worker(
    launcher: Launcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    receive, calls = socket.recv_fds, count()

    def interrupted(*given: Any) -> Any:
        if next(calls) == 0:
            raise KeyboardInterrupt
        return receive(*given)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(socket, "recv_fds", interrupted)
        launcher.launch([role("hang")], 30)
    assert only_the_server(launcher)
    assert list(launcher.launch([role("count", many=1)], 30)) == ["solo"]


def test_what_a_killed_worker_left_is_removed_with_its_launch(launcher: Launcher) -> None:
    with pytest.raises(LaunchError, match="SIGKILL"):
        launcher.launch([role("litter")], 30)
    assert names_of(launcher.session.id) == []
    assert files_of(launcher.session.folder) == []


@pytest.mark.slow
@pytest.mark.parametrize("target", some(["killer", "stopper"], 2))
def test_a_killed_fork_server_fails_its_launch_and_has_a_successor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr("ipclab.spawn.launcher.START_SECONDS", 15.0)
    with Launcher(tmp_path / "ledger") as launcher:
        launcher.servers[1].process.kill()
        launcher.servers[1].process.wait(60)
        # between launches, nobody notices
        assert list(launcher.launch([role("count", many=1)], 30)) == ["solo"]
        for _ in range(2):
            servers = launcher.servers
            roles = [role(target, "a"), role("hang", "b")]
            told = r"the fork server does not answer|did not finish within 5 s"
            with pytest.raises(LaunchError, match=told):
                launcher.launch(roles, 5 if target == "stopper" else 30)
            assert names_of(launcher.session.id) == []
            assert eventually(
                lambda: only_the_server(launcher) or not processes_of(launcher.session.id)
            )
            assert list(launcher.launch([role("count", many=1)], 30)) == ["solo"]
            assert launcher.servers is not servers
    assert list((tmp_path / "ledger").iterdir()) == []


def test_fork_servers_that_cannot_live_end_the_session(tmp_path: Path) -> None:
    with Launcher(tmp_path, "os:abort") as launcher:
        for _ in range(3):
            with pytest.raises(LaunchError, match="the fork server does not answer"):
                launcher.launch([role("count", many=1)], 30)
        with pytest.raises(SessionError, match="the same command continues the run"):
            launcher.launch([role("count", many=1)], 30)
    assert list(tmp_path.iterdir()) == []


def test_a_program_runs_on_its_cpus_with_its_environment(launcher: Launcher) -> None:
    script = "grep Cpus_allowed_list /proc/self/status; echo $WORD$PYTHONPATH; echo late >&2"
    shell = replace(role("", cpus=frozenset({max(CPUS)})), command=("/bin/sh", "-c", script))
    shell = replace(shell, env={"WORD": "가나", "PYTHONPATH": None})
    said = launcher.launch([shell], 30)["solo"].facts["said"]
    assert said.split() == ["Cpus_allowed_list:", str(max(CPUS)), "가나", "late"]


@pytest.mark.slow
def test_a_program_that_fails_says_how_and_takes_its_children_along(
    launcher: Launcher, tmp_path: Path
) -> None:
    sleeping = f"sleep 100 & echo $! > {tmp_path}/pid; "
    for script, how, seconds in (
        (sleeping + "echo why; exit 3", "ended with exit code 3: why", 30),
        (sleeping + "kill -9 $$", "was killed by SIGKILL", 30),
        (sleeping + "wait", "did not finish within 2 s", 2),
    ):
        program = replace(role(""), command=("/bin/sh", "-c", script))
        with pytest.raises(LaunchError, match=how):
            launcher.launch([program], seconds)
        assert eventually(lambda: gone(tmp_path / "pid"))
    with pytest.raises(LaunchError, match="/nonexistent"):
        launcher.launch([replace(role(""), command=("/nonexistent",))], 30)
    assert only_the_server(launcher)


def gone(file: Path) -> bool:
    """Tell whether the process whose id is in `file` runs no more."""
    return start_ticks(int(file.read_text())) is None


OWNER = """
import sys
from pathlib import Path
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.started import Role
with Launcher(Path(sys.argv[1])) as launcher:
    launcher.launch([Role("solo", "tests.support.targets:litter_and_hang", {}, frozenset({int(sys.argv[2])}))], 60)
"""


@pytest.mark.parametrize("server_too", [False, True], ids=["owner", "owner and servers"])
def test_kill_9_of_the_owner_ends_its_workers(tmp_path: Path, server_too: bool) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary)}
    ledger = tmp_path / "ledger"
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(ledger), str(min(CPUS))], env=environment
    )
    try:
        assert eventually(lambda: list(temporary.glob("*/socket")), 60)
    finally:
        session = json.loads(next(ledger.iterdir()).read_text().splitlines()[0])
        if server_too:
            for server in processes_of(session["id"])[:2]:
                os.kill(server, signal.SIGKILL)
        owner.kill()
        owner.wait(60)
    assert eventually(lambda: not processes_of(session["id"]))
    if not server_too:  # a server outlives its owner just long enough to clean up
        assert list(temporary.iterdir()) == []
        assert list(ledger.iterdir()) == []
        assert names_of(session["id"]) == []
        return
    (left,) = names_of(session["id"])
    assert left.startswith(f"{session['id']}-1-")
    assert close_dead_sessions(ledger) == [left, session["folder"]]
    assert names_of(session["id"]) == []
    assert list(temporary.iterdir()) == []
