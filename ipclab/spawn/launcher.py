"""The launching side: starts the workers of one launch, brings them together, and ends them at the deadline."""

import json
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from ipclab.errors import LabError
from ipclab.spawn.ledger import Session, close_session, open_session, remove_names
from ipclab.spawn.wire import Wire
from ipclab.spawn.worker import Outcome

START_SECONDS = 60.0
STDERR_TAIL = 400


class LaunchError(LabError):
    """A worker of a launch died, hung or said that something is wrong."""


@dataclass(frozen=True)
class Role:
    """One worker of a launch: `target` is `module:function`, run on the CPUs `cpus`.

    `fresh` starts a new interpreter instead of forking one that has imported all: for what depends on how a program
    begins.
    """

    name: str
    target: str
    arguments: dict[str, Any]
    cpus: frozenset[int]
    fresh: bool = False


@dataclass
class _Started:
    role: Role
    wire: Wire
    stderr: IO[bytes]
    pid: int
    outcome: Outcome | None = None
    published: dict[str, Any] | None = None
    code: int | None = None


@dataclass
class Launcher:
    """A session's fork server; a context manager that leaves nothing behind."""

    ledger: Path
    started: int = 0
    _codes: dict[int, int] = field(default_factory=dict)

    def __enter__(self) -> "Launcher":
        """Open the session and start the fork server."""
        self.session: Session = open_session(self.ledger)
        self.sock, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-m", "ipclab.spawn.zygote", str(theirs.fileno()), str(self.ledger)]
        self.zygote = subprocess.Popen(
            [*command, self.session.id],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        theirs.close()
        return self

    def __exit__(self, *error: object) -> None:
        """End the fork server and remove what the session owns."""
        self.sock.close()
        try:
            self.zygote.wait(10)
        except subprocess.TimeoutExpired:
            self.zygote.kill()
            self.zygote.wait(10)
        close_session(self.ledger, self.session)

    def launch(self, roles: Sequence[Role], seconds: float) -> dict[str, Outcome]:
        """Run one launch of `roles` and return each role's outcome.

        Raises `LaunchError` with the end of its stderr when a worker dies or `seconds` have passed; no worker and no
        shared name of the launch is left in either case.
        """
        self.started += 1
        deadline = time.monotonic() + seconds
        workers: list[_Started] = []
        try:
            for role in roles:
                workers.append(self._start(role))
            while any(worker.outcome is None for worker in workers):
                self._step(workers, deadline, seconds)
            return {worker.role.name: worker.outcome for worker in workers if worker.outcome}
        finally:
            self._end(workers)
            remove_names(self.session, self.started)

    def _start(self, role: Role) -> _Started:
        ours, theirs = socket.socketpair()
        stderr = tempfile.TemporaryFile()  # noqa: SIM115  closed by _end
        request = {
            "role": role.name,
            "target": role.target,
            "arguments": role.arguments,
            "cpus": sorted(role.cpus),
            "fresh": role.fresh,
            "prefix": self.session.prefix(self.started),
            "folder": self.session.folder,
        }
        with theirs, suppress(OSError):  # a dead fork server is noticed when its answer does not come
            socket.send_fds(self.sock, [json.dumps(request).encode()], [theirs.fileno(), stderr.fileno()])
        return _Started(role, Wire(ours), stderr, self._next_pid())

    def _next_pid(self) -> int:
        while "pid" not in (message := self._hear(START_SECONDS)):
            self._codes[message["exited"]] = message["code"]
        return message["pid"]

    def _hear(self, seconds: float) -> dict[str, int]:
        self.sock.settimeout(seconds)
        try:
            data = self.sock.recv(4096)
        except (TimeoutError, ConnectionError):
            data = b""
        if not data:
            raise LabError("the fork server does not answer", "it was killed or could not start", "measure again")
        message: dict[str, int] = json.loads(data)
        return message

    def _step(self, workers: list[_Started], deadline: float, seconds: float) -> None:
        """Take a message of each worker that has one; let all go on when all have come to the meeting."""
        owing = [worker for worker in workers if worker.outcome is None and worker.published is None]
        left = max(0.0, deadline - time.monotonic())
        ready, _, _ = select.select([worker.wire.sock for worker in owing], [], [], left)
        if not ready:
            raise self._failure(workers, owing[0], f"did not finish within {seconds:g} s")
        for worker in owing:
            if worker.wire.sock not in ready:
                continue
            try:
                _take(worker, *worker.wire.receive(deadline))
            except TimeoutError:
                raise self._failure(workers, worker, f"did not finish within {seconds:g} s") from None
            except (EOFError, ConnectionError):
                raise self._failure(workers, worker, self._death(worker)) from None
        meeting = [worker for worker in workers if worker.outcome is None]
        if meeting and all(worker.published is not None for worker in meeting):
            met = {worker.role.name: worker.published for worker in meeting}
            for worker in meeting:
                worker.published = None
                with suppress(OSError):  # a dead worker is noticed at its next message
                    worker.wire.send({"met": met})

    def _death(self, worker: _Started) -> str:
        while worker.pid not in self._codes:
            message = self._hear(START_SECONDS)
            self._codes[message["exited"]] = message["code"]
        code = self._codes[worker.pid]
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"

    @staticmethod
    def _failure(workers: list[_Started], worker: _Started, why: str) -> LaunchError:
        words = [_tail(other) for other in [worker, *workers]]
        last = next((text for text in words if text), "nothing on its stderr")
        return LaunchError(f"worker {worker.role.name!r} {why}", last)

    def _end(self, workers: list[_Started]) -> None:
        for worker in workers:
            if worker.outcome is None:
                with suppress(OSError):
                    self.sock.send(json.dumps({"kill": worker.pid}).encode())
        for worker in workers:
            worker.wire.close()
            worker.stderr.close()
            while worker.pid not in self._codes:
                message = self._hear(START_SECONDS)
                self._codes[message["exited"]] = message["code"]
            del self._codes[worker.pid]


def _take(worker: _Started, message: dict[str, Any], arrays: dict[str, "array[int]"]) -> None:
    if "failed" in message:
        raise LaunchError(f"worker {worker.role.name!r} failed", message["failed"])
    if "meet" in message:
        worker.published = message["meet"]
    else:
        worker.outcome = Outcome(samples=arrays, **message["done"])


def _tail(worker: _Started) -> str:
    worker.stderr.seek(0)
    text = worker.stderr.read().decode(errors="replace")
    lines = text.strip().splitlines()
    return lines[-1][-STDERR_TAIL:] if lines else ""
