"""The measuring side of ranks that `mpiexec` starts.

A set of ranks runs each point at most once, so that every launch of a point has fresh processes; it
is made anew for the next round, and after a launch that failed. It ends with all that it made.
"""

import os
import re
import select
import shutil
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from ipclab.spawn.exits import SILENCE, ending, full_memory_words, last_line, tail
from ipclab.spawn.failures import LaunchError, failed
from ipclab.spawn.heat import Contestant, HeatOutcomes, Schedule, together_or_alone
from ipclab.spawn.launcher import START_SECONDS, Launcher
from ipclab.spawn.ledger import SHARED_MEMORY
from ipclab.spawn.mpi import SEGMENT_BYTES, command, mpi_missing, mpiexec, rank_environment
from ipclab.spawn.mpi_mail import Answer, Command, Done, RankPart
from ipclab.spawn.names import exclusively, shared
from ipclab.spawn.started import END_SECONDS, Role
from ipclab.spawn.wire import LateError, Wire, hear
from ipclab.spawn.worker import Failed, Meeting

SIGNAL_TOLD = re.compile(r"process rank (\d+)\D.*?signal\s+(\d+)", re.DOTALL)
CODE_TOLD = re.compile(r"exit code:?\s+(\d+)", re.IGNORECASE)


class RankBench:
    """Launches points on ranks that it starts itself: one `mpiexec` at a time, forked by a server.

    A context manager that leaves nothing behind.
    """

    def __init__(self, launcher: Launcher, count: int, preload: Sequence[str] = ()) -> None:
        """Use sets of `count` ranks that import `preload` first."""
        self.launcher = launcher
        self.count = count
        self.preload = preload
        self.stack = ExitStack()  # ends the present ranks
        self.wires: dict[int, Wire] = {}
        self.done: set[str] = set()  # the points that they have run

    def __enter__(self) -> "RankBench":
        return self

    def __exit__(self, *error: object) -> None:
        self._end(orderly=error[0] is None)

    def __call__(self, heat: Mapping[str, Contestant], schedule: Schedule) -> HeatOutcomes:
        """Run a heat; where it fails as a whole, its contestants one by one."""
        return together_or_alone(self._heat, heat, schedule)

    def _heat(self, heat: Mapping[str, Contestant], schedule: Schedule) -> HeatOutcomes:
        if self.done.intersection(heat) or not self._up():
            self._end(orderly=True)
            self._begin()
        self.done.update(heat)
        with ExitStack() as names:
            parts = dict[str, RankPart]()
            for name, contestant in heat.items():
                prefix = names.enter_context(self.launcher.naming())
                roles = dict(enumerate(contestant.roles))
                parts[name] = RankPart(roles, prefix, self.launcher.session.folder)
            try:
                return self._launch(Command(parts, schedule, patient=True))
            except BaseException:
                self._end(orderly=False)
                raise

    def _up(self) -> bool:
        """Tell whether `mpiexec` still runs, as far as is known: it ends with its fork server."""
        return bool(self.wires) and not select.select([self.mpiexec.wire], [], [], 0)[0]

    def _begin(self) -> None:
        """Start ranks; raises `LaunchError` when they do not come up."""
        launcher, path = self.launcher, mpiexec()
        if path is None:
            raise LaunchError("ranks cannot be started", mpi_missing() or "")
        cpus = frozenset(os.sched_getaffinity(0))
        with ExitStack() as stack:
            prefix = stack.enter_context(launcher.naming())
            self.folder = Path(launcher.session.folder) / f"ranks-{launcher.started}"
            stack.callback(self._remove)
            memory = SHARED_MEMORY / shared(prefix, launcher.session.folder, "mpi")
            for folder in (self.folder, memory):
                with exclusively(folder):
                    folder.mkdir(mode=0o700)
            listening = stack.enter_context(socket.socket(socket.AF_UNIX))
            listening.bind(f"{self.folder}/socket")
            listening.listen(self.count)
            worker = [sys.executable, "-m", "ipclab.spawn.mpi_worker", str(self.folder)]
            words = command(path, self.count, [*worker, *self.preload])
            env = launcher.changes(rank_environment(os.environ, self.folder, memory))
            role = Role("mpiexec", "", {}, cpus, command=words, env=env, own_network=True)
            (self.mpiexec,) = stack.enter_context(launcher.running([role], prefix)).values()
            try:
                self._adopt(listening, time.monotonic() + START_SECONDS)
            except (LateError, TimeoutError):
                raise LaunchError(
                    f"the ranks did not come up within {START_SECONDS:g} s", self._words()
                ) from None
            self.stack = stack.pop_all()

    def _adopt(self, listening: socket.socket, deadline: float) -> None:
        """Take the ranks in until all are up.

        Raises `LaunchError` when one or `mpiexec` ends first.
        """
        ended = self.mpiexec.wire.fileno()
        while len(self.wires) < self.count:
            left = max(0.0, deadline - time.monotonic())
            ready, _, _ = select.select([listening.fileno(), ended], [], [], left)
            if not ready:
                raise LateError
            if ended in ready:
                why = full_memory_words(self.count * SEGMENT_BYTES)
                raise LaunchError(f"mpiexec ended before its ranks were up{why}", self._words())
            wire = Wire(listening.accept()[0])
            with suppress(EOFError, ConnectionError):  # then `mpiexec` ends too
                said: Meeting | Failed = wire.receive(Meeting | Failed, deadline)
                if isinstance(said, Failed):
                    raise LaunchError("a rank could not start", said.why)
                rank, ranks = said.published["rank"], said.published["ranks"]
                if ranks != self.count:
                    why = f"MPI counts {ranks} ranks, not {self.count}"
                    raise LaunchError(f"rank {rank} could not start", why)
                self.wires[rank] = wire

    def _launch(self, command: Command) -> HeatOutcomes:
        """Run `command`; return each contestant's outcomes.

        `LaunchError` says which rank failed and why.
        """
        names = command.names
        owing = {rank: self.wires[rank] for rank in names}
        done: dict[int, Done] = {}
        for wire in owing.values():
            with suppress(OSError):  # a dead rank is noticed at its next message
                wire.send(command)
        try:
            for rank, said in hear(owing, Answer, time.monotonic() + command.seconds):
                del owing[rank]
                if said is None:
                    raise self._failure(names, *self._death(rank))
                if isinstance(said, Failed):
                    raise failed(f"rank {rank} ({names[rank]})", said)
                done[rank] = said
        except LateError as late:
            raise self._failure(
                names, late.args[0], f"did not finish within {command.seconds:g} s"
            ) from None
        return outcomes_by_name(command, done)

    def _death(self, rank: int) -> tuple[int, str]:
        """Return which rank died of what; `mpiexec`, its parent, knows and then ends the others."""
        self.mpiexec.wire.await_end(END_SECONDS)
        output = self.mpiexec.said()
        if signal_told := SIGNAL_TOLD.search(output):
            return int(signal_told[1]), ending(-int(signal_told[2]))
        code = CODE_TOLD.search(output)
        return rank, (ending(int(code[1])) if code else "ended") + full_memory_words(
            self.count * SEGMENT_BYTES
        )

    def _failure(self, names: dict[int, str], rank: int, why: str) -> LaunchError:
        name = f" ({names[rank]})" if rank in names else ""
        return LaunchError(f"rank {rank}{name} {why}", self._words(rank))

    def _words(self, rank: int = 0) -> str:
        """Return the last line that `rank`, another rank or `mpiexec` wrote."""
        files = sorted(self.folder.glob("stderr-*"), key=lambda file: file.name != f"stderr-{rank}")
        texts = [*map(tail, files), self.mpiexec.said()]
        return last_line(*texts) or SILENCE

    def _end(self, orderly: bool) -> None:
        """End all ranks and remove what they had: let them finish if `orderly`, else kill them."""
        for wire in self.wires.values():
            with suppress(OSError):
                wire.sock.shutdown(socket.SHUT_WR)  # a rank that is idle finishes by itself then
        if orderly and self.wires:
            self.mpiexec.wire.await_end(END_SECONDS)
        self.stack.close()

    def _remove(self) -> None:
        # also of ranks whose fork server was killed, and which die with it
        for wire in self.wires.values():
            wire.await_end(END_SECONDS)
            wire.close()
        self.wires.clear()
        self.done.clear()
        shutil.rmtree(self.folder, ignore_errors=True)


def outcomes_by_name(command: Command, done: Mapping[int, Done]) -> HeatOutcomes:
    """Return the outcomes of each contestant by role, from what its ranks have told."""
    return {
        name: {role.name: done[rank].outcomes[name] for rank, role in part.roles.items()}
        for name, part in command.parts.items()
    }
