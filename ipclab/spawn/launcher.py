"""The launching side: starts the workers of one launch, brings them together, and ends them at the deadline."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from ipclab.errors import LabError
from ipclab.spawn.ledger import SHARED_MEMORY, Session, close_session, file_of, open_session, remove_launch
from ipclab.spawn.owned import own
from ipclab.spawn.wire import Wire
from ipclab.spawn.worker import Outcome

START_SECONDS = 60.0
END_SECONDS = 10.0
STDERR_TAIL = 400
SERVERS_LOST = 3  # one after the other, without a launch between them


class LaunchError(LabError):
    """A worker of a launch died, hung or said that something is wrong; `said` is all that it wrote."""

    said = ""


class SessionError(LabError):
    """The measuring session cannot go on; the run stays as it is, unfinished."""


@dataclass(frozen=True)
class Role:
    """One worker of a launch: `target` is `module:function`, run on the CPUs `cpus`.

    `fresh` starts a new interpreter instead of forking one that has imported all: for what depends on how a program
    begins. A `command` is another program in its place, in the session's environment changed by `env` (None: not
    set); its outcome is the fact `said`, all that it wrote.
    """

    name: str
    target: str
    arguments: dict[str, Any]
    cpus: frozenset[int]
    fresh: bool = False
    command: tuple[str, ...] = ()
    env: Mapping[str, str | None] = field(default_factory=dict)


@dataclass
class _Started:
    role: Role
    wire: Wire
    stderr: IO[bytes]
    pid: int = 0
    outcome: Outcome | None = None
    published: dict[str, Any] | None = None

    def said(self) -> str:
        self.stderr.seek(0)
        return self.stderr.read().decode(errors="replace")

    def tail(self) -> str:
        lines = self.said().strip().splitlines()
        return lines[-1][-STDERR_TAIL:] if lines else ""


@dataclass
class Launcher:
    """A session's fork server; a context manager that leaves nothing behind.

    A fork server that was killed fails the launch that it was at; the next launch has a new one.
    """

    ledger: Path
    preload: str = "ipclab.studies.installed:preload"  # what the fork server calls first: `module:function`
    started: int = 0
    _codes: dict[int, int] = field(default_factory=dict)
    _lost: int = 0

    def __enter__(self) -> "Launcher":
        """Open the session and start the fork server."""
        self.session: Session = open_session(self.ledger)
        self._serve()
        return self

    def _serve(self) -> None:
        self.sock, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-m", "ipclab.spawn.zygote", str(theirs.fileno()), str(self.ledger)]
        self.zygote = subprocess.Popen(
            [*command, self.session.id, self.preload],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        theirs.close()

    def __exit__(self, *error: object) -> None:
        """End the fork server and remove what the session owns."""
        self.sock.close()
        try:
            self.zygote.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.zygote.kill()
            self.zygote.wait(END_SECONDS)
        close_session(self.ledger, self.session)

    def own(self, kind: str, name: str) -> None:
        """Have the ledger remove what `kind` calls `name` when this session ends, however it does."""
        own(file_of(self.ledger, self.session.id), kind, name)

    def launch(self, roles: Sequence[Role], seconds: float) -> dict[str, Outcome]:
        """Run one launch of `roles` and return each role's outcome.

        Raises `LaunchError` with the end of its stderr when a worker dies or `seconds` have passed, and `SessionError`
        when one fork server after the other is lost; no worker and no shared name of the launch is left.
        """
        self.started += 1
        deadline = time.monotonic() + seconds
        workers: list[_Started] = []
        if self.zygote.poll() is not None:
            self._serve()
        try:
            for role in roles:
                self._start(role, workers)
            while any(worker.outcome is None for worker in workers):
                self._step(workers, deadline, seconds)
            self._lost = 0
            return {worker.role.name: worker.outcome for worker in workers if worker.outcome}
        finally:
            self._end(workers)
            remove_launch(self.session.prefix(self.started), self.session.folder)

    def _start(self, role: Role, workers: list[_Started]) -> None:
        ours, theirs = socket.socketpair()
        stderr = tempfile.TemporaryFile()  # noqa: SIM115  closed by _end
        workers.append(_Started(role, Wire(ours), stderr))
        request = {
            "role": role.name,
            "target": role.target,
            "arguments": role.arguments,
            "cpus": sorted(role.cpus),
            "fresh": role.fresh,
            "command": role.command,
            "env": dict(role.env),
            "prefix": self.session.prefix(self.started),
            "folder": self.session.folder,
        }
        with theirs, suppress(OSError):  # a dead fork server is noticed when its answer does not come
            socket.send_fds(self.sock, [json.dumps(request).encode()], [theirs.fileno(), stderr.fileno()])
        while "pid" not in (message := self._hear()):
            self._codes[message["exited"]] = message["code"]
        workers[-1].pid = message["pid"]

    def _hear(self) -> dict[str, int]:
        self.sock.settimeout(START_SECONDS)
        try:
            data = self.sock.recv(4096)
        except (TimeoutError, ConnectionError):
            data = b""
        if not data:
            self._lose()
        message: dict[str, int] = json.loads(data)
        return message

    def _lose(self) -> None:
        """Give the fork server up; its workers die with it."""
        self.zygote.kill()
        self.zygote.wait(END_SECONDS)
        self.sock.close()
        self._codes.clear()
        self._lost += 1
        told = "the fork server does not answer", "it was killed or could not start"
        if self._lost > SERVERS_LOST:
            raise SessionError(*told, "the same command continues the run")
        raise LaunchError(*told, "the launch is made again")

    def _code(self, worker: _Started) -> int:
        while worker.pid not in self._codes:
            message = self._hear()
            self._codes[message["exited"]] = message["code"]
        return self._codes[worker.pid]

    def _step(self, workers: list[_Started], deadline: float, seconds: float) -> None:
        """Take a message of each worker that has one; let all go on when all have come to the meeting."""
        owing = [worker for worker in workers if worker.outcome is None and worker.published is None]
        left = max(0.0, deadline - time.monotonic())
        ready, _, _ = select.select([worker.wire.sock for worker in owing], [], [], left)
        if not ready:
            raise _failure(workers, owing[0], f"did not finish within {seconds:g} s")
        for worker in owing:
            if worker.wire.sock not in ready:
                continue
            try:
                _take(worker, *worker.wire.receive(deadline))
            except TimeoutError:
                raise _failure(workers, worker, f"did not finish within {seconds:g} s") from None
            except (EOFError, ConnectionError):
                code = self._code(worker)
                if not worker.role.command or code:
                    raise _failure(workers, worker, ending(code)) from None
                worker.outcome = Outcome(facts={"said": worker.said()})
        meeting = [worker for worker in workers if worker.outcome is None]
        if meeting and all(worker.published is not None for worker in meeting):
            met = {worker.role.name: worker.published for worker in meeting}
            for worker in meeting:
                worker.published = None
                with suppress(OSError):  # a dead worker is noticed at its next message
                    worker.wire.send({"met": met})

    def _end(self, workers: list[_Started]) -> None:
        alive = self.zygote.poll() is None
        for worker in workers:
            if worker.outcome is None and worker.pid and alive:
                with suppress(OSError):
                    self.sock.send(json.dumps({"kill": worker.pid}).encode())
        for worker in workers:
            if alive and worker.pid:
                with suppress(LabError):
                    self._code(worker)
                    del self._codes[worker.pid]
                alive = self.zygote.poll() is None
            else:
                worker.wire.await_end(END_SECONDS)
            worker.wire.close()
            worker.stderr.close()


def _take(worker: _Started, message: dict[str, Any], arrays: dict[str, "array[int]"]) -> None:
    if "failed" in message:
        raise LaunchError(f"worker {worker.role.name!r} failed", message["failed"])
    if "meet" in message:
        worker.published = message["meet"]
    else:
        worker.outcome = Outcome.of(message, arrays)


def _failure(workers: list[_Started], worker: _Started, why: str) -> LaunchError:
    last = next((text for each in [worker, *workers] if (text := each.tail())), "nothing on its stderr")
    error = LaunchError(f"worker {worker.role.name!r} {why}", last)
    error.said = worker.said()
    return error


def ending(code: int) -> str:
    """Return how a process with exit code `code` ended; a full /dev/shm is named, which ends one without a word."""
    if code >= 0:
        return f"ended with exit code {code}"
    why = full(sys.maxsize) if code == -signal.SIGBUS else ""
    return f"was killed by {signal.Signals(-code).name}{why}"


def full(need: int) -> str:
    """Return words that name /dev/shm as the likely cause when fewer than `need` bytes are free there, else nothing."""
    where = os.statvfs(SHARED_MEMORY)
    free = where.f_bavail * where.f_frsize
    return f", as happens when {SHARED_MEMORY} is full ({free:,} bytes are free now)" if free < need else ""
