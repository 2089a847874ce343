"""One copy, out of the sender's memory: it says where a message lies, and the receiver takes it.

process_vm_readv(2) asks for the right to trace the other process; where the Yama security module
guards that, each end gives it to its peer. An end keeps its last messages until it hears that they
were taken, which goes with an answer.
"""

import ctypes
import errno
import os
import socket
from collections import deque
from pathlib import Path
from struct import Struct
from time import monotonic_ns as clock
from typing import Any, ClassVar

import numpy as np

from ipclab.backends.calls import refusal
from ipclab.backends.interface import INTO, Backend, Data, Place, too_long, variant
from ipclab.backends.sockets import NotesEnd
from ipclab.backends.waiting import Peer, closed
from ipclab.errors import LabError

NOTE = Struct("=BQq")  # how many messages were taken; address and size of one that is offered
KEPT = 8  # messages that an end keeps at most
NONE = -1  # the size where nothing is offered
PEEK = socket.MSG_PEEK | socket.MSG_DONTWAIT
PR_SET_PTRACER = 0x59616D61
YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")
OWN_PEER = 1  # the strictest scope in which a process may name its peer
PIECE = ctypes.c_size_t * 2  # `struct iovec`: address and size
_libc = ctypes.CDLL(None, use_errno=True)
_new_bytes = ctypes.pythonapi.PyBytes_FromStringAndSize
_new_bytes.restype, _new_bytes.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_ssize_t)


def _address(data: Any) -> int:
    return int(np.frombuffer(data, np.uint8).ctypes.data) if len(data) else 0


def copy(pid: int, address: int, target: Any) -> None:
    """Fill the buffer `target` with the bytes at `address` of process `pid`.

    Raises `BrokenPipeError` when it has ended, and `PermissionError` when it may not be read.
    """
    size = len(target)
    here, there = PIECE(_address(target), size), PIECE(address, size)
    done = _libc.process_vm_readv(pid, here, 1, there, 1, 0) if size else 0
    if done == size:
        return
    number = ctypes.get_errno() if done < 0 else errno.EFAULT
    if number in (errno.ESRCH, errno.EFAULT):  # its memory goes before its sockets do
        raise closed()
    raise OSError(number, os.strerror(number), f"/proc/{pid}/mem")


def peer_memory_missing() -> str | None:
    """Return what keeps a process here from reading its peer's memory, and the fix, or None."""
    own, me = bytearray(1), os.getpid()
    if why := refusal("process_vm_readv", lambda: copy(me, _address(own), bytearray(1))):
        return why
    scope = int(YAMA.read_text()) if YAMA.exists() else 0
    if scope <= OWN_PEER or os.geteuid() == 0:
        return None
    return (
        f"kernel.yama.ptrace_scope is {scope}; sysctl kernel.yama.ptrace_scope={OWN_PEER} allows it"
    )


class _ProcessVmChannel(NotesEnd):
    """A few messages each way that are not taken yet, and are lost when their sender ends.

    A request stays as it is until its answer has come; what is streamed may change, and `copies`.
    """

    copies: ClassVar = False

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        self.kept: deque[Data] = deque()
        self.offers: deque[tuple[int, int]] = deque()
        self.taken = 0  # messages of which the other end does not know that yet

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        super().accept(peer, timeout_ns)
        self.pid = peer.pid
        # an error where nothing guards it
        _libc.prctl(PR_SET_PTRACER, ctypes.c_ulong(peer.pid), 0, 0, 0)
        # Before anything is offered: both ends have let the other in.
        self._say(timeout_ns)
        self._hear(timeout_ns)

    def _hear(self, timeout_ns: int) -> None:
        taken, address, size = NOTE.unpack(self.next_note(timeout_ns)[0])
        for _ in range(taken):
            self.kept.popleft()
        if size != NONE:
            self.offers.append((address, size))

    def _say(self, timeout_ns: int, address: int = 0, size: int = NONE) -> None:
        self.send_note(NOTE.pack(self.taken, address, size), timeout_ns)
        self.taken = 0

    def send(self, data: Data, timeout_ns: int) -> None:
        if len(data) > self.capacity:
            raise too_long(len(data), self.capacity)
        end = clock() + timeout_ns
        while len(self.kept) == KEPT:
            self._hear(max(0, end - clock()))
        self.kept.append(bytes(data) if self.copies else data)  # no copy of what is bytes
        self._say(timeout_ns, _address(self.kept[-1]), len(data))

    def _next(self, timeout_ns: int) -> tuple[int, int]:
        """Return address and size of the next message, once it is offered."""
        end = clock() + timeout_ns
        if self.taken == KEPT // 2:
            self._say(timeout_ns)
        while not self.offers:
            self._hear(max(0, end - clock()))
        address, size = self.offers.popleft()
        if size > self.capacity:
            raise too_long(size, self.capacity)
        return address, size

    def _copy(self, address: int, target: Any) -> None:
        try:
            copy(self.pid, address, target)
        except PermissionError as error:
            fix = "give it CAP_SYS_PTRACE, or both the same user and namespaces"
            raise LabError(
                "the peer's memory may not be read", error.strerror or "", fix
            ) from error
        self._check_kept()
        self.taken += 1

    def _check_kept(self) -> None:
        """Raise `BrokenPipeError` when the peer closed its end: its message is forgotten."""
        try:
            if not self.notes.recv(1, PEEK):
                raise closed()
        except BlockingIOError:
            return
        except ConnectionResetError as error:
            raise closed() from error

    def recv(self, timeout_ns: int) -> bytes:
        address, size = self._next(timeout_ns)
        data: bytes = _new_bytes(None, size)  # its own bytes, filled before anybody sees it
        self._copy(address, data)
        return data

    def recv_into(self, buffer: bytearray | memoryview, timeout_ns: int) -> int:
        address, size = self._next(timeout_ns)
        self._copy(address, memoryview(buffer)[:size])
        return size


backend = Backend(
    "process-vm",
    channel=_ProcessVmChannel,
    stream=variant(_ProcessVmChannel, copies=True),
    receives=INTO,
    missing=peer_memory_missing,
    limit="unix",
    look=("#882255", "^"),
    brief=False,
)
