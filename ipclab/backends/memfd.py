"""Sealed files in memory: one message each, passed over a Unix socket (memfd_create(2))."""

import fcntl
import mmap
import os

from ipclab.backends.calls import memfd_missing
from ipclab.backends.interface import VIEW, Backend, Data, too_long
from ipclab.backends.sockets import NotesEnd

NAME = "ipclab"  # what /proc calls it; nobody can open it by that
SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


def sealed_file(data: Data) -> int:
    """Return the descriptor of a new file in memory that holds `data` and cannot be changed."""
    made = os.memfd_create(NAME, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(made, left) :]
        fcntl.fcntl(made, fcntl.F_ADD_SEALS, SEALS)
    except OSError:
        os.close(made)
        raise
    return made


class _MemfdChannel(NotesEnd):
    """A file for each message, which its receiver may read in place for as long as it likes."""

    def send(self, data: Data, timeout_ns: int) -> None:
        if len(data) > self.capacity:
            raise too_long(len(data), self.capacity)
        made = sealed_file(data)
        try:
            self.send_note(b"message", timeout_ns, [made])
        finally:
            os.close(made)

    def _taken(self, timeout_ns: int) -> tuple[int, int]:
        """Return the descriptor that came and its size; nobody can cut or change its file."""
        _, (came,) = self.next_note(timeout_ns)
        if fcntl.fcntl(came, fcntl.F_GET_SEALS) & SEALS != SEALS:
            os.close(came)
            raise ValueError("the file that came is not sealed: its sender could still change it")
        return came, os.fstat(came).st_size

    def recv(self, timeout_ns: int) -> bytes:
        came, size = self._taken(timeout_ns)
        try:
            return os.pread(came, size, 0)
        finally:
            os.close(came)

    def recv_view(self, timeout_ns: int) -> memoryview:
        came, size = self._taken(timeout_ns)
        try:
            # A private mapping shows the same memory, and old kernels refuse a shared one of what
            # is sealed.
            return memoryview(
                mmap.mmap(came, size, mmap.MAP_PRIVATE, mmap.PROT_READ) if size else b""
            )
        finally:
            os.close(came)


backend = Backend(
    "memfd",
    channel=_MemfdChannel,
    receives=VIEW,
    missing=memfd_missing,
    limit="unix",
    look=("#009E73", "X"),
    brief=False,
)
