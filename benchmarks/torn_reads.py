"""Read every shared-state store while its writer never rests, and count the reads whose bytes were
never written.

    .venv/bin/python benchmarks/torn_reads.py [READS] [ENTRIES] [BACKEND ...]

Every read is compared byte for byte with what its version stands for. Expected: 0 torn of 1,000,000
for each store.
"""

import os
import sys
import tempfile
from pathlib import Path

from ipclab.backends.codecs import CODECS, encoded_bytes, published_dictionary, rotations
from ipclab.backends.installed import backends
from ipclab.backends.interface import Place
from ipclab.machine.placement import Placement
from ipclab.spawn.heat import launch_alone
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.mpi_worker import RankWorker
from ipclab.spawn.rank_bench import RankBench
from ipclab.spawn.started import Role
from ipclab.store.point import Point
from ipclab.studies.shared_dict.ends import joined_store, store_of

READERS = 3
WAIT_NS = 10_000_000_000
SECONDS = 3600.0
LOOK = 256


def hammer(worker: RankWorker, backend: str, entries: int, reads: int) -> None:
    """Write without a pause as the first rank; as another, make `reads` reads and check each."""
    contents = [
        CODECS["pickle"].encode(published_dictionary(entries, rotation))
        for rotation in range(rotations(entries))
    ]
    place = Place(
        worker.prefix,
        worker.folder,
        len(contents[0]),
        "block",
        READERS,
        "off",
        "writemap",
        comm=worker.comm,
    )
    store = joined_store(worker, store_of(backend), place)
    if worker.index == 0:
        version, waiting = 1, list(worker.peers)
        store.write(contents[1 % len(contents)], WAIT_NS)
        while waiting:
            version += 1
            store.write(contents[version % len(contents)], WAIT_NS)
            if version % LOOK == 0 and worker.signalled(
                waiting[0]
            ):  # to ask MPI is to offer the CPU
                worker.await_signals([waiting.pop(0)])
        worker.outcome.facts = {"writes": version}
    else:
        torn, versions, last, other = 0, 0, 0, 0
        for _ in range(reads):
            version, data = store.read(0, WAIT_NS)
            if data != contents[version % len(contents)]:
                torn += 1
                other += data in contents
            versions += version != last
            last = version
        worker.signal(0)
        worker.outcome.facts = {"reads": reads, "torn": torn, "other": other, "versions": versions}
    worker.meet()
    store.close()


def main() -> int:
    """Print a line for each store; return 1 when any read was torn."""
    words = sys.argv[1:]
    reads, entries = int(words[0]) if words else 1_000_000, int(words[1]) if len(words) > 1 else 100
    wanted = words[2:] or [
        name for name, found in backends().items() if found.store and found.store.keeps
    ]
    os.environ["PYTHONPATH"] = str(Path(__file__).parent.parent)
    cpus = Placement("free", (frozenset(os.sched_getaffinity(0)),), "free").role(0)
    names = ["writer", *(f"reader {number}" for number in range(1, READERS + 1))]
    bad = 0
    with (
        tempfile.TemporaryDirectory() as ledger,
        Launcher(Path(ledger)) as launcher,
        RankBench(launcher, 4) as bench,
    ):
        for backend in wanted:
            each = -(-reads // READERS)
            arguments = {"backend": backend, "entries": entries, "reads": each}
            roles = [Role(name, "benchmarks.torn_reads:hammer", arguments, cpus) for name in names]
            point = Point("shared_dict", backend, encoded_bytes("pickle", entries), "free")
            writer, *readers = (
                outcome.facts for outcome in launch_alone(bench, point, roles, SECONDS).values()
            )
            counts = ("reads", "torn", "other", "versions")
            total = {name: sum(reader[name] for reader in readers) for name in counts}
            bad += total["torn"]
            print(
                f"{backend}: {total['torn']} torn of {total['reads']:,} reads, {total['other']} of"
                f" them whole but of another version; {writer['writes']:,} writes,"
                f" {total['versions']:,} reads of another version than before",
                flush=True,
            )
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
