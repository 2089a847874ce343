"""The measuring side of MPI ranks: starts a set of them with `mpiexec`, runs launches on it, ends it with all it made.

A set of ranks runs each point at most once, so that every launch of a point has fresh processes; it is made anew for
the next round, and after a launch that failed.
"""

import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ipclab.errors import LabError
from ipclab.spawn import mpi, supervisor
from ipclab.spawn.launcher import END_SECONDS, START_SECONDS, STDERR_TAIL, Launcher, LaunchError, Role, ending, full
from ipclab.spawn.ledger import SHARED_MEMORY, remove_launch, remove_names
from ipclab.spawn.wire import Wire
from ipclab.spawn.worker import Outcome
from ipclab.store.point import Point

SIGNAL_TOLD = re.compile(r"process rank (\d+)\D.*?signal\s+(\d+)", re.DOTALL)
NOT_ALONE = "Open MPI listens on all addresses of this host while its ranks run: a network of their own is refused here"
CODE_TOLD = re.compile(r"exit code:?\s+(\d+)", re.IGNORECASE)


class RankSet:
    """One `mpiexec` and its ranks."""

    def __init__(self, launcher: Launcher, count: int, preload: Sequence[str] = ()) -> None:
        """Start `count` ranks that import `preload` first; raises `LaunchError` when they do not come up."""
        launcher.started += 1
        self.launcher, self.session, self.number = launcher, launcher.session, launcher.started
        self.count = count
        self.wires: dict[int, Wire] = {}
        self.pidfds: dict[int, int] = {}
        self.folder = Path(self.session.folder) / f"ranks-{self.number}"
        self.memory = SHARED_MEMORY / f"{self.session.prefix(self.number)}-mpi"
        self.alone = True  # in a network of their own
        self.told = tempfile.TemporaryFile()  # noqa: SIM115  closed by `end`
        self.supervisor: subprocess.Popen[bytes] | None = None
        try:
            self._start(preload)
        except BaseException:
            self.end()
            raise

    def _start(self, preload: Sequence[str]) -> None:
        launcher = mpi.mpiexec()
        if launcher is None:
            raise LaunchError("ranks cannot be started", mpi.missing() or "", "")
        deadline = time.monotonic() + START_SECONDS
        self.folder.mkdir(mode=0o700)
        self.memory.mkdir(mode=0o700)
        program = [sys.executable, "-m", "ipclab.spawn.mpi_worker", str(self.folder), *preload]
        with socket.socket(socket.AF_UNIX) as listening:
            folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
            listening.bind(f"/proc/self/fd/{folder}/socket")
            os.close(folder)
            listening.listen(self.count)
            self.supervisor = supervisor.supervised(
                self.launcher.ledger,
                self.session,
                mpi.command(launcher, self.count, program),
                alone=True,
                stdout=self.told,
                stderr=self.told,
                env=mpi.environment(os.environ, self.folder, self.memory),
            )
            while len(self.wires) < self.count:
                self._await([listening], deadline)
                self._adopt(listening.accept()[0], deadline)
        for rank, wire in sorted(self.wires.items()):
            self._await([wire.sock], deadline)
            try:
                message, _ = wire.receive(deadline)
            except (EOFError, OSError):
                raise self._died([rank], {}) from None
            if message.get("ready") != self.count:
                why = message.get("failed", f"MPI counts {message.get('ready')} ranks instead of {self.count}")
                raise LaunchError(f"rank {rank} could not start", why)

    def _adopt(self, sock: socket.socket, deadline: float) -> None:
        wire = Wire(sock)
        message, _ = wire.receive(deadline)
        self.alone &= message["network"] != supervisor.network()
        self.wires[message["rank"]] = wire
        self.pidfds[message["rank"]] = os.pidfd_open(message["pid"])

    def _await(self, socks: list[socket.socket], deadline: float) -> None:
        """Wait for one of `socks`; raises `LaunchError` when `mpiexec` ends first or the deadline passes."""
        while not select.select(socks, [], [], 0.05)[0]:
            if self.supervisor is None or self.supervisor.poll() is not None:
                raise LaunchError(
                    f"mpiexec ended before its ranks were up{full(self.count * mpi.SEGMENT_BYTES)}", self._words()
                )
            if time.monotonic() > deadline:
                raise LaunchError(f"the ranks did not come up within {START_SECONDS:g} s", self._words())

    def launch(self, command: dict[str, Any], seconds: float) -> dict[str, Outcome]:
        """Run `command` and return each role's outcome; raises `LaunchError` that says which rank failed and why."""
        owing = {role["rank"]: role["role"] for role in command["roles"]}
        names, outcomes = dict(owing), dict[str, Outcome]()
        deadline = time.monotonic() + seconds
        for rank in owing:
            with suppress(OSError):  # a dead rank is noticed at its next message
                self.wires[rank].send({"command": command})
        while owing:
            ready, _, _ = select.select(
                [self.wires[rank].sock for rank in owing], [], [], max(0.0, deadline - time.monotonic())
            )
            if not ready:
                raise self._failure(min(owing), names, f"did not finish within {seconds:g} s")
            for rank in [rank for rank in owing if self.wires[rank].sock in ready]:
                try:
                    message, arrays = self.wires[rank].receive(deadline)
                except TimeoutError:
                    raise self._failure(rank, names, f"did not finish within {seconds:g} s") from None
                except (EOFError, OSError):
                    raise self._died([rank], names) from None
                if "failed" in message:
                    raise LaunchError(f"rank {rank} ({names[rank]}) failed", message["failed"])
                outcomes[owing.pop(rank)] = Outcome.of(message, arrays)
        return {role["role"]: outcomes[role["role"]] for role in command["roles"]}

    def _died(self, ranks: list[int], names: dict[int, str]) -> LaunchError:
        """Return which rank died of what; `mpiexec`, its parent, knows and then ends the others."""
        with suppress(subprocess.TimeoutExpired):
            if self.supervisor is not None:
                self.supervisor.wait(END_SECONDS)
        told = self._read_told()
        if found := SIGNAL_TOLD.search(told):
            return self._failure(int(found[1]), names, ending(-int(found[2])))
        code = CODE_TOLD.search(told)
        return self._failure(
            ranks[0], names, (ending(int(code[1])) if code else "ended") + full(self.count * mpi.SEGMENT_BYTES)
        )

    def _failure(self, rank: int, names: dict[int, str], why: str) -> LaunchError:
        name = f" ({names[rank]})" if rank in names else ""
        return LaunchError(f"rank {rank}{name} {why}", self._words(rank))

    def _read_told(self) -> str:
        self.told.seek(0)
        return self.told.read().decode(errors="replace")

    def _words(self, rank: int = 0) -> str:
        """Return the last line that `rank`, another rank or `mpiexec` wrote."""
        files = sorted(self.folder.glob("stderr-*"), key=lambda file: file.name != f"stderr-{rank}")
        for text in [*(file.read_text(errors="replace") for file in files), self._read_told()]:
            lines = [line.strip() for line in text.splitlines() if line.strip("-> \t\0")]
            if lines:
                return lines[-1][-STDERR_TAIL:]
        return "nothing on its stderr"

    def end(self, orderly: bool = False) -> None:
        """End all ranks and remove what they had: let them finish if `orderly`, else kill them."""
        for wire in self.wires.values():
            wire.close()  # a rank that is idle finishes by itself then
        if self.supervisor is not None:
            with suppress(subprocess.TimeoutExpired):
                self.supervisor.wait(END_SECONDS if orderly else 0)
            supervisor.end(self.supervisor)
        for pidfd in self.pidfds.values():  # in case the supervisor was killed itself
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            select.select([pidfd], [], [], END_SECONDS)
            os.close(pidfd)
        self.told.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        remove_names(self.session.prefix(self.number))
        self.wires, self.pidfds, self.supervisor = {}, {}, None


def command_of(
    roles: Sequence[Role], prefix: str, folder: str, seconds: float, ranks: Sequence[int], fresh: int = 1
) -> dict[str, Any]:
    """Return what `ranks` are told to run: role i on the i-th of them."""
    cpus = frozenset[int]().union(*(role.cpus for role in roles))
    return {
        "prefix": prefix,
        "folder": folder,
        "seconds": seconds,
        "crowd": len(roles) / max(1, len(cpus)),
        "fresh": fresh,
        "roles": [
            {
                "rank": rank,
                "index": index,
                "role": role.name,
                "target": role.target,
                "arguments": role.arguments,
                "cpus": sorted(role.cpus),
            }
            for index, (rank, role) in enumerate(zip(ranks, roles, strict=True))
        ],
    }


class RankBench:
    """Launches points on ranks that it starts itself; a context manager that leaves nothing behind."""

    def __init__(
        self,
        launcher: Launcher,
        count: int,
        preload: Sequence[str] = (),
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        """Use sets of `count` ranks, which import `preload` first; `say` is told once what a person should know."""
        self.launcher, self.count, self.preload, self.say = launcher, count, preload, say
        self.told = False
        self.ranks: RankSet | None = None
        self.done: set[str] = set()

    def __enter__(self) -> "RankBench":
        """Start nothing yet."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the ranks."""
        self._end(orderly=error[0] is None)

    def __call__(self, point: Point, roles: Sequence[Role], seconds: float) -> dict[str, Outcome]:
        """Run one launch of `point`; raises `LabError` when it failed."""
        if self.ranks is None or point.id in self.done:
            self._end(orderly=True)
            self.ranks = RankSet(self.launcher, self.count, self.preload)
            if not self.ranks.alone and not self.told:
                self.told = True
                self.say(NOT_ALONE)
        self.done.add(point.id)
        if len(roles) > self.count:
            raise LabError(f"{len(roles)} roles need as many ranks", f"there are {self.count}", "")
        self.launcher.started += 1
        number, session = self.launcher.started, self.launcher.session
        command = command_of(roles, session.prefix(number), session.folder, seconds, range(len(roles)))
        try:
            outcomes = self.ranks.launch(command, seconds)
        except BaseException:
            self._end(orderly=False)
            raise
        finally:
            remove_launch(session.prefix(number), session.folder)
        return outcomes

    def _end(self, orderly: bool) -> None:
        self.done.clear()
        ranks, self.ranks = self.ranks, None
        if ranks is not None:
            ranks.end(orderly)
