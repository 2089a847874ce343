"""LMDB: a memory-mapped database in the session's private folder, as published with a writable map and without sync."""

import importlib.util
import os
import shutil
from pathlib import Path
from time import monotonic_ns as clock
from typing import Any, ClassVar, Self

from ipclab.backends.interface import Address, Backend, Data, StorePlace
from ipclab.errors import LabError

KEY, VERSION = b"dictionary", b"version"
MAP_BYTES = 1 << 30  # as published; a sparse file
READERS = 126


class LmdbStore:
    """The content under one key, its version under another, written in one transaction.

    The number of a reader's transaction is no version: a writer that commits twice while a reader begins gives it the
    newer content under the older number.
    """

    keeps: ClassVar[bool] = True
    fans_out: ClassVar[bool] = True
    map_bytes: ClassVar[int] = MAP_BYTES

    def __init__(self, place: StorePlace, writer: bool) -> None:
        """Open the database, which the writer makes."""
        import lmdb

        self.full: type[Exception] = lmdb.MapFullError
        self.address: Address = {}
        self.path: Path = place.path("lmdb")
        self.writer, self.closed, self.version = writer, False, 0
        if writer:
            self.path.mkdir(mode=0o700)
        map_size = max(self.map_bytes, 4 * place.capacity) if self.map_bytes == MAP_BYTES else self.map_bytes
        self.environment: Any = lmdb.open(
            str(self.path),
            map_size=map_size,
            readonly=not writer,
            create=writer,
            mode=0o600,
            writemap=writer and place.map == "writemap",
            sync=place.sync == "on",
            max_readers=READERS,
        )

    @classmethod
    def create(cls, place: StorePlace) -> Self:
        """Make the database."""
        return cls(place, True)

    def accept(self, timeout_ns: int) -> None:
        """Return at once: what is written stays for readers that come later."""

    @classmethod
    def attach(cls, place: StorePlace, address: Address, timeout_ns: int) -> Self:
        """Open the database for reading."""
        return cls(place, False)

    def write(self, data: Data, timeout_ns: int) -> None:
        """Put `data` in one transaction; raises `LabError` when the map is too small for it."""
        try:
            with self.environment.begin(write=True) as transaction:
                transaction.put(KEY, data)
                transaction.put(VERSION, (self.version + 1).to_bytes(8, "little"))
            self.version += 1
        except self.full as error:
            why = f"{len(data):,} bytes do not fit into a map of {self.environment.info()['map_size']:,}"
            raise LabError("the LMDB map is full", why, "give it a larger map or write less") from error

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

    def close(self) -> None:
        """Close the database; the writer's end removes its files."""
        if not self.closed:
            self.closed = True
            self.environment.close()
            if self.writer:
                shutil.rmtree(self.path, ignore_errors=True)


def missing() -> str | None:
    """Return why LMDB cannot be used."""
    return None if importlib.util.find_spec("lmdb") else "the package lmdb is not installed; make setup"


backend = Backend("lmdb", store=LmdbStore, missing=missing, look=("#009E73", "v"))
