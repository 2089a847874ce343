"""MPI itself: messages between two ranks, a broadcast to all, and a window of a node's memory.

`MPI_Isend` and `MPI_Irecv` are asked until done, since `MPI_Send` and `MPI_Recv` wait forever. Open
MPI waits by spinning too; here the clock and the other rank are looked at meanwhile. `mpiexec` ends
all ranks when one dies, which fails the launch.
"""

from functools import partial
from typing import Any

from ipclab.backends.interface import INTO, Backend, Channel, Data, Place, Store, too_long
from ipclab.backends.seqlock import START, SeqlockStore
from ipclab.backends.waiting import SPIN, wait
from ipclab.errors import LabError
from ipclab.spawn.mpi import mpi_missing

TAG = 21


class _MpiChannel(Channel):
    """What two ranks of the launch's communicator send each other; who makes it is rank 0."""

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        if place.comm is None:
            fix = "measure it by a study that starts ranks"
            raise LabError("MPI has no ranks here", "this process is none", fix)
        self.comm = place.comm
        # A stream's parts are "0-", "1-" and so on: the maker's other end is the consumer of that
        # number.
        self.other = (1 + int(place.part.rstrip("-") or 0)) if create else 0
        self.view = memoryview(bytearray(place.capacity))

    def _done(self, request: Any, timeout_ns: int, status: Any = None) -> None:
        """Wait until `request` is done; one that is not at its deadline is given up."""
        test = partial(request.Test, status)
        try:
            if not test():
                wait(SPIN, test, bool, timeout_ns, self.peer)
        except (TimeoutError, BrokenPipeError):
            request.Cancel()
            self.held.callback(request.Free)
            raise

    def send(self, data: Data, timeout_ns: int) -> None:
        if len(data) > self.capacity:
            raise too_long(len(data), self.capacity)
        self._done(self.comm.Isend(data, self.other, TAG), timeout_ns)

    def recv(self, timeout_ns: int) -> bytes:
        return bytes(self.view[: self.recv_into(self.view, timeout_ns)])

    def recv_into(self, buffer: bytearray | memoryview, timeout_ns: int) -> int:
        from mpi4py.MPI import Status

        status = Status()
        self._done(self.comm.Irecv(buffer, self.other, TAG), timeout_ns, status)
        return int(status.Get_count())


class _MpiBcastStore(Store):
    """`MPI_Bcast` of the length, then of the bytes; every reader takes part in every write."""

    keeps, collective = False, True

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        self.comm = place.comm
        self.length = bytearray(8)
        self.version, self.kept = 0, b""

    def write(self, data: Data, timeout_ns: int) -> None:
        """Broadcast `data`; the launch's deadline ends a broadcast that a reader does not join."""
        self.length[:] = len(data).to_bytes(8, "little")
        self.comm.Bcast(self.length, root=0)
        self.comm.Bcast(data, root=0)

    def read(self, after: int, timeout_ns: int) -> tuple[int, bytes]:
        """Return what was received last when it is above `after`, else join the next broadcast."""
        if self.version <= after:
            self.comm.Bcast(self.length, root=0)
            buffer = bytearray(int.from_bytes(self.length, "little"))
            self.comm.Bcast(buffer, root=0)
            self.version, self.kept = self.version + 1, bytes(buffer)
        return self.version, self.kept


class _MpiWindowStore(SeqlockStore):
    """`MPI_Win_allocate_shared` at the writer, read in place, behind the usual header."""

    def accept(self, timeout_ns: int) -> None:
        """Make the window together with the others; its memory is zero before anyone may look."""
        from mpi4py import MPI

        size = START + self.place.capacity if self.create else 0
        window: Any = MPI.Win.Allocate_shared(size, 1, comm=self.place.comm)
        self.held.callback(window.Free)
        memory, _ = window.Shared_query(0)
        self.use(memoryview(memory))
        if self.create:
            self.buffer[:START] = bytes(START)
        self.place.comm.Barrier()


p2p = Backend(
    "mpi-p2p",
    channel=_MpiChannel,
    waits=(SPIN,),
    receives=INTO,
    missing=mpi_missing,
    ranks=True,
    limit="shm-spin",
    demands=(),
    look=("#8A6B00", "P"),
)
bcast = Backend(
    "mpi-bcast", store=_MpiBcastStore, missing=mpi_missing, demands=(), look=("#CC79A7", "P")
)
window = Backend("mpi-window", store=_MpiWindowStore, missing=mpi_missing, look=("#000000", "P"))
