"""What a mechanism must offer so that a study can sweep it."""

import mmap
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from ipclab.backends.waiting import BLOCK, Peer
from ipclab.plugins import chosen
from ipclab.spawn import names
from ipclab.spawn.owned import FILE, own


class Segment:
    """A named region of memory that two processes share, which is its owner's only."""

    buffer: memoryview
    facts: Mapping[str, int] = {}  # what a launch tells of it

    def __init__(self, name: str, size: int, create: bool) -> None:
        """Make the region (`create`) or find it, and map `size` bytes of it.

        Raises `TakenError` (a `FileExistsError`) when it is somebody else's, or
        `FileNotFoundError`; a full /dev/shm is an `OSError` here, no SIGBUS later.
        """
        self.name = name
        descriptor = self.open(create)
        try:
            if create:
                os.posix_fallocate(descriptor, 0, size)
            names.check_owner(name, os.fstat(descriptor).st_uid)
            self.map = mmap.mmap(descriptor, size)
        except OSError:
            if create:
                self.unlink()
            raise
        finally:
            os.close(descriptor)
        self.buffer = memoryview(self.map)

    def open(self, create: bool) -> int:
        """Return the descriptor of the object, which is made with mode 0600."""
        raise NotImplementedError

    def close(self) -> None:
        """Unmap; closing twice does nothing."""
        self.buffer.release()
        self.map.close()

    def unlink(self) -> None:
        """Remove the name; removing twice does nothing."""


LIMITS = ("shm-spin", "shm-futex", "pipe", "unix", "packet", "tcp", "udp", "mq")
LEAST_LIMIT = "shm-futex"  # of these: a copy into memory, and a wake-up
# how a message is handed over: `Backend.receives`
BYTES, INTO, VIEW = ("bytes",), ("bytes", "into"), ("bytes", "view")
Data = bytes | bytearray | memoryview
PeerAddress = dict[str, int | str]
Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Place:
    """Where the ends of a channel or a store find each other.

    `prefix` starts every name outside `folder`, which is the session's private one (0700); what is
    left of either after kill -9 is removed by name. `capacity` is the longest message or content in
    bytes, `wait` one of the backend's `waits`, or a window (`waiting.WAITS`). `part` tells the
    channels of one launch apart. `comm` is the MPI communicator of exactly the launch's processes,
    the maker first, where they are ranks. A store has one writer and `readers`; a database is
    `synced` to the disk and has a writable map (`writemap`) where that is asked for;
    `host` is the address to listen on, loopback unless there are other nodes.
    """

    prefix: str
    folder: str
    capacity: int
    wait: str = BLOCK
    readers: int = 1
    synced: bool = False
    writemap: bool = False
    host: str = "127.0.0.1"
    part: str = field(default="", kw_only=True)
    comm: Any = field(default=None, kw_only=True)

    def name(self, tag: str) -> str:
        """Return the launch's own name for `tag`, for shared memory and semaphores."""
        return names.shared(self.prefix, self.folder, f"{self.part}{tag}")

    def own(self, kind: str, name: str) -> None:
        """Have the ledger remove what lies elsewhere and is about to be made.

        Raises `FileExistsError` when it exists. `kind` is one of `owned.KINDS`; the `name` of a
        System V object is its key.
        """
        own(replace(self, part="").path(FILE), kind, name)

    def key(self, tag: str) -> int:
        """Return the launch's own System V key for `tag`."""
        told = names.name_digest(self.prefix, self.folder, f"key of {self.part}{tag}", 4)
        return (int.from_bytes(told) >> 1) | 1  # 31 bits, and never IPC_PRIVATE, which is 0

    def path(self, tag: str) -> Path:
        """Return the launch's own file for `tag`, short: a socket's path has 107 bytes at most."""
        return Path(self.folder) / f"{self.prefix.rpartition('-')[2]}-{self.part}{tag}"


class End:
    """What one process holds of a mechanism.

    `__init__` makes what it needs (`create`) or finds it, without waiting.

    `address` is then what the other processes must know, such as a port, or is given the maker's.
    What must be given back goes on the stack `held`. All timeouts are ns; a wait raises
    `TimeoutError` at its deadline.
    """

    def __init__(self, place: Place, create: bool) -> None:
        self.place, self.create = place, create
        self.address: PeerAddress = {}
        self.held = ExitStack()

    def guard(self, path: Path) -> None:
        """Let only this user reach what was made at `path`, and remove it at the end."""
        self.held.callback(path.unlink, missing_ok=True)
        path.chmod(0o600)

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Give back what the block has made when it fails halfway."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give everything back and remove what was made; closing twice does nothing."""
        self.held.close()


class Channel(End):
    """One end of a connection for request and answer: each side sends once, then receives once.

    Every wait raises `BrokenPipeError` when the other process has ended; a message above the
    capacity is a `ValueError`. After an error a channel is only good for `close`. Where `shares` is
    true, several processes may join the one that made it, and each of its messages goes to one of
    them. Where each way has a thing of its own, `tag_in` and `tag_out` name them: requests go to
    the end that makes the channel.
    """

    shares: ClassVar[bool] = False

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        self.capacity, self.strategy = place.capacity, place.wait
        tags = ("request", "answer") if create else ("answer", "request")
        self.tag_in, self.tag_out = tags
        self.peer: Peer | None = None

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Join `peer`'s end, where the mechanism has to; else note whose end to look at."""
        self.peer = peer

    def send(self, data: Data, timeout_ns: int, /) -> None:
        """Send all bytes of `data`."""
        raise NotImplementedError

    def recv(self, timeout_ns: int, /) -> bytes:
        """Return the next message as an object of its own."""
        raise NotImplementedError


def variant(kind: type[Kind], /, **attributes: Any) -> type[Kind]:
    """Return `kind` with other class attributes: a mechanism that differs in these alone."""
    return type(kind.__name__, (kind,), attributes)


def too_long(size: int, capacity: int) -> ValueError:
    """Return the error of a message of `size` bytes."""
    return ValueError(f"{size} bytes are above the capacity of {capacity}")


class Store(End):
    """What one writer, which makes it, hands to many readers: versions from 1 up.

    `keeps` says whether a content stays for any number of reads of all readers (shared state) or is
    a message that each reader receives; `fans_out`, whether one write reaches every reader, or one
    reader only; `collective`, whether all take part in each write, over `place.comm`, which the
    launch's deadline alone ends. All call `accept` once the readers have the writer's `address`;
    nothing is written before all are back from it.
    """

    keeps: ClassVar[bool] = True
    fans_out: ClassVar[bool] = True
    collective: ClassVar[bool] = False

    def accept(self, timeout_ns: int) -> None:
        """Join the others, where the mechanism can lose what is written before."""

    def write(self, data: Data, timeout_ns: int, /) -> None:
        """Replace the content by `data`, or send it."""
        raise NotImplementedError

    def read(self, after: int, timeout_ns: int, /) -> tuple[int, bytes]:
        """Return version and copy of a content above version `after`, waiting for it when needed.

        Shared state gives the newest; a message store what it received last, or the next message.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Backend:
    """One mechanism: its `name`, what it can do, and why it is `missing` here, if it is.

    A mechanism has a `segment`, a `channel`, a `store`, or several of them. `waits`: how its
    channel can wait (`waiting.WAITS`), the usual way first. `receives`: how it hands a message over
    besides `recv`: `into` by `recv_into(buffer, timeout_ns)`, which returns the length in bytes,
    `view` by `recv_view(timeout_ns)`, a memoryview of the message in place, good until the next
    receive. `stream` is its channel where a side may send any number of messages one after the
    other, `channel` where not given. `longest` gives the most bytes that the system lets a message
    of its channel have and what raises that, None when any length will do. The ends of its channel
    are MPI `ranks`, or else any processes. `limit` names the mechanism of the kernel that it rests
    on, one of `LIMITS`; its stream `gathers` if several messages may go by one system call.
    `demands` says what else it asks of its users (`daemon`, `root`, `python` at both ends, `one
    host` for both), `look` is its colour and matplotlib marker in every figure (given by their
    order where empty). A brief run leaves it out where it is not `brief`. A `lossy` one may lose
    messages, which its ends count: it has no stream. One that `yields` offers its CPU before it
    sleeps, to its peer or to whoever else wants it.
    """

    name: str
    segment: type[Segment] | None = None
    channel: type[Channel] | None = None
    store: type[Store] | None = None
    waits: tuple[str, ...] = (BLOCK,)
    receives: tuple[str, ...] = BYTES
    stream: type[Channel] | None = None
    missing: Callable[[], str | None] = lambda: None
    longest: Callable[[], tuple[int, str] | None] = lambda: None
    ranks: bool = False
    limit: str = ""
    gathers: bool = False
    demands: tuple[str, ...] = ("one host",)
    look: tuple[str, str] = ("", "")
    brief: bool = True
    lossy: bool = False
    yields: bool = False

    def __post_init__(self) -> None:
        """Raise `UsageError` with the nearest name for a limit that there is none of."""
        if self.limit:
            chosen("limit", self.limit, dict.fromkeys(LIMITS))

    @property
    def floor(self) -> str:
        """Return what its round trips are read against: what it rests on, or what none can avoid.

        A mechanism that blocks and declares nothing needs a wake-up and a copy each way, at least.
        """
        return self.limit or LEAST_LIMIT

    @property
    def flow(self) -> str:
        """Return what its stream's native limit goes over: a ring unless messages need calls."""
        needs_calls = self.limit and not self.limit.startswith("shm-") and not self.gathers
        return self.limit if needs_calls else "ring"

    def refuses(self, size: int) -> str | None:
        """Return why its channel cannot have messages of `size` bytes, and the fix, or None."""
        if why := self.missing():
            return why
        longest = self.longest()
        if longest is None or size <= longest[0]:
            return None
        most, raised_by = longest
        return f"a message has {most:,} bytes at most here; {raised_by} raises it"
