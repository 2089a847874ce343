"""What must containers share so that a mechanism works between them? Each cell is a real attempt.

usage: python benchmarks/boundaries.py [rounds] [mechanism ...]

The asking end leaves the namespaces that container runtimes part: `ipc`, `mount` (with a /dev/shm
and a folder of its own), `net`, `pid`, `user`, and all of them (`container`). Where nothing gets
through, what runtimes share again is tried, the fewest things first: `volume` (the folder), `shm`
(/dev/shm), `ipc`, `network`, `pid`, `user`. It takes root, or the right to make user namespaces.
Ratios are medians of round trips with that shared over those without a boundary, fresh processes
each, in turn (`rounds` times).
"""

import ctypes
import json
import os
import signal
import socket
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from time import perf_counter_ns as clock
from typing import Any

from ipclab.backends.installed import ready
from ipclab.backends.interface import Backend, Place
from ipclab.backends.waiting import Peer, start_ticks
from ipclab.paths import checkout
from ipclab.spawn.ledger import SHARED_MEMORY, private, remove_launch

FLAGS = {"ipc": 0x08000000, "network": 0x40000000, "pid": 0x20000000, "user": 0x10000000}
MOUNTS, USERS = 0x00020000, FLAGS["user"]
PARTED = {
    "ipc": ("ipc",),
    "mount": ("shm", "volume"),
    "net": ("network",),
    "pid": ("pid",),
    "user": ("user",),
}
EVERY = tuple(each for parted in PARTED.values() for each in parted)
BOUNDARIES = {**PARTED, "container": EVERY}
MS_REC, MS_PRIVATE = 0x4000, 0x40000
WAIT_NS, SECONDS = 1_000_000_000, 8.0
SIZE, WARM, TIMED = 100, 20, 200
# seconds in which the other end looks whether its peer lives, and before which messages
PAUSE, PAUSED = 0.15, (5, 10)
LONGEST_LINE = 1 << 16
libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Tried:
    """How an attempt ended: the median round trip in ns, or else what the first end that failed
    saw.
    """

    ns: float | None = None
    why: str = ""


def checked(done: int, what: str) -> None:
    """Raise the `OSError` of a system call that failed."""
    if done:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), what)


def leave(parted: Sequence[str], folder: str) -> None:
    """Leave what is `parted` with the other end: its namespaces; /dev/shm and the folder go under
    memory of our own.
    """
    ids = os.getuid(), os.getgid()
    hidden = [
        str(path) for each, path in (("shm", SHARED_MEMORY), ("volume", folder)) if each in parted
    ]
    flags = sum(flag for each, flag in FLAGS.items() if each in parted) | (MOUNTS if hidden else 0)
    if flags and os.geteuid():
        flags |= USERS
    checked(libc.unshare(flags), "unshare")
    if flags & USERS:
        Path("/proc/self/setgroups").write_text("deny")
        for name, number in zip(("uid_map", "gid_map"), ids, strict=True):
            Path(f"/proc/self/{name}").write_text(f"{number} {number} 1")
    if hidden:
        checked(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None), "mount /")
    for path in hidden:
        checked(
            libc.mount(b"tmpfs", path.encode(), b"tmpfs", 0, b"size=64m,mode=0700"), f"mount {path}"
        )


def talk(backend: Backend, place: Place, create: bool, link: socket.socket) -> dict[str, Any]:
    """Be one end: make or find the channel, say its address, hear the other's, and go round."""
    kind: Any = backend.channel
    with closing(kind(place, create)) as end:
        link.send(json.dumps({"address": end.address}).encode())
        other = json.loads(link.recv(LONGEST_LINE))
        if not create:
            end.address = other["address"]
        end.accept(Peer(other["pid"], start_ticks(other["pid"]) or 0), WAIT_NS)
        times = []
        for number in range(WARM + TIMED):
            if number == PAUSED[create]:
                time.sleep(PAUSE)
            begun = clock()
            message = b"%0*d" % (SIZE, number)
            if not create:
                end.send(message, WAIT_NS)
            if (came := end.recv(WAIT_NS)) != message:
                raise ValueError(f"message {number} came altered")
            if create:
                end.send(came, WAIT_NS)
            times.append(clock() - begun)
        link.send(json.dumps({"ns": statistics.median(times[WARM:])}).encode())
        link.recv(1)  # the other end is done: nothing is closed under it
    return {}


def run(
    backend: Backend, place: Place, create: bool, link: socket.socket, parted: Sequence[str]
) -> None:
    """Be a process of an attempt: leave what is parted, then have a child, which alone is in a new
    pid namespace.
    """
    try:
        if parted:
            leave(parted, place.folder)
        if child := os.fork():
            link.send(json.dumps({"pid": child}).encode())
            os.waitpid(child, 0)
            return
        talk(backend, place, create, link)
    except BaseException as error:
        with suppress(OSError):
            link.send(json.dumps({"why": f"{type(error).__name__}: {str(error)[:90]}"}).encode())


def heard(link: socket.socket, *names: str) -> dict[str, Any]:
    """Return what an end says until all of `names` are known, or why it fails."""
    known: dict[str, Any] = {}
    while not (known.keys() >= {*names} or "why" in known):
        try:
            said = link.recv(LONGEST_LINE)
        except TimeoutError:
            return known | {"why": "TimeoutError: nothing came in time"}
        known |= json.loads(said) if said else {"why": "it ended without a word"}
    return known


def attempt(backend: Backend, parted: Sequence[str] = ()) -> Tried:
    """Try round trips over `backend` between processes that are parted by so much."""
    with private(checkout().ledger) as folder:
        place = Place(f"ipclab-b-{os.getpid()}-1", str(folder), SIZE, backend.waits[0])
        place.name("")  # the key of names is known to both, whatever of the folder one leaves
        links, pids = [], []
        for create in (True, False):
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            if not (pid := os.fork()):
                run(backend, place, create, theirs, () if create else parted)
                os._exit(0)
            theirs.close()
            ours.settimeout(SECONDS)
            links.append(ours)
            pids.append(pid)
            if create:
                # what it makes is there before it is looked for
                said = [heard(ours, "pid", "address")]
        try:
            said.append(heard(links[1], "pid", "address"))
            pids += [each["pid"] for each in said if "pid" in each]
            if not any("why" in each for each in said):
                for link, other in zip(links, said[::-1], strict=True):
                    link.send(json.dumps(other).encode())
                said = [heard(link, "ns") for link in links[::-1]]
            return next(
                (Tried(why=each["why"]) for each in said if "why" in each), Tried(said[0].get("ns"))
            )
        finally:
            for link in links:
                with suppress(OSError):
                    link.send(b"x")
                link.close()
            _end(pids)
            remove_launch(place.prefix, place.folder)


def _end(pids: Sequence[int]) -> None:
    """Wait a moment for the children, then end them and theirs."""
    begun = clock()
    for pid in pids[:2]:
        while not os.waitpid(pid, os.WNOHANG)[0]:
            if clock() - begun > 3 * WAIT_NS:
                for each in pids[2:] + pids[:2]:
                    with suppress(ProcessLookupError):
                        os.kill(each, signal.SIGKILL)
            os.sched_yield()


def smallest(backend: Backend, parted: Sequence[str]) -> tuple[tuple[str, ...] | None, str]:
    """Return the fewest things that must be shared again, found by trying, and how it refuses
    without them.
    """
    first = ""
    for count in range(len(parted) + 1):
        for shared in combinations(parted, count):
            tried = attempt(backend, [each for each in parted if each not in shared])
            first = first or tried.why
            if tried.ns:
                return shared, first
    return None, first


def ratio(backend: Backend, parted: Sequence[str], rounds: int) -> str:
    """Return the median of ratios to no boundary, and their range."""
    ratios = []
    for number in range(rounds):
        pair = [attempt(backend, each).ns for each in ((), parted)[:: 1 if number % 2 else -1]]
        beside, plain = pair if not number % 2 else pair[::-1]
        if beside and plain:
            ratios.append(beside / plain)
    return (
        f"{statistics.median(ratios):.2f} ({min(ratios):.2f}..{max(ratios):.2f})" if ratios else "–"
    )


def cell(shared: Sequence[str] | None, why: str) -> str:
    """Return what a cell says: what must be shared, and how it refuses without."""
    if shared is None:
        return f"refuses: {why}"
    return f"{' + '.join(shared)}, else {why.partition(':')[0]}" if shared else "works"


def rows(found: dict[str, Backend], rounds: int) -> Iterator[str]:
    """Yield the table's lines."""
    yield f"| mechanism | {' | '.join(BOUNDARIES)} | ratio to none |"
    yield f"|---|{'---|' * (len(BOUNDARIES) + 1)}"
    for name, backend in found.items():
        cells, shared = [], None
        for parted in BOUNDARIES.values():
            shared, why = smallest(backend, parted)
            cells.append(cell(shared, why))
        left = [each for each in EVERY if each not in (shared or ())]
        yield (
            f"| {name} | {' | '.join(cells)} |"
            f" {ratio(backend, left, rounds) if shared is not None else '–'} |"
        )


def refused() -> str:
    """Return why no boundary can be made here, or nothing."""
    if pid := os.fork():
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return (
            "not testable here: it takes root or the right to make user namespaces" if code else ""
        )
    try:
        leave(EVERY, "/tmp")
    except OSError:
        os._exit(1)
    os._exit(0)


def main(words: Sequence[str]) -> int:
    """Print the table; return 3 where nothing can be tried."""
    if why := refused():
        print(why)
        return 3
    rounds = int(words[0]) if words else 5
    found = ready(lambda each: each.channel and not each.ranks)
    for line in rows(
        {name: each for name, each in found.items() if name in words[1:] or not words[1:]}, rounds
    ):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
