"""Waiting for the other end: by spinning, blocking, or both in turn, with a deadline."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic_ns as clock
from time import sleep
from typing import Self, TypeVar

BLOCK, SPIN_THEN_BLOCK, SPIN = "block", "spin-then-block", "spin"
WAITS = (BLOCK, SPIN_THEN_BLOCK, SPIN)  # or the ns to spin before a sleep, as digits: a window
# rounds of spinning before a look at the clock and the peer
ROUNDS = {BLOCK: 0, SPIN_THEN_BLOCK: 10, SPIN: 100}
ASKS = 10  # asks in a round; the CPU is then offered to others, among which the peer may be
JOIN_SECONDS = 0.0005
MS = 1_000_000  # in ns
SLICE_NS = 50_000_000  # the longest sleep between two such looks
Got = TypeVar("Got")


def start_ticks(pid: int) -> int | None:
    """Return the start time of process `pid` in clock ticks since boot, or None."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else int(fields[19])


@dataclass(frozen=True)
class Peer:
    """The process at a channel's other end: pid, and start time in clock ticks since boot."""

    pid: int
    start_ticks: int

    @classmethod
    def me(cls) -> Self:
        """Return this process as its peers see it."""
        return cls(os.getpid(), start_ticks(os.getpid()) or 0)

    def alive(self) -> bool:
        """Tell whether this very process, and not a later one with its pid, still runs."""
        return start_ticks(self.pid) == self.start_ticks


def in_ms(timeout_ns: int) -> int:
    """Return a timeout in whole ms, rounded up: what libraries take."""
    return -(-timeout_ns // MS)


def spin(ready: Callable[[], object], rounds: int) -> bool:
    """Ask `ready` up to `ASKS` times in each of `rounds`; return whether it ever said yes."""
    for _ in range(rounds):
        for _ in range(ASKS):
            if ready():
                return True
        os.sched_yield()
    return False


def spin_for(ready: Callable[[], object], window_ns: int) -> bool:
    """Ask `ready` for `window_ns`, once at least; return whether it ever said yes."""
    end, asked = clock() + window_ns, 0
    while not ready():
        if clock() >= end:
            return False
        asked += 1
        if asked % ASKS == 0:
            os.sched_yield()
    return True


def spun(strategy: str, ready: Callable[[], object], most_ns: int) -> bool:
    """Spin as `strategy` does before it sleeps; return whether `ready` ever said yes."""
    if strategy in ROUNDS:
        return spin(ready, ROUNDS[strategy])
    return spin_for(ready, min(int(strategy), most_ns))


def wait(
    strategy: str,
    ready: Callable[[], object],
    block: Callable[[int], object],
    timeout_ns: int,
    peer: Peer | None = None,
) -> None:
    """Wait by `strategy` until `ready()` or `block(ns)`, which sleeps at most so long, says yes.

    Raises `TimeoutError` after `timeout_ns`, and `BrokenPipeError` when `peer` has ended and left
    nothing.
    """
    end = clock() + timeout_ns
    while not spun(strategy, ready, timeout_ns):
        left = end - clock()
        if strategy != SPIN and block(max(0, min(left, SLICE_NS))):
            return
        if left <= 0:
            raise TimeoutError("the other end did not come in time")
        if peer and not peer.alive():
            if ready():
                return
            raise BrokenPipeError("the process at the other end has ended")


def there(ready: Callable[[], object], timeout_ns: int, peer: Peer) -> None:
    """Wait, before anything is timed, until what `peer` makes is there; raises as `wait` does."""

    def look(left_ns: int) -> object:
        sleep(JOIN_SECONDS)
        return ready()

    wait(BLOCK, ready, look, timeout_ns, peer)


def closed() -> BrokenPipeError:
    """Return the error of a peer that is gone."""
    return BrokenPipeError("the process at the other end has closed it")


def until(
    attempt: Callable[[int], Got],
    timeout_ns: int,
    peer: Peer | None = None,
    late: type[Exception] = BlockingIOError,
) -> Got:
    """Return what `attempt(ns)` gives, which blocks so long at most and then raises `late`.

    Raises `TimeoutError` after `timeout_ns`, and `BrokenPipeError` when `peer` has ended and left
    nothing, or the kernel says that the other end of a socket is gone.
    """
    end, piece, gone = 0, min(timeout_ns, SLICE_NS), False
    while True:
        try:
            return attempt(piece)
        except late as error:
            end = end or clock() + timeout_ns - piece
            if gone:
                raise BrokenPipeError("the process at the other end has ended") from error
            if end <= clock():
                raise TimeoutError("the other end did not come in time") from error
            gone = peer is not None and not peer.alive()
            piece = 0 if gone else max(0, min(end - clock(), SLICE_NS))
        except (ConnectionResetError, ConnectionRefusedError) as error:
            raise closed() from error
