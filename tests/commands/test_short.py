"""A machine that is short of something: memory, processes, files, a loopback. One line, no traceback."""

import errno
import os
import resource
import socket
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from ipclab.commands.told import told_error
from ipclab.errors import LabError
from ipclab.spawn.started import Role, Start, Started, page
from ipclab.spawn.wire import Wire
from ipclab.spawn.zygote import Zygote
from ipclab.store import samples, validity
from tests.support.commands import environment, ran

SHORT = [
    (MemoryError(), "ulimit -v"),
    (ImportError("x.so: failed to map segment from shared object"), "ulimit -v"),
    (RuntimeError("can't start new thread"), "ulimit -u"),
    (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"), "ulimit -u"),
    (OSError(errno.EMFILE, "Too many open files", "/tmp/x"), "ulimit -n"),
]


@pytest.mark.parametrize(("error", "fix"), SHORT, ids=lambda given: type(given).__name__)
def test_a_limit_of_the_process_is_named_with_what_raises_it(
    error: BaseException, fix: str
) -> None:
    line, code = told_error(error)
    assert code == 2 and str(line).endswith(fix) and "\n" not in str(line)


def test_a_thread_that_lacks_memory_for_its_stack_is_told_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (600_000_000, resource.RLIM_INFINITY))
    line, _ = told_error(RuntimeError("can't start new thread"))
    assert str(line).endswith("ulimit -v")


@pytest.mark.parametrize(("most", "says"), [(600_000_000, "ulimit -v"), (-1, "measure again")])
def test_a_file_is_not_blamed_for_a_limit_of_memory(
    most: int, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def short(*_: object) -> None:
        raise pa.ArrowMemoryError("malloc of size 84544 failed")

    (tmp_path / "point.parquet").touch()
    monkeypatch.setattr(validity, "footer", short)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (most, most))
    with pytest.raises(LabError) as refused:
        samples.decode(tmp_path / "point.parquet")
    assert str(told_error(refused.value)[0]).endswith(says)


def test_a_mistake_of_ours_stays_a_traceback() -> None:
    for error in (RuntimeError("x"), ImportError("no module named x")):
        with pytest.raises(type(error)):
            told_error(error)


def test_a_worker_that_cannot_be_forked_says_why_and_the_server_lives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused() -> int:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refused)
    ours, theirs = socket.socketpair()
    told, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    role = Role("end", "", {}, frozenset())
    worker = Started(role, Wire(ours), told, page())
    zygote = Zygote(socket.socketpair()[0])
    zygote._fork(Start(role, "", ""), theirs.detach(), os.dup(worker.stderr), its.detach())
    assert not zygote.children and not worker.await_start(1.0)
    assert "no process can be started: Resource temporarily" in worker.said()


APART = "unshare", "-n"


@pytest.mark.matrix
@pytest.mark.skipif(
    bool(ran([*APART, "true"]).returncode), reason="no network namespace can be had"
)
def test_without_a_loopback_what_needs_it_is_not_testable_here(tmp_path: Path) -> None:
    listing = [*APART, sys.executable, "-m", "ipclab", "backends"]
    done = ran(listing, env=environment(tmp_path))
    lines = dict(line.split(None, 1) for line in done.stdout.splitlines())
    for name in ("tcp", "udp", "zmq-tcp"):
        assert lines[name].startswith("not testable here: there is no loopback")
        assert lines[name].endswith("ip link set lo up")
    assert lines["unix"] == "ready"
    words = "measure --study payload --backend tcp --size 100 --launches 1 --profile smoke"
    done = ran([*listing[:-1], *words.split()], 100, env=environment(tmp_path))
    assert "failed" not in done.stderr and "Traceback" not in done.stderr
    assert done.returncode == 0, done.stderr
