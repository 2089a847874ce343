"""What a session starts: fork servers and, by them, the workers of its launches."""

import errno
import fcntl
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from ipclab.errors import blamed
from ipclab.spawn.wire import Wire
from ipclab.spawn.worker import Meeting, Outcome, Turn

REPLY_BYTES = 64
END_SECONDS = 10.0
MOST_SAID = 16 << 20  # bytes that a worker may write


@dataclass(frozen=True)
class Role:
    """One worker of a launch: `target` is `module:function`, run on the CPUs `cpus`.

    One with a `preload` is forked from a server that has called that, where the launcher has one.
    `fresh` starts a new interpreter instead of forking one that has imported all: for what depends
    on how a program begins. A `command` is another program in its place, in the session's
    environment changed by `env` (None: not set) and, with an `own_network` where that is
    permitted; what it starts ends with it. Its outcome is the fact `said`, all that it wrote.
    """

    name: str
    target: str
    arguments: dict[str, Any]
    cpus: frozenset[int]
    fresh: bool = False
    preload: str = ""
    command: tuple[str, ...] = ()
    env: Mapping[str, str | None] = field(default_factory=dict)
    own_network: bool = False


class Start(msgspec.Struct):
    """Asks the fork server for a worker.

    Its control socket, its stderr and a socket on which the server tells of it come with it: first
    a descriptor of the process (pidfd_open(2)), and when it and all that it started have ended, its
    exit code.
    """

    role: Role
    prefix: str
    folder: str


@dataclass
class Started:
    """A worker and what is known of it; its `server` tells its `process` and its exit code."""

    role: Role
    wire: Wire
    server: socket.socket
    stderr: int
    process: int | None = None
    outcome: Outcome | None = None

    def said(self) -> str:
        """Return all that it has written, at most `MOST_SAID` bytes."""
        kept = min(self._written(), MOST_SAID)
        return os.pread(self.stderr, kept, 0).decode(errors="replace")

    def _written(self) -> int:
        return os.lseek(self.stderr, 0, os.SEEK_CUR)  # where all its processes write on

    @property
    def cut(self) -> bool:
        """Tell whether it wrote more than is kept."""
        return self._written() >= MOST_SAID

    def await_start(self, seconds: float) -> bool:
        """Tell whether its server has started it, and wait for that at most `seconds`."""
        if self.process is None:
            self.server.settimeout(seconds)
            with suppress(OSError):
                _, fds, _, _ = socket.recv_fds(self.server, REPLY_BYTES, 1)
                self.process = next(iter(fds), None)
        return self.process is not None

    def kill(self) -> bool:
        """Kill it, if it still runs, and tell whether its server has told of it, or soon does."""
        if self.await_start(END_SECONDS) and self.process is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.process, signal.SIGKILL)
        return self.process is not None

    def await_end(self) -> int | None:
        """Return its exit code once it ended, None when nobody knows it; else `TimeoutError`."""
        self.server.settimeout(END_SECONDS)  # whatever was waited for before
        reply = self.server.recv(REPLY_BYTES)
        return int(reply) if reply else None


def page() -> int:
    """Return a descriptor for what a worker writes: its `MOST_SAID` bytes are memory once written,
    and the write of one more fails.

    Where the kernel grants no memory of that kind it is a file without a name, of which no more is
    read.
    """
    try:
        made = os.memfd_create("ipclab-said", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.EPERM):
            raise
        with tempfile.TemporaryFile() as unnamed:
            return os.dup(unnamed.fileno())
    os.ftruncate(made, MOST_SAID)
    fcntl.fcntl(made, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)
    return made


@dataclass(frozen=True)
class ForkServer:
    """A running fork server (`ipclab.spawn.zygote`).

    It ends, and its workers with it, when `sock` is closed.
    """

    process: subprocess.Popen[bytes]
    sock: socket.socket

    def ask(self, request: bytes, fds: list[int]) -> None:
        """Send a `Start`; that the server is dead is noticed when its answer does not come."""
        with suppress(OSError):
            socket.send_fds(self.sock, [request], fds)

    def end(self) -> None:
        """Have it end, with all that it has started, and wait for that."""
        self.sock.close()
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Kill it; its workers die with it."""
        self.process.kill()
        self.process.wait(END_SECONDS)
        self.sock.close()


def start_fork_server(
    ledger: Path, session: str, preload: str, after: Sequence[ForkServer] = ()
) -> ForkServer:
    """Start a fork server that first calls `preload` (`module:function`).

    One with `after` ends after those, and removes what the session owned when the session cannot do
    it any more. Raises `LabError` where the kernel grants no descriptor of a process.
    """
    fix = "take Linux 5.3 or newer, or allow it in the container's seccomp profile"
    with blamed("no process can be measured: pidfd_open is refused", fix):
        held = [os.pidfd_open(pid) for pid in (os.getpid(), *(one.process.pid for one in after))]
    os.close(held.pop(0))
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    fds = [theirs.fileno(), *held]
    about = [str(ledger), session, preload, *map(str, fds)]
    command = [sys.executable, "-m", "ipclab.spawn.zygote", *about]
    process = subprocess.Popen(
        command, pass_fds=fds, stdin=subprocess.DEVNULL, start_new_session=True
    )
    theirs.close()
    for fd in fds[1:]:
        os.close(fd)
    return ForkServer(process, ours)


def outcomes_of(workers: Mapping[str, Started]) -> dict[str, Outcome]:
    """Return the outcomes of those workers that have one, by role."""
    return {role: worker.outcome for role, worker in workers.items() if worker.outcome}


def send_to(workers: Mapping[str, Started], message: Meeting | Turn, to: Iterable[str]) -> None:
    """Send `message` to workers of the roles `to`; a dead one shows at its next message."""
    for name in to:
        with suppress(OSError):
            workers[name].wire.send(message)
