"""MPI itself: a broadcast to all readers, and a window of memory that all ranks of a node share."""

from typing import Any

from ipclab.backends.interface import Backend, Data, Place, Store
from ipclab.backends.seqlock import START, SeqlockStore
from ipclab.spawn.mpi import missing


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
    """`MPI_Win_allocate_shared` at the writer, read in place by all, behind the same header as other shared memory."""

    def accept(self, timeout_ns: int) -> None:
        """Make the window together with the others; its memory is zero before anyone may look."""
        from mpi4py import MPI

        size = START + self.place.capacity if self.create else 0
        window: Any = MPI.Win.Allocate_shared(size, 1, comm=self.place.comm)
        self.held.callback(window.Free)
        memory, _ = window.Shared_query(0)
        self.use(memoryview(memory))
        if self.create:
            self.content.buffer[:START] = bytes(START)
        self.place.comm.Barrier()


bcast = Backend("mpi-bcast", store=_MpiBcastStore, missing=missing, demands=(), look=("#CC79A7", "P"))
window = Backend("mpi-window", store=_MpiWindowStore, missing=missing, look=("#000000", "P"))
