"""The worker's side of a launch: meeting its peers, counters, and handing over the samples."""

import importlib
import resource
import socket
import sys
import time
import traceback
from array import array
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ipclab.errors import LabError
from ipclab.spawn import names
from ipclab.spawn.conduct import Conduct
from ipclab.spawn.proof import AwaitedError, PayloadError
from ipclab.spawn.wire import Wire
from ipclab.store.launch import BUSY

COUNTERS = ("minor_faults", "major_faults", "voluntary_switches", "involuntary_switches", "cpu_ns")
QUEUED = "queued_share"
WAKE_NS = 10_000  # until a process that was woken runs on an idle CPU: what no other task causes
if TYPE_CHECKING:
    Stamps = array[int]
else:  # Python 3.11 has no parameter for it
    Stamps = array


class Outcome(msgspec.Struct, tag=True):
    """What one worker hands back.

    `samples`: op -> int64 nanoseconds in the order taken. `counters`: op -> counter -> number per
    operation. `facts`: anything else worth keeping with the launch. `turns`: op -> how many of its
    samples each recorded turn has; without turns all are of one.
    """

    samples: dict[str, Stamps] = {}
    counters: dict[str, dict[str, float]] = {}
    facts: dict[str, Any] = {}
    turns: dict[str, list[int]] = {}


class Failed(msgspec.Struct, tag=True):
    """Why a worker cannot go on.

    It `follows` from another one's end, or proves that data arrived `wrong`.
    """

    why: str
    follows: bool = False
    wrong: bool = False


class Meeting(msgspec.Struct, tag=True):
    """What a worker publishes at a meeting; as the answer, what each role published."""

    published: dict[str, Any]


class Parked(msgspec.Struct, tag=True):
    """What a worker publishes when it parks: it sleeps until its contestant's next turn."""

    published: dict[str, Any]


class Turn(msgspec.Struct, tag=True):
    """The answer to `Parked`: what each role published, None when there are no more turns.

    What is measured in a turn that is not `recorded` warms the processes and their CPUs up.
    """

    roles: dict[str, dict[str, Any]] | None = None
    recorded: bool = True


Said = Outcome | Failed | Meeting | Parked
Roles = dict[str, dict[str, Any]]
Turns = Generator[dict[str, Any], Roles | None, None]  # a target that takes turns


def zeros(count: int) -> Stamps:
    """Return a preallocated array of `count` int64 whose pages are already touched."""
    return array("q", bytes(8 * count))


def usage() -> tuple[float, ...]:
    """Return this process's counters in the order of `COUNTERS` (getrusage(2))."""
    use = resource.getrusage(resource.RUSAGE_SELF)
    return (
        use.ru_minflt,
        use.ru_majflt,
        use.ru_nvcsw,
        use.ru_nivcsw,
        (use.ru_utime + use.ru_stime) * 1e9,
    )


def queued_ns() -> int:
    """Return how long this process was ready while others had its CPU, in ns (proc(5), schedstat).

    That is all its waiting but `WAKE_NS` each time it came to run, and can be below 0; 0 where not
    told.
    """
    try:
        _, waited, times = map(int, Path("/proc/self/schedstat").read_text().split())
        return waited - WAKE_NS * times
    except (OSError, ValueError):
        return 0


class Worker:
    """One process of a launch: `role` among its peers, and the names and the folder it may use."""

    comm: Any = None  # the communicator of the launch's processes where they are MPI ranks
    recording = True  # whether what is measured now is kept

    def __init__(self, sock: socket.socket, role: str, prefix: str, folder: str) -> None:
        self.wire = Wire(sock)
        self._begin(role, prefix, folder)
        self.conduct = Conduct()

    def _begin(self, role: str, prefix: str, folder: str) -> None:
        self.role, self.prefix, self.folder = role, prefix, folder
        self.outcome = Outcome()
        # by op: counters, ns queued, ns elapsed, operations
        self._sums: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))

    def name(self, tag: str) -> str:
        """Return the launch's own shared name for `tag`, the same in all its workers."""
        return names.shared(self.prefix, self.folder, tag)

    def meet(self, **published: Any) -> dict[str, dict[str, Any]]:
        """Wait until every peer has come to its meeting; return what each role published.

        The launching process holds the deadline: it kills the launch when a peer does not come.
        """
        self.wire.send(Meeting(published))
        roles: dict[str, dict[str, Any]] = self.wire.receive(Meeting).published
        return roles

    def park(self, **published: Any) -> Roles | None:
        """Sleep until this contestant's next turn; return what each role published.

        None says that there is no other turn.
        """
        self.conduct.check_place()
        with self.conduct.resting():
            self.wire.send(Parked(published))
            turn: Turn = self.wire.receive(Turn)
        self.recording = turn.recorded
        return turn.roles

    @contextmanager
    def counting(self, op: str, operations: int) -> Iterator[None]:
        """Count faults, switches and CPU time per operation over the `operations` done inside.

        Beside them stand the share of the time for which this process was ready but waited for a
        CPU, and how many CPUs it kept busy in that time. All recorded turns are counted together.
        """
        # The time holds all that is counted, and what asking /proc takes is in neither.
        before = (queued_ns(), time.perf_counter_ns(), *usage())
        yield
        if not self.recording:
            return
        used, elapsed = usage(), time.perf_counter_ns()
        after = (queued_ns(), elapsed, *used)
        sums = self._sums[op]
        sums["operations"] += operations
        for name, early, late in zip((QUEUED, "ns", *COUNTERS), before, after, strict=True):
            sums[name] += late - early
        counted = {name: sums[name] / max(1, sums["operations"]) for name in COUNTERS}
        counted[QUEUED] = max(0, sums[QUEUED]) / max(1, sums["ns"])
        counted[BUSY] = sums["cpu_ns"] / max(1, sums["ns"])
        self.outcome.counters[op] = counted


def perform(
    worker: Worker, target: str, arguments: dict[str, Any], tell: Callable[[Said], None]
) -> None:
    """Run `target` (`module:function`) and tell the outcome that it returns or has collected.

    A generator takes turns: it parks at each `yield`, which publishes a dict and returns what
    `Worker.park` does.
    """
    outcome = call_target(worker, target, arguments)
    if isinstance(outcome, Generator):
        task, outcome = outcome, None
        with suppress(StopIteration):
            published = next(task)
            while True:
                published = task.send(worker.park(**published))
    worker.conduct.check_place()
    tell(outcome or worker.outcome)


def call_target(worker: Worker, target: str, arguments: dict[str, Any]) -> Any:
    """Return what `target` (`module:function`) returns: outcome, None, or a generator of turns."""
    module, _, function = target.partition(":")
    return getattr(importlib.import_module(module), function)(worker, **arguments)


@contextmanager
def confessing(tell: Callable[[Failed], object]) -> Iterator[None]:
    """End the block at an error, which is told and stands on stderr."""
    try:
        yield
    except Exception as error:
        traceback.print_exc()
        sys.stderr.flush()
        why = str(error) if isinstance(error, LabError) else f"{type(error).__name__}: {error}"
        with suppress(OSError):
            follows = isinstance(error, ConnectionError)
            wrong = isinstance(error, PayloadError) and not isinstance(error, AwaitedError)
            tell(Failed(why.encode(errors="replace").decode(), follows, wrong))
