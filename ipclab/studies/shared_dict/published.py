"""The stores of arm `published`, which do what the README's program does (methods: text 001).

Its readers do not say when they have connected: PUSH then sends all to those that have, and the
others wait in vain. Here it waits for them before anything is timed, as every launch does; all else
is as published. Nobody looks at the versions, since all is written before anything is read.
"""

import os
import shutil
import struct
from contextlib import suppress
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import zmq

from ipclab.backends.interface import Data, Place, Store
from ipclab.backends.mp import untracked
from ipclab.backends.zeromq import ZmqPushStore
from ipclab.spawn import names

KEY = b"data"
MAP_BYTES, SEGMENT_BYTES = 1 << 30, 100 << 20
HEADER = struct.Struct("II")  # size and version


class _Lmdb(Store):
    """A database with a writable map, no sync, one key, one transaction a write or read."""

    def __init__(self, place: Place, create: bool) -> None:
        import lmdb

        super().__init__(place, create)
        self.path = place.path("lmdb")
        if create:
            self.path.mkdir(mode=0o700)
            self.held.callback(shutil.rmtree, self.path, ignore_errors=True)
        self.environment: Any = lmdb.open(
            str(self.path), map_size=MAP_BYTES, max_dbs=1, writemap=True, sync=False, mode=0o600
        )
        self.held.callback(self.environment.close)

    def write(self, data: Data, timeout_ns: int) -> None:
        with self.environment.begin(write=True) as transaction:
            transaction.put(KEY, data)

    def read(self, after: int, timeout_ns: int, /) -> tuple[int, bytes]:
        with self.environment.begin() as transaction:
            return 1, transaction.get(KEY)


class _SharedMemory(Store):
    """A segment with a header of two numbers, without a lock; a read copies the content."""

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        name = place.name("store")
        with untracked(), names.exclusively(name):
            self.memory = SharedMemory(name, create, SEGMENT_BYTES if create else 0)
        names.check_owner(name, os.fstat(self.memory._fd).st_uid)  # type: ignore[attr-defined]
        self.buffer: memoryview = self.memory.buf  # type: ignore[assignment]
        if create:
            self._describe(0, 0)

    def _describe(self, size: int, version: int) -> None:
        self.buffer[: HEADER.size] = HEADER.pack(size, version)

    def _described(self) -> tuple[int, int]:
        size, version = HEADER.unpack(bytes(self.buffer[: HEADER.size]))
        return size, version

    def write(self, data: Data, timeout_ns: int) -> None:
        size = len(data)
        version = self._described()[1]
        self.buffer[HEADER.size : HEADER.size + size] = data
        self._describe(size, version + 1)

    def read(self, after: int, timeout_ns: int, /) -> tuple[int, bytes]:
        size, version = self._described()
        return version, bytes(self.buffer[HEADER.size : HEADER.size + size])

    def close(self) -> None:
        self.memory.close()
        if self.create:
            with untracked(), suppress(FileNotFoundError):
                self.memory.unlink()


class _Push(ZmqPushStore):
    """PUSH and PULL with the usual limits of their queues; each waits in its own call."""

    def prepare(self) -> None:
        super().prepare()
        self.socket.sndhwm = self.socket.rcvhwm = 1000
        self.socket.rcvtimeo = 2000

    def write(self, data: Data, timeout_ns: int) -> None:
        self.socket.send(data)

    def read(self, after: int, timeout_ns: int, /) -> tuple[int, bytes]:
        try:
            self.kept = self.socket.recv()
        except zmq.Again as error:
            raise TimeoutError(f"message {self.version + 1} did not come in time") from error
        self.version += 1
        return self.version, self.kept


STORES: dict[str, type[Store]] = {"lmdb": _Lmdb, "shared-memory": _SharedMemory, "zmq-push": _Push}
