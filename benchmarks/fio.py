"""Does the file-reading engine read as fast as fio? The same files, one interleaved run; installs
nothing.

usage: python benchmarks/fio.py [rounds [folder]]      (chrt -f 1 python benchmarks/fio.py on a
machine that is shared)

Both open, read and close every file inside the timed region: fio finds our files (`opendir`, in the
order of the folders' hash; the engine takes them in a random order, lest it profit from theirs on
disk) and may have one open file a read in flight (`openfiles`, `file_service_type=sequential`), so
that it cannot open them beforehand, and is told neither to drop the cache nor to advise the kernel
(`invalidate=0`, `fadvise_hint=0`). Its reads have the size of the file, except where the line says
otherwise. For mmap it copies every page out of the map, where the engine touches it; and fio (3.33)
never unmaps a file, so that the engine is held to its pace with the maps kept too, and shown as it
is beside that. Each round runs fio and the engine in a random order, and drops the cache before
both where the line says cold; the ratio is of the best rounds, since a disturbance only ever slows.
Then what the engine costs for each file of 4 KiB beyond the bare system calls, in CPU time, and the
elapsed time of a set that only computes against the sum over the threads. Exit code 1 when a figure
is out of bounds.
"""

import os
import random
import struct
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from parts.fio_contests import (
    KIB,
    MIB,
    Contest,
    Set,
    contests,
    engine,
    missing,
    native,
    ours,
    theirs,
)

from ipclab.errors import LabError

ROUNDS, TRIES = 7, 5
LEAST = 0.95  # of fio's files a second
MOST_COST_NS = 2_000
COMPUTE_SLACK = 0.02
COMPUTE_NS, COMPUTE_FILES = 500_000, 1_000


def measure(there: Sequence[Contest], rounds: int) -> list[tuple[list[float], list[float]]]:
    """Return for each contest fio's times and ours in ns a file, one a round each, taken in a
    random order.
    """
    shuffle = random.Random(rounds)
    times: list[tuple[list[float], list[float]]] = [([], []) for _ in there]
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
        for place in shuffle.sample(range(len(there)), len(there)):
            for side in shuffle.sample((0, 1), 2):
                prepare(there[place])
                times[place][side].append((theirs, ours)[side](there[place]))
    return times


def prepare(contest: Contest) -> None:
    """Bring the cache into the contest's state; raises `LabError` when it does not get there."""
    files = contest.files
    for _ in range(
        TRIES
    ):  # a kernel that reclaims beforehand takes a few pages of a warm set meanwhile
        (native().drop_files if contest.cold else native().warm_files)(
            str(files.folder), files.sizes, 2
        )
        resident, pages = native().cache_state(str(files.folder), files.sizes)
        if resident == (0 if contest.cold else pages):
            return
    raise LabError(
        "the page cache",
        f"holds {resident:,} of {pages:,} pages",
        "free memory or use another folder",
    )


def line(contest: Contest, fio: list[float], engine_: list[float]) -> tuple[str, bool]:
    """Return the line of the table, and whether the engine is fast enough."""
    ratio = min(fio) / min(engine_)
    good = ratio >= LEAST or not contest.held
    ratios = [one / other for one, other in zip(fio, engine_, strict=True)]
    verdict = ("good" if good else "TOO SLOW") if contest.held else "not held to"
    spread = f"{min(ratios):.2f}..{max(ratios):.2f}"
    return (
        (
            f"{min(fio) / 1e3:>12,.2f} {min(engine_) / 1e3:>12,.2f} {ratio:>6.2f} {spread:>11} "
            f" {verdict}"
        ),
        good,
    )


def cost(small: Set, rounds: int) -> bool:
    """Print what the engine adds to the bare system calls; return whether that is within the bound."""
    extra: list[float] = []
    for _ in range(rounds):
        _, bare = native().bare_read_cost(str(small.folder), small.sizes)
        plan = {"method": "sync", "roles": ["both"], "in_flight": 1, "buffer": "prefaulted"}
        execution = engine(small, **plan)["threads"][0]["execution_ns"]
        extra.append((execution - bare) / small.count)
        print(
            f"bare {bare / small.count:,.0f} ns, engine {execution / small.count:,.0f} ns of CPU a"
            " file",
            file=sys.stderr,
        )
    good = sorted(extra)[rounds // 2] <= MOST_COST_NS
    print(
        f"engine beyond bare system calls: {sorted(extra)[rounds // 2]:,.0f} ns a file (bound"
        f" {MOST_COST_NS:,}) {good=}"
    )
    return good


def pure_compute(small: Set, rounds: int) -> bool:
    """Print the elapsed time of a set that only computes; return whether it is within the bound of
    sum / threads.
    """
    files = Set(small.folder, small.size, COMPUTE_FILES)
    threads = len(os.sched_getaffinity(0))
    share = COMPUTE_FILES * COMPUTE_NS / threads
    drawn = struct.pack("<Q", COMPUTE_NS) * COMPUTE_FILES
    plan = {
        "method": "sync",
        "roles": ["both"] * threads,
        "in_flight": threads,
        "buffer": "prefaulted",
    }
    ratios: list[float] = [
        engine(files, compute_ns=drawn, **plan)["elapsed_ns"] / share for _ in range(rounds)
    ]
    good = min(ratios) <= 1 + COMPUTE_SLACK
    print(
        f"pure compute, elapsed / (sum / {threads} threads): {min(ratios):.4f}..{max(ratios):.4f}"
        f" {good=}"
    )
    return good


def report(folder: Path, rounds: int) -> bool:
    """Make the sets in `folder`, measure, print; return whether all is good."""
    small, large = Set(folder / "small", 4 * KIB, 50_000), Set(folder / "large", 512 * MIB, 1)
    for files in (small, large):
        native().make_files(str(files.folder), 0, files.sizes, 1, 2, None)
    everyone = contests(small, large)
    there = [contest for contest in everyone if missing(contest) is None]
    times = measure(there, rounds)
    print(f"{'':<34}   fio, us/file  ours, us/file  ratio       range")
    good = True
    for contest in everyone:
        text = f"skipped: {missing(contest)}"
        if contest in there:
            text, fast = line(contest, *times[there.index(contest)])
            good &= fast
        print(f"{contest.name:<34} {text}")
    good &= cost(small, rounds)
    return pure_compute(small, rounds) and good


def main() -> int:
    """Return the exit code."""
    asked = dict(enumerate(sys.argv[1:]))
    rounds, place = int(asked.get(0, ROUNDS)), asked.get(1)
    with tempfile.TemporaryDirectory(prefix="ipclab-fio-", dir=place) as folder:
        return 0 if report(Path(folder), rounds) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as error:
        sys.exit(f"error: {error}")
