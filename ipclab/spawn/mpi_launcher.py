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
from contextlib import ExitStack, suppress
from pathlib import Path

from ipclab.errors import LabError
from ipclab.spawn import mpi, supervisor
from ipclab.spawn.launcher import (
    END_SECONDS,
    SILENCE,
    START_SECONDS,
    Launcher,
    LaunchError,
    Role,
    ending,
    full,
    last_line,
)
from ipclab.spawn.ledger import SHARED_MEMORY, remove_names
from ipclab.spawn.mpi_worker import Command
from ipclab.spawn.wire import LateError, Wire, hear
from ipclab.spawn.worker import Failed, Meeting, Outcome, Said
from ipclab.store.point import Point

SIGNAL_TOLD = re.compile(r"process rank (\d+)\D.*?signal\s+(\d+)", re.DOTALL)
NOT_ALONE = "Open MPI listens on all addresses of this host while its ranks run: a network of their own is refused here"
CODE_TOLD = re.compile(r"exit code:?\s+(\d+)", re.IGNORECASE)


class RankSet:
    """One `mpiexec` and its ranks."""

    def __init__(self, launcher: Launcher, count: int, preload: Sequence[str] = ()) -> None:
        """Start `count` ranks that import `preload` first; raises `LaunchError` when they do not come up."""
        launcher.started += 1
        self.launcher, self.count = launcher, count
        self.prefix = launcher.session.prefix(launcher.started)
        self.folder = Path(launcher.session.folder) / f"ranks-{launcher.started}"
        self.wires: dict[int, Wire] = {}
        self.pidfds: dict[int, int] = {}
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
        memory = SHARED_MEMORY / f"{self.prefix}-mpi"
        self.folder.mkdir(mode=0o700)
        memory.mkdir(mode=0o700)
        program = [sys.executable, "-m", "ipclab.spawn.mpi_worker", str(self.folder), *preload]
        with socket.socket(socket.AF_UNIX) as listening:
            folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
            listening.bind(f"/proc/self/fd/{folder}/socket")
            os.close(folder)
            listening.listen(self.count)
            self.supervisor = supervisor.supervised(
                self.launcher.ledger,
                self.launcher.session,
                mpi.command(launcher, self.count, program),
                alone=True,
                stdout=self.told,
                stderr=self.told,
                env=mpi.environment(os.environ, self.folder, memory),
            )
            try:
                self._adopt(listening, self.supervisor.pid, time.monotonic() + START_SECONDS)
            except (LateError, TimeoutError):
                raise LaunchError(f"the ranks did not come up within {START_SECONDS:g} s", self._words()) from None

    def _adopt(self, listening: socket.socket, mpiexec: int, deadline: float) -> None:
        """Take the ranks in until all are up; raises `LaunchError` when one or `mpiexec` ends first."""
        with ExitStack() as stack:
            ended = os.pidfd_open(mpiexec)
            stack.callback(os.close, ended)
            while len(self.wires) < self.count:
                left = max(0.0, deadline - time.monotonic())
                ready, _, _ = select.select([listening.fileno(), ended], [], [], left)
                if not ready:
                    raise LateError
                if ended in ready:
                    why = full(self.count * mpi.SEGMENT_BYTES)
                    raise LaunchError(f"mpiexec ended before its ranks were up{why}", self._words())
                wire = Wire(listening.accept()[0])
                with suppress(EOFError, ConnectionError):  # then `mpiexec` ends too
                    hello = wire.receive(Meeting, deadline).published
                    self.alone &= hello["network"] != supervisor.network()
                    self.wires[hello["rank"]] = wire
                    self.pidfds[hello["rank"]] = os.pidfd_open(hello["pid"])
        coming = dict(sorted(self.wires.items()))
        for rank, said in hear(coming, Said, deadline):
            del coming[rank]
            if said is None:
                raise self._died(rank, {})
            if said != Meeting({"ranks": self.count}):
                why = said.why if isinstance(said, Failed) else f"MPI counts other than {self.count} ranks"
                raise LaunchError(f"rank {rank} could not start", why)

    def launch(self, command: Command) -> dict[str, Outcome]:
        """Run `command` and return each role's outcome; raises `LaunchError` that says which rank failed and why."""
        names = {rank: role.name for rank, role in command.roles.items()}
        owing = {rank: self.wires[rank] for rank in names}
        outcomes = dict.fromkeys(names.values(), Outcome())
        for wire in owing.values():
            with suppress(OSError):  # a dead rank is noticed at its next message
                wire.send(command)
        try:
            for rank, said in hear(owing, Said, time.monotonic() + command.seconds):
                del owing[rank]
                if said is None:
                    raise self._died(rank, names)
                if isinstance(said, Failed):
                    raise LaunchError(f"rank {rank} ({names[rank]}) failed", said.why)
                outcomes[names[rank]] = said
        except LateError as late:
            raise self._failure(late.args[0], names, f"did not finish within {command.seconds:g} s") from None
        return outcomes

    def _died(self, rank: int, names: dict[int, str]) -> LaunchError:
        """Return which rank died of what; `mpiexec`, its parent, knows and then ends the others."""
        with suppress(subprocess.TimeoutExpired):
            if self.supervisor is not None:
                self.supervisor.wait(END_SECONDS)
        told = self._read_told()
        if found := SIGNAL_TOLD.search(told):
            return self._failure(int(found[1]), names, ending(-int(found[2])))
        code = CODE_TOLD.search(told)
        why = (ending(int(code[1])) if code else "ended") + full(self.count * mpi.SEGMENT_BYTES)
        return self._failure(rank, names, why)

    def _failure(self, rank: int, names: dict[int, str], why: str) -> LaunchError:
        name = f" ({names[rank]})" if rank in names else ""
        return LaunchError(f"rank {rank}{name} {why}", self._words(rank))

    def _read_told(self) -> str:
        self.told.seek(0)
        return self.told.read().decode(errors="replace")

    def _words(self, rank: int = 0) -> str:
        """Return the last line that `rank`, another rank or `mpiexec` wrote."""
        files = sorted(self.folder.glob("stderr-*"), key=lambda file: file.name != f"stderr-{rank}")
        texts = [*(file.read_text(errors="replace") for file in files), self._read_told()]
        return next(filter(None, map(last_line, texts)), SILENCE)

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
        remove_names(self.prefix)


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
        return self

    def __exit__(self, *error: object) -> None:
        self._end(orderly=error[0] is None)

    def __call__(self, point: Point, roles: Sequence[Role], seconds: float) -> dict[str, Outcome]:
        """Run one launch of `point`; raises `LabError` when it failed."""
        if len(roles) > self.count:
            raise LabError(f"{len(roles)} roles need as many ranks", f"there are {self.count}", "")
        ranks = self._ranks_for(point)
        with self.launcher.naming() as prefix:
            try:
                return ranks.launch(Command(dict(enumerate(roles)), prefix, self.launcher.session.folder, seconds))
            except BaseException:
                self._end(orderly=False)
                raise

    def _ranks_for(self, point: Point) -> RankSet:
        if self.ranks is None or point.id in self.done:
            self._end(orderly=True)
            self.ranks = RankSet(self.launcher, self.count, self.preload)
            if not self.ranks.alone and not self.told:
                self.told = True
                self.say(NOT_ALONE)
        self.done.add(point.id)
        return self.ranks

    def _end(self, orderly: bool) -> None:
        self.done.clear()
        ranks, self.ranks = self.ranks, None
        if ranks is not None:
            ranks.end(orderly)
