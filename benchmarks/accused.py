"""Is a genuine mechanism ever accused under load? python benchmarks/accused.py [RUNS].

Makes runs of the smoke profile (20), each of another seed, the studies in turn, beside the two busy
loops of `loaded.py`. Prints how many launches were made and each that failed, whatever it says;
ends with 1 where one did.
"""

import sys
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from loaded import load

from ipclab.paths import Paths, checkout
from ipclab.session.progress import Progress
from ipclab.session.request import Request
from ipclab.session.session import measure
from ipclab.store.run import RunFolder
from ipclab.store.samples import decode
from ipclab.studies.interface import Sweep

ASKED = (  # a study, and of which mechanisms and sizes
    ("round_trip", ("posix-shm", "unix", "zmq-ipc"), (100, 1_000_000)),
    ("stream", ("pipe", "unix", "zmq-ipc"), (100, 1_000_000)),
    ("payload", ("posix-shm", "tcp"), (1_000_000,)),
    ("shared_dict", ("posix-shm", "zmq-pub"), (10_000,)),
    ("objects", ("unix",), (10_000,)),
)


def launches(run: RunFolder) -> Iterator[tuple[int, list[str]]]:
    """Yield of each point of `run` how many launches were made, and why some of them failed."""
    for file in run.about["files"]:
        if file.endswith(".parquet"):
            measured = decode(run.path / file)
            yield len(measured.launches) + len(measured.failures), measured.failures
    for point, why in run.about["failures"].items():
        yield 1, [f"{point}: {why}"]


def main() -> int:
    """Make the runs and print what was found; return how the process ends."""
    made, failed = 0, list[str]()
    runs = int(next(iter(sys.argv[1:]), "20"))
    for seed, (study, backends, sizes) in enumerate(islice(cycle(ASKED), runs)):
        with TemporaryDirectory(prefix="ipclab-") as folder, load():
            paths = Paths(checkout().root, Path(folder))
            request = Request((study,), "smoke", seed=seed, sweep=Sweep(sizes, backends))
            for count, failures in launches(measure(paths, request, Progress(shown=False))):
                made += count
                failed += failures
        print(f"run {seed + 1}: {study}; {made:,} launches, {len(failed)} failed", flush=True)
    print(*failed, sep="\n")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
