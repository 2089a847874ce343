"""MPI ranks: fresh for each launch of a point, named when they fail, and gone with all they had."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ipclab.errors import LabError
from ipclab.spawn import mpi, rank_bench
from ipclab.spawn.apart import leave_network, permitted
from ipclab.spawn.failures import LaunchError, WrongDataError
from ipclab.spawn.heat import launch_alone
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.ledger import SHARED_MEMORY, close_dead_sessions
from ipclab.spawn.mpi_outer import Node, World, _hello, _nodes, reachable
from ipclab.spawn.rank_bench import RankBench
from ipclab.spawn.started import Role
from ipclab.spawn.wire import hear
from ipclab.store.point import Point
from tests.support.commands import (
    environment,
    eventually,
    files_of,
    names_of,
    processes_of,
    ran,
    servers_of,
)
from tests.support.measured import CPUS

MISSING = mpi.mpi_missing()
needs_mpi = pytest.mark.skipif(bool(MISSING), reason=str(MISSING))
NOBODY, PR_SET_DUMPABLE = 65534, 4
AS_NOBODY = (
    ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    if os.getuid() == 0
    else []
)
UNPRIVILEGED = [*AS_NOBODY, "unshare", "-U", "-n", "true"]
NAMES = ("writer", "reader 1", "reader 2")
POINT = Point("shared_dict", "lmdb", 1, "free", {"arm": "test", "nodes": 1})


def roles(
    target: str, cpus: frozenset[int] = CPUS, count: int = 3, **arguments: object
) -> list[Role]:
    return [
        Role(name, f"tests.support.rank_targets:{target}", arguments, cpus)
        for name in NAMES[:count]
    ]


@pytest.fixture(scope="module")
def bench(launcher: Launcher) -> Iterator[RankBench]:
    """Three ranks."""
    with RankBench(launcher, 3) as made:
        yield made
    assert names_of(launcher.session.id) == []
    assert files_of(launcher.session.folder) == []
    assert not Path("key").exists()  # nor anything in the working directory


def another(number: int) -> Point:
    return replace(POINT, size_bytes=number)


@needs_mpi
def test_ranks_meet_and_hand_everything_over(bench: RankBench) -> None:
    last = max(CPUS)
    values = [0, -1, 2**62]
    outcomes = launch_alone(bench, another(1), roles("tell", frozenset({last}), values=values), 30)
    assert list(outcomes) == list(NAMES)
    pids = {name: outcome.facts["pid"] for name, outcome in outcomes.items()}
    for outcome in outcomes.values():
        assert outcome.samples["op"].tolist() == values
        assert outcome.facts["met"] == {name: {"pid": pid} for name, pid in pids.items()}
        assert outcome.facts["cpus"] == [last]
        assert outcome.facts["keys"] == 1  # read before anything could be timed
    assert len(set(pids.values())) == 3


@needs_mpi
def test_ranks_have_a_network_of_their_own_where_that_is_permitted(bench: RankBench) -> None:
    outcomes = launch_alone(bench, another(2), roles("tell", values=[]), 30)
    expected = ["lo"] if permitted(leave_network) else [name for _, name in socket.if_nameindex()]
    assert [outcome.facts["network"] for outcome in outcomes.values()] == [expected] * 3


def test_without_privileges_a_user_namespace_gives_a_network_of_its_own() -> None:
    if ran(UNPRIVILEGED).returncode:
        pytest.skip("this kernel permits no user namespace")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if os.getuid() == 0:
                os.setgid(NOBODY)
                os.setuid(NOBODY)
                ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1)  # as after a program's start
            leave_network()
            with socket.create_server(("127.0.0.1", 0)):
                alone = [name for _, name in socket.if_nameindex()] == ["lo"]
            code = 0 if alone and os.getuid() else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.slow
@needs_mpi
def test_ranks_need_no_home(launcher: Launcher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME", raising=False)
    with RankBench(launcher, 2) as bench:
        assert len(launch_alone(bench, another(4), roles("tell", count=2, values=[]), 30)) == 2


@needs_mpi
def test_a_point_has_fresh_ranks_and_a_round_shares_them(bench: RankBench) -> None:
    def pids(number: int, count: int = 3) -> list[int]:
        outcomes = launch_alone(bench, another(number), roles("tell", count=count, values=[]), 30)
        return [outcome.facts["pid"] for outcome in outcomes.values()]

    first = pids(10)
    assert pids(11, count=2) == first[:2]  # a smaller launch leaves a rank idle
    assert not set(pids(10)) & set(first)


def over(bench: RankBench, number: int) -> bool:
    """Tell whether nothing is left of a launch that failed, and others go on."""
    session = bench.launcher.session
    assert processes_of(session.id) == servers_of(bench.launcher)
    assert names_of(session.id) == []
    assert files_of(session.folder) == []
    return len(launch_alone(bench, another(number), roles("tell", values=[]), 30)) == 3


@needs_mpi
@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("kill", "rank 1 (reader 1) was killed by SIGKILL: last words"),
        ("exit", "rank 1 (reader 1) ended with exit code 3: last words"),
        ("wrong", "rank 1 (reader 1) failed: message 3 arrived with nothing but zeros"),
    ],
)
def test_a_failed_launch_says_who_and_why_and_is_over(
    bench: RankBench, how: str, told: str
) -> None:
    with pytest.raises(LaunchError) as caught:
        launch_alone(bench, another(20), roles("fail", how=how), 30)
    assert told in str(caught.value)
    assert isinstance(caught.value, WrongDataError) == (how == "wrong")
    assert over(bench, 21)


@needs_mpi
def test_that_ranks_are_late_is_told_by_who_ends_them(
    bench: RankBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def later(wires: Any, kind: Any, deadline: float) -> Any:
        return hear(wires, kind, deadline + 1.5)  # as if a busy host had kept it from the clock

    with monkeypatch.context() as patch:
        patch.setattr(rank_bench, "hear", later)
        with pytest.raises(LaunchError, match="did not finish within 1 s"):
            launch_alone(bench, another(22), roles("fail", how="hang"), 1)
    assert over(bench, 23)


def test_of_what_a_rank_wrote_the_end_alone_is_read(
    launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = RankBench(launcher, 2)
    monkeypatch.setattr(bench, "folder", tmp_path, raising=False)
    monkeypatch.setattr(bench, "mpiexec", SimpleNamespace(said=lambda: "ended"), raising=False)
    assert bench._words(1) == "ended"
    for rank, words in enumerate((b"short", b"\nlast words\n")):
        with (tmp_path / f"stderr-{rank}").open("wb") as file:
            file.truncate(rank << 38)  # more than any memory holds, and no room on the disk
            file.seek(0, os.SEEK_END)
            file.write(words)
    assert [bench._words(rank) for rank in (0, 1)] == ["short", "last words"]


OWNER = """
import os, sys
from pathlib import Path
from ipclab.spawn.heat import launch_alone
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.rank_bench import RankBench
from tests.spawn.test_ranks import another, roles
with Launcher(Path(sys.argv[1])) as launcher, RankBench(launcher, 3) as bench:
    launch_alone(bench, another(1), roles("tell", values=[]), 60)
    print(launcher.session.id, launcher.servers[0].process.pid, flush=True)
    launch_alone(bench, another(2), roles("fail", how="hang"), 600)
"""


@pytest.mark.slow
@needs_mpi
def test_killed_with_their_owner_and_its_server_ranks_leave_nothing(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    command = [sys.executable, "-c", OWNER, str(ledger)]
    with subprocess.Popen(
        command, env=environment(tmp_path), stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout
        session, server = owner.stdout.readline().split()
        os.kill(int(server), signal.SIGKILL)
        owner.kill()
    assert eventually(lambda: not processes_of(session))
    assert eventually(partial(_nothing, tmp_path, ledger, session))


def _nothing(folder: Path, ledger: Path, session: str) -> bool:
    close_dead_sessions(ledger)
    return not names_of(session) and not [*(folder / "tmp").iterdir(), *ledger.iterdir()]


@needs_mpi
def test_idle_ranks_use_no_cpu(bench: RankBench) -> None:
    outcomes = launch_alone(bench, another(30), roles("tell", values=[]), 30)
    pids = [outcome.facts["pid"] for outcome in outcomes.values()]

    def rest() -> bool:
        before = [cpu_ticks(pid) for pid in pids]
        time.sleep(0.2)  # of which ranks that ask again and again use all they get
        return [cpu_ticks(pid) for pid in pids] == before

    assert eventually(rest)


def cpu_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


OUTER = """
import sys
from pathlib import Path
from ipclab.errors import LabError
from ipclab.spawn.heat import launch_alone
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.mpi_outer import around, world
from ipclab.spawn.outer_bench import OuterBench
from dataclasses import replace
from tests.spawn.test_ranks import another, roles
from tests.support.measured import CPUS
with around() as served:
    if not served:
        with Launcher(Path(sys.argv[1])) as launcher:
            bench = OuterBench(launcher, world())
            for how, seconds in (("error", 60), ("wrong", 60), ("late", 2)):
                try:
                    launch_alone(bench, another(1), roles("fail", how=how), seconds)
                except LabError as error:
                    print(f"{type(error).__name__}: {error}", flush=True)
                print(*launch_alone(bench, another(2), roles("tell", values=[]), 60), flush=True)
            pinned = replace(another(3), placement="same")
            for point, cpus in ((pinned, {min(CPUS)}), (another(4), ())):
                ends = launch_alone(bench, point, roles("tell", frozenset(cpus), values=[]), 60)
                print(*(end.facts["cpus"] == sorted(cpus or CPUS) for end in ends.values()), flush=True)
"""


@pytest.mark.slow
@needs_mpi
def test_under_another_launcher_a_failure_is_told_and_the_ranks_go_on_unpinned(
    tmp_path: Path,
) -> None:
    launcher = [str(mpi.mpiexec()), "-n", "3", "--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"]
    env = mpi.rank_environment(environment(tmp_path), tmp_path / "tmp", SHARED_MEMORY)
    command = [*launcher, sys.executable, "-c", OUTER, str(tmp_path / "ledger")]
    done = ran(command, 120, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "LaunchError: rank 1 (reader 1) failed: ValueError: no such level",
        " ".join(NAMES),
        "WrongDataError: rank 1 (reader 1) failed: message 3 arrived with nothing but zeros",
        " ".join(NAMES),
        "LaunchError: rank 0 (writer) failed: TimeoutError: the other ranks did not come in time",
        " ".join(NAMES),
        "True True True",  # pinned
        "True True True",  # and free again
    ]


def test_a_launcher_around_us_is_recognised() -> None:
    assert mpi.outer({}) is None
    assert mpi.outer({"OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0"}) is None
    assert mpi.outer({"OMPI_COMM_WORLD_SIZE": "8", "OMPI_COMM_WORLD_RANK": "3"}) == 8
    assert mpi.outer({"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0"}) == 4
    # a batch script, not a step
    assert mpi.outer({"SLURM_NTASKS": "4", "SLURM_PROCID": "0"}) is None


def test_our_ranks_do_not_see_a_launcher_around_us(tmp_path: Path) -> None:
    base = {"PATH": "/bin", "OMPI_COMM_WORLD_SIZE": "1", "PMIX_RANK": "0", "PRTE_LAUNCHED": "1"}
    base |= {"SLURM_JOB_ID": "123", "SLURM_NODELIST": "node1"}  # srun may not be here
    given = mpi.rank_environment(base, tmp_path, tmp_path / "memory")
    assert {name for name in base if name in given} == {"PATH"}
    assert given["OMPI_MCA_btl"] == "self,sm"  # no network
    assert given["TMPDIR"] == str(tmp_path)


def test_the_address_is_in_the_network_of_the_other_node() -> None:
    assert reachable(["192.168.0.5/24", "10.99.0.1/24"], ["10.99.0.2/24"]) == "10.99.0.1"
    with pytest.raises(LabError, match="the nodes share no IPv4 network"):
        reachable(["192.168.0.5/255.255.255.0"], ["10.99.0.2/24"])


def test_the_first_rank_of_a_node_tells_of_its_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    made = SimpleNamespace(digest="d" * 8, facts={"cores": 2}, reasons={})
    monkeypatch.setattr("ipclab.machine.collect", lambda source: made)
    first, second = (_hello(2, rank, "", True) for rank in (2, 3))
    assert (first.ranks, first.machine, bool(first.name)) == ([2], vars(made), True)
    assert (second.ranks, second.machine, second.name) == ([3], {}, "")


def test_ranks_are_parted_by_node_and_those_away_take_turns() -> None:
    leaders = [0, 1, 0, 1, 1, 5]
    hellos = [Node(leader, [rank], {rank}) for rank, leader in enumerate(leaders)]
    mail: Any = SimpleNamespace(comm=SimpleNamespace(size=len(hellos)))
    mail.wait = lambda rank, kind, deadline: hellos[rank]
    here = World(mail, _nodes(mail))
    assert [node.ranks for node in here.nodes] == [[0, 2], [1, 3, 4], [5]]
    assert [node.cpus for node in here.nodes] == [{0, 2}, {1, 3, 4}, {5}]
    assert here.away() == [1, 5, 3, 4]
    assert (here.between([0, 2]), here.between([5, 2])) == ("", "nodes 0, 2")
