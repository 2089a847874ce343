"""The launching side: starts the workers of a launch, and ends them at the deadline."""

import os
import select
import socket
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NoReturn

import msgspec

from ipclab.spawn.exits import ending, last_line
from ipclab.spawn.failures import LaunchError, LostError, SessionError, failed, silent
from ipclab.spawn.ledger import Session, close_session, ledger_file, open_session, remove_launch
from ipclab.spawn.owned import own
from ipclab.spawn.started import (
    END_SECONDS,
    MOST_SAID,
    ForkServer,
    Role,
    Start,
    Started,
    outcomes_of,
    page,
    send_to,
    start_fork_server,
)
from ipclab.spawn.wire import LateError, Wire, hear
from ipclab.spawn.worker import Failed, Meeting, Outcome, Parked, Roles, Said, Turn

START_SECONDS = 60.0
DYING_SECONDS = 0.2
YOUNG_SECONDS = 4.0  # fork servers take about one to start: younger ones serve for another round
SERVERS_LOST = 3  # one after the other, without a launch between them


@dataclass
class Launcher:
    """A session's fork servers; a context manager that leaves nothing behind.

    There are two, and a launch's first worker is forked from another one than all others: two ends
    forked from one would share its pages, which programs that are started one by one do not. A fork
    server that was killed fails the launch that it was at; the next launch has new ones. Two more
    serve the roles with one of the `preloads`: a fork takes the longer, the more is loaded.
    """

    ledger: Path
    # What a fork server calls first: `module:function`
    preload: str = "ipclab.studies.installed:preload"
    preloads: Collection[str] = ()
    started: int = 0
    _lost: int = 0

    def __enter__(self) -> "Launcher":
        self.session: Session = open_session(self.ledger)
        self.loaded: dict[str, tuple[ForkServer, ForkServer]] = {}
        self.used = set[str]()  # those of the preloads whose servers have started workers
        try:
            self._serve()
        except BaseException:
            close_session(self.ledger, self.session)
            raise
        return self

    def _serve(self) -> None:
        self.environment = dict(os.environ)
        start = partial(start_fork_server, self.ledger, self.session.id)
        others = start(self.preload)
        for preload in self.preloads:
            if not self._is_unused(preload):
                self.loaded[preload] = start(preload), start(preload)
        self.used.clear()
        before = [others, *chain.from_iterable(self.loaded.values())]
        self.servers = start(self.preload, after=before), others
        self.served = time.monotonic()

    def _is_unused(self, preload: str) -> bool:
        """Tell whether the servers of `preload` run and have started no worker yet."""
        servers = self.loaded.get(preload, ())
        running = [server for server in servers if server.process.poll() is None]
        return len(running) > 1 and preload not in self.used

    def _every_server(self) -> list[ForkServer]:
        """Return all fork servers, the one that ends last as the last one."""
        last, others = self.servers
        return [*chain.from_iterable(self.loaded.values()), others, last]

    def __exit__(self, *error: object) -> None:
        for server in self._every_server():
            server.end()
        close_session(self.ledger, self.session)

    def changes(self, wanted: Mapping[str, str]) -> dict[str, str | None]:
        """Return the `env` of a role whose program is to have the environment `wanted`."""
        differ = dict(wanted.items() ^ self.environment.items())
        return {name: wanted.get(name) for name in sorted(differ)}

    def renew(self) -> None:
        """Start other fork servers: their workers have another address-space layout.

        Those with a preload that have started no worker stay.

        It is called between launches, when no worker is left. The old ones are killed, not ended,
        lest one finds its socket closed and removes what the session owns; last, so that at each
        moment one can do that if we are killed.
        """
        old = self._every_server()
        self._serve()
        kept = self._every_server()
        for server in reversed(old):
            if server not in kept:
                server.kill()

    def renew_old(self) -> None:
        """Start other fork servers unless these are young: short rounds share their layout."""
        if time.monotonic() - self.served > YOUNG_SECONDS:
            self.renew()

    def own(self, kind: str, name: str) -> None:
        """Have the ledger remove what `kind` calls `name` when this session ends, in any way."""
        own(ledger_file(self.ledger, self.session.id), kind, name)

    @contextmanager
    def naming(self) -> Iterator[str]:
        """Give one more launch the prefix of its names, and remove what it leaves under them."""
        self.started += 1
        prefix = self.session.prefix(self.started)
        try:
            yield prefix
        finally:
            remove_launch(prefix, self.session.folder)

    def launch(self, roles: Sequence[Role], seconds: float) -> dict[str, Outcome]:
        """Run one launch of `roles` and return each role's outcome; those that take turns have one.

        Raises `LaunchError` with the end of its stderr when a worker dies or `seconds` have passed,
        and `SessionError` when one fork server after the other is lost; no worker and no shared
        name of the launch is left.
        """
        with self.naming() as prefix, self.running(roles, prefix) as workers:
            parked = self.attend(workers, seconds)
            for turn in (Turn(parked), Turn(None)):  # one is enough
                if parked:
                    send_to(workers, turn, parked)
                    parked = self.attend(workers, seconds)
        self.survived()
        return outcomes_of(workers)

    def survived(self) -> None:
        """Note that the fork servers are good for a launch."""
        self._lost = 0

    @contextmanager
    def running(self, roles: Sequence[Role], prefix: str) -> Iterator[dict[str, Started]]:
        """Give the workers of `roles`, started.

        Those without an outcome are killed when the block ends.
        """
        workers: dict[str, Started] = {}
        if any(server.process.poll() is not None for server in self._every_server()):
            self.renew()
        try:
            for place, role in enumerate(roles):
                servers = self.loaded.get(role.preload, self.servers)
                self.used.add(role.preload)
                self._ask(Start(role, prefix, self.session.folder), workers, servers[min(place, 1)])
            if not all(worker.await_start(START_SECONDS) for worker in workers.values()):
                said = [worker.said() for worker in workers.values() if worker.process is None]
                self._lose(last_line(*said))
            yield workers
        finally:
            for worker in workers.values():
                if worker.outcome is None and not worker.kill():
                    self._kill()  # its workers die with it
            for worker in workers.values():
                try:
                    if worker.process is not None:
                        worker.await_end()
                except TimeoutError:
                    self._kill()
                worker.wire.await_end(END_SECONDS)
                worker.wire.close()
                worker.server.close()
                os.close(worker.stderr)
                if worker.process is not None:
                    os.close(worker.process)

    def _ask(self, start: Start, workers: dict[str, Started], server: ForkServer) -> None:
        ours, theirs = socket.socketpair()
        told, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        stderr = page()  # closed by `running`
        workers[start.role.name] = Started(start.role, Wire(ours), told, stderr)
        with theirs, its:
            server.ask(msgspec.json.encode(start), [theirs.fileno(), stderr, its.fileno()])

    def _lose(self, why: str = "") -> NoReturn:
        """Give the fork servers up, for what they said; their workers die with them."""
        self._kill()
        self._lost += 1
        reason = "the fork server does not answer", why or "it was killed or could not start"
        if self._lost > SERVERS_LOST:
            raise SessionError(*reason, "the same command continues the run")
        raise LostError(*reason, "the launch is made again")

    def _kill(self) -> None:
        for server in reversed(self._every_server()):
            server.kill()

    def attend(self, workers: Mapping[str, Started], seconds: float) -> Roles:
        """Take what workers say until each is parked or ended; return what those parked published.

        Those that meet go on when all have come that have no outcome yet. Raises `LaunchError` for
        a worker that failed, was not there after `seconds`, or has ended while its peers have turns
        to come.
        """
        try:
            parked = self._hear(workers, time.monotonic() + seconds)
        except LateError as late:
            raise silent(workers, late.args[0], f"did not finish within {seconds:g} s") from None
        ended = outcomes_of(workers)
        if parked and ended:
            raise LaunchError(
                f"worker {min(ended)!r} ended before its last turn", "its peers wait for it"
            )
        return parked

    def _hear(self, workers: Mapping[str, Started], deadline: float) -> Roles:
        owing = {name: worker.wire for name, worker in workers.items() if worker.outcome is None}
        met: Roles = {}
        parked: Roles = {}
        for name, said in hear(owing, Said, deadline):
            match said:
                case Meeting():
                    met[name] = said.published
                case Parked():
                    parked[name] = said.published
                case Failed():
                    self._blame_dead(workers, owing.keys() - {name}, said.follows)
                    raise failed(f"worker {name!r}", said)
                case _:
                    workers[name].outcome = said or self._ended(workers, name)
            del owing[name]
            if not owing and met:
                owing |= {name: workers[name].wire for name in met}
                send_to(workers, Meeting(met), met)
                met = {}
        return parked

    def _blame_dead(
        self, workers: Mapping[str, Started], peers: Collection[str], follows: bool
    ) -> None:
        """Raise `LaunchError` for the first of `peers` that died: what it met failed for that.

        A peer and what it shares end at about the same time; it has `DYING_SECONDS` for the rest.
        Where what failed `follows` from a peer's end, that one may have told why.
        """
        if peers:
            select.select([workers[name].wire for name in peers], [], [], DYING_SECONDS)
        for name in sorted(peers):
            wire = workers[name].wire
            if wire.ended():
                self._ended(workers, name)
            with suppress(TimeoutError, EOFError, OSError):
                said = wire.receive(Said, time.monotonic() + DYING_SECONDS) if follows else None
                if isinstance(said, Failed) and not said.follows:
                    raise failed(f"worker {name!r}", said)

    def _ended(self, workers: Mapping[str, Started], name: str) -> Outcome:
        """Return the outcome of a program that has ended well.

        Raises `LaunchError` for all else that has ended.
        """
        worker, code = workers[name], None
        with suppress(TimeoutError):
            code = worker.await_end()
        if code is None:
            self._lose()
        if worker.cut:
            what = f"worker {name!r} wrote more than {MOST_SAID >> 20} MiB"
            raise LaunchError(what, "", "have it write less, or into /dev/null")
        if code or not worker.role.command:
            raise silent(workers, name, ending(code))
        return Outcome(facts={"said": worker.said()})
