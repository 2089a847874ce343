"""MPI between two ranks: `MPI_Isend` and `MPI_Irecv`, asked until done, since `MPI_Send` and `MPI_Recv` wait forever.

Open MPI waits by spinning too; here the clock and the other rank are looked at meanwhile. `mpiexec` ends all ranks when
one dies, which fails the launch.
"""

from functools import partial
from typing import Any

from ipclab.backends.interface import INTO, Backend, Channel, Data, Place, too_long
from ipclab.backends.waiting import SPIN, wait
from ipclab.errors import LabError
from ipclab.spawn.mpi import missing

TAG = 21


class _MpiChannel(Channel):
    """What two ranks of the launch's communicator send each other; who makes it is rank 0."""

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        if place.comm is None:
            raise LabError("MPI has no ranks here", "this process is none", "measure it by a study that starts ranks")
        self.comm = place.comm
        self.other = 1 + int(place.part.rstrip("-") or 0) if create else 0
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
        """Put the next message into `buffer` and return its length."""
        from mpi4py.MPI import Status

        status = Status()
        self._done(self.comm.Irecv(buffer, self.other, TAG), timeout_ns, status)
        return int(status.Get_count())


backend = Backend(
    "mpi-p2p",
    channel=_MpiChannel,
    waits=(SPIN,),
    receives=INTO,
    missing=missing,
    ranks=True,
    demands=(),
    limit="echo-shm-spin",
    look=("#8A6B00", "P"),
)
