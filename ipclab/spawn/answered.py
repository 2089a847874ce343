"""Proof of request and answer: what is looked at comes back with a secret of the launch in it.

The server alone has the secret when it answers, and mixes it with what arrived.
"""

import random
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from ipclab.spawn.proof import (
    LARGE,
    MARK,
    AwaitedError,
    Data,
    Numbered,
    PayloadError,
    arrived,
    noise,
)


class _Meeting(Protocol):
    """What a proof needs of a worker."""

    prefix: str
    role: str
    recording: bool

    def meet(self, **published: Any) -> dict[str, dict[str, Any]]: ...


class Proof(Numbered):
    """One end's share of the proof of request and answer; the end of role `server` answers."""

    def __init__(self, worker: _Meeting, size: int) -> None:
        own = {"secret": secrets.token_hex(16)} if worker.role == "server" else {}
        secret = worker.meet(**own)["server"]["secret"]
        super().__init__(f"{worker.prefix} {secret}", size)
        self.worker = worker
        self.key = np.frombuffer(noise(secret, size), np.uint8)
        self.shift = random.Random(secret).randrange(size)
        self.room = np.zeros(size, np.uint8)

    def plan(self, count: int, warm: bool = False) -> list[bool]:
        """Return it for the next turn, which warms up where it is the first or not recorded."""
        warm = warm or not self.planned or not self.worker.recording
        return super().plan(count, warm)

    def next(self) -> Data:
        """Return the next message; a short one is an object of its own, which none need copy."""
        message = super().next()
        return bytes(message) if self.size <= LARGE else message

    def mixed(self, data: Data) -> memoryview:
        """Return the answer to `data` of an operation that is looked at; good until the next one."""
        if len(data) != self.size:
            what = f"arrived at the server with {len(data):,} of {self.size:,} bytes"
            raise arrived(self.messages.number(data), what)
        # What turns a bit on both ways turns two: each byte goes back at another place.
        arrived_bytes = np.frombuffer(data, np.uint8)
        self.room[: self.size - self.shift] = arrived_bytes[self.shift :]
        self.room[self.size - self.shift :] = arrived_bytes[: self.shift]
        self.room ^= self.key
        return self.room.data

    def clear(self, answer: Data) -> memoryview:
        """Return what arrived at the server if `answer`, which is as long, is mixed of it.

        It is good until the next one: new memory for each would be page faults in a turn.
        """
        mixed, kept = np.frombuffer(answer, np.uint8), self.size - self.shift
        np.bitwise_xor(mixed[:kept], self.key[:kept], out=self.room[self.shift :])
        np.bitwise_xor(mixed[kept:], self.key[kept:], out=self.room[: self.shift])
        return self.room.data

    def came(self, ends: Sequence[tuple[int, bytes, bytes]]) -> None:
        """Check the next messages that came to the server: length, beginning and end of each.

        What turns a bit on both ways is right again at the asking end, unless it is looked at.
        """
        for length, head, tail in ends:
            self.next()
            number = self.made - 1
            if length != self.size:
                what = f"arrived at the server with {length:,} of {self.size:,} bytes"
                raise arrived(number, what)
            messages = self.messages
            if not messages.begins(number, head) or not messages.ends(number, tail):
                why = f"the first or last {MARK} are not those that were sent"
                raise arrived(number, "arrived at the server with other bytes", why)

    def look(self, number: int, answer: Data) -> None:
        """Raise `PayloadError` unless `answer` is the server's to message `number`, made last."""
        self.compared += 1
        whole = len(answer) == self.size
        if whole and self.messages.begins(number, answer):
            raise arrived(number, "was not answered by the server", "its secret is not in it")
        if not whole or not self.messages.begins(number, self.clear(answer)):
            raise self.fault(number, answer)

    def fault(self, number: int, answer: Data) -> PayloadError:
        """Return what is wrong with `answer`, which may hold the secret: an older one, or torn."""
        if len(answer) != self.size:
            return self.messages.fault(number, answer)
        both = answer, self.clear(answer)
        old = [data for data in both if self.messages.other(number, data) is not None]
        torn = min(both, key=lambda data: self.messages.differing(number, data))
        return self.messages.fault(number, (*old, torn)[0])

    @contextmanager
    def going(self) -> Iterator[None]:
        """Say which message was waited for inside, where that was in vain."""
        try:
            yield
        except TimeoutError as error:
            said = f"no answer to message {self.made - 1} came"
            raise AwaitedError(said, "it or its answer was lost") from error

    def refused(self) -> PayloadError:
        """Return the error of a message that was not taken, though those before were answered."""
        number = self.made - 1
        return AwaitedError(f"message {number} was not taken", "those before it had their answers")

    def missed(self, number: int) -> PayloadError:
        """Return the error of the server at message `number` of a turn, which did not come."""
        return AwaitedError(f"message {number} of a turn did not come", "it was lost")

    def stuck(self, number: int, error: Exception) -> PayloadError:
        """Return why the server could not answer message `number` of a turn."""
        if isinstance(error, ValueError):  # nobody has sent so much
            return arrived(number, "arrived longer than it was sent", str(error))
        return AwaitedError(f"the answer to message {number} of a turn was not taken")
