"""Peers: executables that speak for a mechanism on their standard streams (docs/peers.md)."""

import os
import select
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from time import monotonic_ns as clock

from ipclab.backends.interface import Backend, Channel, Data, Place, too_long, variant
from ipclab.backends.waiting import MS, Peer, closed, in_ms
from ipclab.errors import LabError
from ipclab.spawn.exits import die_with_parent

READY, SENT, MESSAGE, LATE, GONE = b"ready", b"sent", b"message", b"late", b"gone"
SLACK_NS = 2_000_000_000  # what an answer may take beyond the wait that was asked for
LINE = 64  # bytes of an answer's line at most


class PeerError(LabError):
    """A peer does not do what the protocol asks."""


class PeerChannel(Channel):
    """A channel's end that a peer holds: `command` starts it, its answers have deadlines."""

    command: Sequence[str] = ()

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        folder, pipe = place.path("peer"), subprocess.PIPE
        folder.mkdir(mode=0o700, exist_ok=True)
        command = [*self.command, "serve" if create else "connect", str(folder)]
        try:
            # A peer that does not look at its standard input would outlive us if we were killed.
            die = partial(die_with_parent, os.getpid())
            self.child = subprocess.Popen(
                command,
                stdin=pipe,
                stdout=pipe,
                bufsize=0,
                preexec_fn=die,  # noqa: PLW1509
            )
        except OSError as error:
            raise LabError(
                f"{command[0]} cannot be started", error.strerror or "", "name an executable"
            ) from error
        self.held.callback(self._end)
        self.streams = [stream for stream in (self.child.stdin, self.child.stdout) if stream]
        self.stdin, self.stdout = (stream.fileno() for stream in self.streams)
        os.set_blocking(self.stdin, False)
        self.heard = b""

    def _end(self) -> None:
        for stream in self.streams:
            with suppress(OSError):
                stream.close()
        try:
            self.child.wait(SLACK_NS / 1e9)  # its standard input has ended: so does it
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Wait until it is joined with the other, and note the longest message it takes."""
        self.peer = peer
        word, longest = self.answer("start", timeout_ns)
        if word != READY:
            raise PeerError("it does not say 'ready' first", repr(word))
        self.capacity = min(self.capacity, longest)

    def send(self, data: Data, timeout_ns: int) -> None:
        if len(data) > self.capacity:
            raise too_long(len(data), self.capacity)
        self._ask(SENT, f"send {len(data)}", data, timeout_ns)

    def recv(self, timeout_ns: int) -> bytes:
        size = self._ask(MESSAGE, f"recv {in_ms(timeout_ns)}", b"", timeout_ns)
        deadline, lie = clock() + SLACK_NS, f"it lies about its size: {size} bytes announced"
        if size > self.capacity:
            raise PeerError(lie, f"no message has more than {self.capacity}")
        while len(self.heard) < size:
            self._hear(deadline, f"{lie}, {len(self.heard)} came")
        data, self.heard = self.heard[:size], self.heard[size:]
        return data

    def _ask(self, wanted: bytes, line: str, body: Data, wait_ns: int) -> int:
        """Say `line` and `body`; return the number of the answer, which is `wanted`.

        It is due after `wait_ns` and slack.
        """
        deadline, view = clock() + wait_ns + SLACK_NS, memoryview(line.encode() + b"\n" + body)
        while view:
            self._await(
                self.stdin, select.POLLOUT, deadline, f"it hangs: it does not read '{line}'"
            )
            try:
                view = view[os.write(self.stdin, view) :]
            except BrokenPipeError as error:
                raise PeerError(f"it died at '{line}'", self._ending()) from error
        word, number = self.answer(line, wait_ns)
        if word == LATE:
            raise TimeoutError("the peer says that nothing came in time")
        if word == GONE:
            raise closed()
        if word != wanted:
            raise PeerError(f"it answers {word!r}", f"'{wanted.decode()}' was expected")
        return number

    def answer(self, asked: str, wait_ns: int) -> tuple[bytes, int]:
        """Return the word and the number of the next line that it says in answer to `asked`."""
        deadline = clock() + wait_ns + SLACK_NS
        while b"\n" not in self.heard[: LINE + 1]:
            if len(self.heard) > LINE:
                raise PeerError(f"its answer to '{asked}' is no line", repr(self.heard[:LINE]))
            self._hear(deadline, f"it hangs: no answer to '{asked}' in time")
        said, _, self.heard = self.heard.partition(b"\n")
        word, _, number = said.partition(b" ")
        if number and not number.isdigit():
            raise PeerError(f"its answer to '{asked}' has no number", repr(said))
        return word, int(number or 0)

    def _hear(self, deadline: int, late: str) -> None:
        self._await(self.stdout, select.POLLIN, deadline, late)
        said = os.read(self.stdout, 1 << 20)
        if not said:
            raise PeerError("it died before it answered", self._ending())
        self.heard += said

    @staticmethod
    def _await(descriptor: int, event: int, deadline: int, late: str) -> None:
        poller = select.poll()
        poller.register(descriptor, event)
        left = deadline - clock()
        if left <= 0 or not poller.poll(left / MS):
            raise PeerError(late, f"{SLACK_NS / 1e9:g} s beyond what was asked have passed")

    def _ending(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            return f"exit code {self.child.wait(SLACK_NS / 1e9)}"
        return "it closed its standard streams"


def peer(name: str, *command: str) -> Backend:
    """Return a backend whose channel is held by two processes of `command`.

    It is for an entry point of one's own.
    """
    return Backend(name, channel=variant(PeerChannel, command=command))
