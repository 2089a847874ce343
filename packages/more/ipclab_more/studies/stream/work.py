"""Work of a known size: digests of one block, as many as take a time."""

from time import perf_counter_ns as clock

from ipclab.spawn.proof import digest

BLOCK = bytes(1024)


def worth(ns: int) -> int:
    """Return how many digests of `BLOCK` take `ns` of computing here."""
    times = []
    for _ in range(3):
        begun = clock()
        compute_digests(100)
        times.append((clock() - begun) / 100)
    return round(ns / min(times))


def compute_digests(digests: int) -> None:
    """Compute `digests` digests, the same work whatever else the CPU does."""
    for _ in range(digests):
        digest(BLOCK)
