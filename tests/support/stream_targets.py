"""Streams whose producer does one thing wrong: it drops, repeats or swaps a message."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ipclab.backends.interface import Data
from ipclab.spawn.worker import Turns, Worker
from ipclab_more.studies.stream import ends
from ipclab_more.studies.stream.ways import PRODUCER

AT = 1  # of the timed messages of a turn
Wrong = Callable[[Callable[[Data], object], list[bytes], bytes], None]


def _run(worker: Worker, plan: dict[str, Any], wrong: Wrong) -> Turns:
    phase = ends.Producer.phase

    def faulty(
        self: ends.Producer, count: int, period_ns: int = 0, kept: bool = False
    ) -> tuple[int, int]:
        good, held = self.way.send, list[bytes]()

        def send(data: Data) -> None:
            place = self.messages.number(data) - self.count
            wrong(good, held, bytes(data)) if place in (AT, AT + 1) else good(data)

        way = self.way
        self.way = replace(way, send=send) if kept and not self.took else way  # in the first turn
        stamps = phase(self, count, period_ns, kept)
        self.way = way
        return stamps

    if worker.role == PRODUCER:
        # in a process of its own
        vars(ends)["Producer"] = type("Faulty", (ends.Producer,), {"phase": faulty})
    return ends.run_stream(worker, **plan)


def drop(worker: Worker, **plan: Any) -> Turns:
    """Send all but one message."""
    return _run(
        worker,
        plan,
        lambda send, held, data: held.append(data) if not held else (send(data), None)[1],
    )


def duplicate(worker: Worker, **plan: Any) -> Turns:
    """Send one message twice."""

    def twice(send: Callable[[Data], object], held: list[bytes], data: bytes) -> None:
        send(data)
        if not held:
            held.append(data)
            send(data)

    return _run(worker, plan, twice)


def swap(worker: Worker, **plan: Any) -> Turns:
    """Send two messages in the wrong order."""

    def late(send: Callable[[Data], object], held: list[bytes], data: bytes) -> None:
        if not held:
            held.append(data)
        else:
            send(data)
            send(held[0])

    return _run(worker, plan, late)
