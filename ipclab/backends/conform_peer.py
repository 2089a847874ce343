"""Whether a peer does what its protocol asks (docs/peers.md): what `ipclab conform` tries.

What is sent, how long it is and when nothing is sent follow from a seed that no peer can know.
"""

import os
import random
import select
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from time import monotonic_ns as clock

from ipclab.backends.interface import Place, variant
from ipclab.backends.peers import SENT, SLACK_NS, PeerChannel, PeerError
from ipclab.backends.waiting import MS, Peer
from ipclab.errors import LabError
from ipclab.paths import checkout
from ipclab.spawn.ledger import private

SHORT_NS, LONG_NS, SILENCE_NS, BURST, SMALL = 50 * MS, 1000 * MS, 2 * MS, 8, 100
# bytes of a message that is tried, however long those are that a peer says it takes
LARGEST = 16 << 20
LENGTHS = (0, 1, 7, 4097)
MANY, SILENT = 600, 0.1  # messages, and how often nothing comes between two of them
ALL_BYTES = 48 << 20  # of those messages together


def peer_faults(command: Sequence[str]) -> Iterator[str]:
    """Yield what a peer does wrong, up to the first check that fails.

    Each check starts `command` twice, one for each end.
    """
    for check in (_lengths, _order, _deadline, _unread, _many, _dead):
        with private(checkout().ledger) as folder, ExitStack() as held:
            place = Place("peer-0", str(folder), LARGEST)
            kind = variant(PeerChannel, command=command)
            try:
                one, other = ends = [
                    held.enter_context(closing(kind(place, create))) for create in (True, False)
                ]
                for end in ends:
                    end.accept(Peer.me(), 5 * SLACK_NS)
                if (longest := min(one.capacity, other.capacity)) < SMALL:
                    what = f"its messages have at most {longest} bytes"
                    raise PeerError(what, f"{SMALL} are needed")
                check(one, other)
                held.close()
                left = next(place.path("peer").iterdir(), None)
            except (LabError, OSError) as error:
                yield str(error)
                return
            if left:
                yield (
                    f"it leaves {left.name} behind; remove what was made, at the latest when the"
                    " standard input ends"
                )


class Sent:
    """The messages of random bytes that went to `receiver`, and how many of them came."""

    def __init__(self, sender: PeerChannel, receiver: PeerChannel) -> None:
        self.sender, self.receiver = sender, receiver
        self.messages: list[bytes] = []
        self.came = 0

    def send(self, *sizes: int) -> None:
        """Send messages of `sizes` bytes, no two of 8 or more alike."""
        for size in sizes:
            self.messages.append(os.urandom(size))
            self.sender.send(self.messages[-1], LONG_NS)

    def receive(self) -> None:
        """Take all that were sent; raises `PeerError` that says what is wrong with one."""
        while self.came < len(self.messages):
            number, wanted = self.came, self.messages[self.came]
            try:
                got = self.receiver.recv(LONG_NS)
            except TimeoutError as error:
                what = f"it drops: message {number} of {len(wanted)} bytes did not come"
                raise PeerError(what, "1 s was waited") from error
            if got != wanted:
                raise self._wrong(number, wanted, got)
            self.came += 1

    def _wrong(self, number: int, wanted: bytes, got: bytes) -> PeerError:
        size = len(wanted)
        if len(got) >= min(8, size) and got in self.messages:
            return self._misplaced(number, wanted, self.messages.index(got))
        if len(got) != size:
            what = f"wrong length: a message of {size} bytes came with {len(got)}"
            return PeerError(what, "hand over all bytes")
        if not any(got):
            return PeerError(f"message {number} of {size} bytes came as nothing but zeros")
        at = next(at for at in range(size) if got[at] != wanted[at])
        what = f"message {number} of {size} bytes came with other bytes at {at}"
        return PeerError(what, "hand over the bytes as they are")

    def _misplaced(self, number: int, wanted: bytes, other: int) -> PeerError:
        """Return why message `other` came in place of `number`: what comes next tells it."""
        if other < number:
            what = f"it repeats: message {other} came again in place of message {number}"
            return PeerError(what, "hand over every message once")
        after = list[bytes]()
        with suppress(TimeoutError):
            while wanted not in after and len(after) < len(self.messages):
                after.append(self.receiver.recv(SHORT_NS))
        if wanted in after:
            what = f"it reorders: message {other} came before message {number}"
            return PeerError(what, "keep the order")
        what = f"it drops: message {other} came in place of message {number}"
        return PeerError(what, "hand over every message")

    def silence(self, wait_ns: int) -> None:
        """Raise `PeerError` if something comes within `wait_ns` that nobody has sent."""
        with suppress(TimeoutError):
            self.receiver.recv(wait_ns)
            what = "it receives what nobody sent"
            raise PeerError(what, "answer 'late' when nothing came in time")


def both(one: PeerChannel, other: PeerChannel) -> tuple[Sent, Sent]:
    """Return what goes one way, and what goes the other way."""
    return Sent(one, other), Sent(other, one)


def _lengths(one: PeerChannel, other: PeerChannel) -> None:
    longest = min(one.capacity, other.capacity)
    for way in both(one, other):
        for size in (*(size for size in LENGTHS if size < longest), longest):
            way.send(size)
            way.receive()


def _order(one: PeerChannel, other: PeerChannel) -> None:
    way, _ = both(one, other)
    way.send(*BURST * [SMALL])
    way.receive()


def _deadline(one: PeerChannel, other: PeerChannel) -> None:
    begun = clock()
    Sent(one, other).silence(SHORT_NS)
    if clock() - begun < SHORT_NS // 2:
        raise PeerError("it answers 'late' before the time has passed", "wait as long as is asked")


def _unread(one: PeerChannel, other: PeerChannel) -> None:
    """Hold the last byte of messages back: nothing may be said or handed over before it is read."""
    for way in both(one, other):
        for size in (SMALL, min(LENGTHS[-1], way.sender.capacity)):
            message, line = os.urandom(size), f"send {size}"
            os.write(way.sender.stdin, line.encode() + b"\n" + message[:-1])
            if select.select([way.sender.stdout], [], [], SHORT_NS / 1e9)[0]:
                what = "it answers before it has read the message"
                raise PeerError(what, "read all bytes, then say 'sent'")
            way.silence(SHORT_NS)
            os.write(way.sender.stdin, message[-1:])
            word, _ = way.sender.answer(line, LONG_NS)
            if word != SENT:
                raise PeerError(f"it answers {word!r}", f"'{SENT.decode()}' was expected")
            way.messages.append(message)
            way.receive()


def _many(one: PeerChannel, other: PeerChannel) -> None:
    """Send many messages of all lengths both ways, some at a time, and now and then none."""
    chance, left = random.Random(os.urandom(16)), ALL_BYTES
    longest = min(one.capacity, other.capacity)
    ways, done = both(one, other), 0
    while done < MANY:
        way = chance.choice(ways)
        size = int(longest ** chance.random()) if left > 0 else chance.randint(8, longest // 16)
        count = chance.randint(1, BURST) if size <= SMALL else 1
        way.send(*(chance.randint(8, SMALL) if count > 1 else size for _ in range(count)))
        way.receive()
        done, left = done + count, left - count * size
        if chance.random() < SILENT:
            chance.choice(ways).silence(SILENCE_NS)


def _dead(one: PeerChannel, other: PeerChannel) -> None:
    one.child.kill()
    with suppress(BrokenPipeError):
        other.recv(LONG_NS)
        raise PeerError(
            "it receives from a dead peer", "answer 'gone' when the other process has ended"
        )
