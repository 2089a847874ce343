"""LMDB: a memory-mapped database, as published with a writable map and without sync."""

import os
import shutil
from time import monotonic_ns as clock
from typing import Any, ClassVar

from ipclab.backends.interface import Backend, Data, Place, Store
from ipclab.backends.library import Library
from ipclab.errors import LabError

KEY, VERSION = b"dictionary", b"version"
MAP_BYTES = 1 << 30  # as published; a sparse file
READERS = 126
lmdb = Library("lmdb", "lmdb")


class LmdbStore(Store):
    """The content under one key, its version under another, written in one transaction.

    The number of a reader's transaction is no version: a writer that commits twice while a reader
    begins gives it the newer content under the older number.
    """

    map_bytes: ClassVar[int] = MAP_BYTES

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        self.path = place.path("lmdb")
        self.version = 0
        if create:
            self.path.mkdir(mode=0o700)
            self.held.callback(shutil.rmtree, self.path, ignore_errors=True)
        self.environment: Any = lmdb.open(
            str(self.path),
            map_size=max(self.map_bytes, 4 * place.capacity),
            max_readers=READERS,
            sync=place.synced,
            mode=0o600,
            readonly=not create,
            create=create,
            writemap=create and place.writemap,
        )
        self.held.callback(self.environment.close)

    def write(self, data: Data, timeout_ns: int) -> None:
        """Put `data` in one transaction; raises `LabError` when the map is too small for it."""
        try:
            with self.environment.begin(write=True) as transaction:
                transaction.put(KEY, data)
                transaction.put(VERSION, (self.version + 1).to_bytes(8, "little"))
            self.version += 1
        except lmdb.MapFullError as error:
            map_size = self.environment.info()["map_size"]
            why = f"{len(data):,} bytes do not fit into a map of {map_size:,}"
            fix = "give it a larger map or write less"
            raise LabError("the LMDB map is full", why, fix) from error

    def read(self, after: int, timeout_ns: int) -> tuple[int, bytes]:
        """Get the newest content in a transaction of its own, once its version is above `after`."""
        end = 0
        while True:
            with self.environment.begin() as transaction:
                version = int.from_bytes(transaction.get(VERSION, b""), "little")
                if version > after:
                    return version, transaction.get(KEY)
            now = clock()
            end = end or now + timeout_ns
            if now >= end:
                raise TimeoutError(f"no content above version {after} came in time")
            os.sched_yield()


backend = Backend("lmdb", store=LmdbStore, missing=lmdb.missing, look=("#009E73", "v"))
