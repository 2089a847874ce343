"""The published shared-memory store: `multiprocessing.shared_memory`, here with a lock-free but versioned header."""

from ipclab.backends.interface import Backend
from ipclab.backends.mp_shm import SharedMemorySegment
from ipclab.backends.seqlock import SegmentStore


class SharedMemoryStore(SegmentStore):
    """A `SharedMemory` object that the resource tracker does not know."""

    kind = SharedMemorySegment


backend = Backend("shared-memory", store=SharedMemoryStore, look=("#0072B2", "D"))
