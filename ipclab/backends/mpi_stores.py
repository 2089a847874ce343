"""MPI itself: a broadcast to all readers, and a window of memory that all ranks of a node share."""

from collections.abc import Callable
from typing import Any, Self

from ipclab.backends.interface import Address, Backend, Data, Store, StorePlace
from ipclab.backends.seqlock import START, SeqlockBuffer
from ipclab.spawn.mpi import missing


class _MpiBcastStore(Store):
    """`MPI_Bcast` of the length, then of the bytes; every reader takes part in every write."""

    keeps = False

    def __init__(self, place: StorePlace, create: bool) -> None:
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


class _MpiWindowStore(Store):
    """`MPI_Win_allocate_shared` at the writer, read in place by all, behind the same header as other shared memory."""

    window: Any = None
    read: Callable[[int, int], tuple[int, bytes]]

    def _open(self, size: int) -> None:
        from mpi4py import MPI

        self.window = MPI.Win.Allocate_shared(size, 1, comm=self.place.comm)
        memory, _ = self.window.Shared_query(0)
        self.content = SeqlockBuffer(memoryview(memory))
        self.read = self.content.read

    def accept(self, timeout_ns: int) -> None:
        """Make the window together with the readers; its memory is zero before anyone may look."""
        self._open(START + self.place.capacity)
        self.content.buffer[:START] = bytes(START)
        self.place.comm.Barrier()

    @classmethod
    def attach(cls, place: StorePlace, address: Address, timeout_ns: int) -> Self:
        """Make the window together with the writer."""
        store = cls(place, False)
        store._open(0)
        place.comm.Barrier()
        return store

    def write(self, data: Data, timeout_ns: int) -> None:
        self.content.write(data)

    def close(self) -> None:
        if self.window is not None:
            self.content.close()
            window, self.window = self.window, None
            window.Free()


bcast = Backend("mpi-bcast", store=_MpiBcastStore, missing=missing, look=("#CC79A7", "P"))
window = Backend("mpi-window", store=_MpiWindowStore, missing=missing, look=("#000000", "P"))
