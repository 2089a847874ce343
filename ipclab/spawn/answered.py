"""Proof of request and answer: every question comes back with a secret of the launch in it.

The server alone has the secret when it answers, and mixes it with what arrived.
"""

import random
import secrets
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from ipclab.spawn.proof import (
    LARGE,
    MARK,
    SMALL,
    AwaitedError,
    Data,
    Numbered,
    PayloadError,
    altered,
    arrived,
    differing,
    last_word,
    noise,
    unlike,
)
from ipclab.spawn.seal import Seal
from ipclab.spawn.worker import Worker

AFTER, BEFORE = 8, 64  # how far from an answer's own number others are looked for, once it is wrong


class Proof(Numbered):
    """One end's share of the proof of request and answer; the end of role `server` answers.

    Every answer holds all of its question, and what only the server knows: a short one each byte
    turned by a table of its own, a longer one a stamp, or all of it where it is looked at. What is
    received is to be exactly of `kind`.
    """

    def __init__(self, worker: Worker, size: int, receive: str = "bytes") -> None:
        own = {"secret": secrets.token_hex(16)} if worker.role == "server" else {}
        secret = worker.meet(**own)["server"]["secret"]
        super().__init__(f"{worker.prefix} {secret}", size)
        self.worker = worker
        self.kind: type = bytes if receive == "bytes" else memoryview
        self.owned = receive != "view"  # by whoever receives it
        self.last, self.tail = last_word(size)
        self.short = size <= SMALL
        self.key = np.frombuffer(noise(secret, size), np.uint8)
        self.shift = random.Random(secret).randrange(size)
        self.room = np.zeros(size, np.uint8)
        self.seal = Seal(secret, size)
        self.answered = 0  # long ones, by this end
        self.turns = deque[bytes]()  # the tables of short ones, in their order
        self.ready = deque[bytes]()  # short ones that are planned
        # short ones by number, with their answers, which were not looked at yet
        self.kept: list[tuple[int, bytes, bytes]] = []

    def plan(self, count: int, warm: bool = False) -> list[bool]:
        """Return it for the next turn, which warms up where it is the first or not recorded.

        Short messages are made with it: work between two round trips makes the second one slower.
        """
        warm = warm or not self.planned or not self.worker.recording
        self.seal.stamps.ahead(self.planned, count)
        plan = super().plan(count, warm)
        numbers = range(self.planned - count, self.planned)
        if self.short and self.worker.role == "server":
            self.turns.extend(map(self.seal.table, numbers))
        elif self.short:
            self.ready.extend(bytes(self.messages.message(number)) for number in numbers)
        return plan

    def next(self) -> Data:
        """Return the next message; a short one is an object of its own, which none need copy."""
        if self.short:
            self.made += 1
            self.asked: Data = self.ready.popleft()
        else:
            message = super().next()
            self.asked = bytes(message) if self.size <= LARGE else message
        return self.asked

    def keep(self, answer: Data, look: bool) -> None:
        """Check the `answer` to the message made last: a short one with the next that is looked at."""
        if not self.short:
            self.check(answer, look)
            return
        self.kept.append((self.made - 1, bytes(self.asked), bytes(answer)))
        if look:
            self.settle()

    def settle(self) -> None:
        """Raise `PayloadError` for the first that is wrong of the answers that were kept."""
        kept, self.kept = self.kept, []
        for number, asked, answer in kept:
            if answer != self.seal.turned(number, asked):
                raise self.fault(number, answer)

    def arrive(self, data: Data) -> Data:
        """Return `data`, which is there: of its kind, as long as was sent, with its last word."""
        if type(data) is not self.kind or len(data) != self.size:
            raise self.unlike(data)
        self.last(data, self.tail)
        return data

    def unlike(self, data: Data) -> PayloadError:
        """Return what is wrong with an answer of another kind or length, if none before is wrong."""
        self.settle()
        if type(data) is not self.kind:
            return unlike(data, self.kind, f"message {self.made - 1}")
        return self.messages.fault(self.made - 1, data)

    def answer(self, data: Data, look: bool) -> Data:
        """Return the answer to `data`, the next question; good until the next one.

        Raises `PayloadError` where that has another length or kind.
        """
        if type(data) is not self.kind or len(data) != self.size:
            raise self.misread(data)
        if self.short:
            return bytes(data).translate(self.turns.popleft())
        number, self.answered = self.answered, self.answered + 1
        if look:
            return self.mixed(data)
        if self.size > LARGE and self.owned:
            return self.seal.stamped_there(number, data)
        room = self.room.data
        room[:] = data
        return self.seal.stamped(number, room)

    def misread(self, data: Data) -> PayloadError:
        """Return what is wrong with a question of another kind or length."""
        number = self.messages.number(data)
        if type(data) is not self.kind:
            return unlike(data, self.kind, f"message {number} at the server")
        what = f"arrived at the server with {len(data):,} of {self.size:,} bytes"
        return arrived(number, what)

    def mixed(self, data: Data) -> memoryview:
        """Return `data` with every byte at another place and mixed with the secret.

        What turns a bit on both ways turns two.
        """
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

    def alike(self, number: int, answer: Data) -> bool:
        """Tell whether `answer` is the server's to message `number`, made last."""
        if self.short:
            return answer == self.seal.turned(number, self.asked)
        self.messages.stamp(*self.seal.stamps.of(number), number)
        return super().alike(number, answer)

    def look(self, number: int, answer: Data) -> None:
        """Raise `PayloadError` unless `answer` is the server's to message `number`, made last."""
        self.compared += 1
        if self.short:
            whole = self.alike(number, answer)
        else:
            whole = len(answer) == self.size and self.messages.begins(number, self.clear(answer))
        if not whole:
            raise self.fault(number, answer)

    def fault(self, number: int, answer: Data) -> PayloadError:
        """Return what is wrong with `answer` to message `number`: whose it is, or how it is torn."""
        if len(answer) != self.size:
            return self.messages.fault(number, answer)
        answer = bytes(answer)
        if answer == self.messages.at(number):
            return arrived(number, "was not answered by the server", "its secret is not in it")
        for other in range(number + AFTER, number - BEFORE, -1):
            if other != number and answer in self._forms(other, (number, other)):
                return self.messages.replaced(number, other)
        forms = self._forms(number, (number,))
        wanted = min(forms, key=lambda form: len(differing(form, answer)))
        return altered(number, wanted, answer)

    def _forms(self, number: int, answers: Sequence[int]) -> list[bytes]:
        """Return the answers to message `number`, as each number of `answers` would have it."""
        question = bytes(self.messages.at(number))
        if self.short:
            return [bytes(self.seal.turned(answer, question)) for answer in answers]
        stamped = [self.seal.stamped(answer, bytearray(question)) for answer in answers]
        return [*map(bytes, stamped), bytes(self.mixed(question))]

    @contextmanager
    def going(self) -> Iterator[None]:
        """Say which message was waited for inside, where that was in vain and none before is wrong.

        What was kept inside is settled.
        """
        try:
            yield
            self.settle()
        except TimeoutError as error:
            self.settle()
            said = f"no answer to message {self.made - 1} came"
            raise AwaitedError(said, "it or its answer was lost") from error

    def refused(self) -> PayloadError:
        """Return the error of a message that was not taken, though those before were answered."""
        self.settle()
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
