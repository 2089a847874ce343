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

import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ipclab.errors import LabError

SECONDS = 120.0  # the deadline of every child and of every run of the engine
ROUNDS, TRIES = 7, 5
KIB, MIB = 1 << 10, 1 << 20
LEAST = 0.95  # of fio's files a second
MOST_COST_NS = 2_000
COMPUTE_SLACK = 0.02
COMPUTE_NS, COMPUTE_FILES = 500_000, 1_000


@dataclass(frozen=True)
class Set:
    """Files of one size in a folder of their own."""

    folder: Path
    size: int
    count: int

    @property
    def sizes(self) -> bytes:
        """The sizes as the engine takes them."""
        return struct.pack("<Q", self.size) * self.count


@dataclass(frozen=True)
class Contest:
    """One way to read one set, by both. `held` is whether the ratio must be at least `LEAST`."""

    name: str
    files: Set
    cold: bool
    fio: Sequence[str]
    plan: dict[str, Any]
    held: bool = True


def native() -> Any:
    """Return the native package; raises `LabError` without it."""
    try:
        import ipclab_native
    except ImportError as error:
        raise LabError(
            "the native package is not installed", "", "install cargo and run make setup"
        ) from error
    return ipclab_native


def engine(files: Set, **plan: Any) -> dict[str, Any]:
    """Return what the engine says of one run; raises `LabError` when a file was not read."""
    common = {"folder": str(files.folder), "sizes": files.sizes, "deadline_ns": int(SECONDS * 1e9)}
    done: dict[str, Any] = native().read_files({**common, **plan})
    if done["errors"]:
        raise LabError("the engine could not read every file", str(done["errors"][0]))
    return done


def ours(contest: Contest) -> float:
    """Return the engine's ns for one file."""
    return float(engine(contest.files, **contest.plan)["elapsed_ns"]) / contest.files.count


def theirs(contest: Contest) -> float:
    """Return fio's ns for one file; raises `LabError` when it fails or read anything else than the
    set once.
    """
    files = contest.files
    fixed = [
        "--name=set",
        "--rw=read",
        "--thread",
        "--invalidate=0",
        "--fadvise_hint=0",
        "--output-format=json",
        "--eta=never",
    ]
    command = [
        "fio",
        *fixed,
        f"--opendir={files.folder}",
        "--file_service_type=sequential",
        *contest.fio,
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise LabError("fio", f"did not end within {SECONDS:g} s") from error
    if done.returncode:
        raise LabError("fio", (done.stderr or done.stdout).strip()[-200:])
    read = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]["read"]  # notes come before
    if read["io_bytes"] != files.size * files.count:
        raise LabError(
            "fio",
            f"read {read['io_bytes']:,} bytes and not the {files.size * files.count:,} of the set",
        )
    return float(read["runtime"]) * 1e6 / files.count


def contests(small: Set, large: Set) -> list[Contest]:
    """Return all contests on the two sets."""
    common = {"buffer": "prefaulted", "repeat_order": "shuffled"}
    whole, one = [f"--bs={small.size}"], {"roles": ["both"], "in_flight": 1, **common}
    queue = {"method": "overlapped", "roles": ["read-then-compute"], "direct": True, **common}
    pread, mapped = ([*whole, f"--ioengine={name}", "--openfiles=1"] for name in ("psync", "mmap"))
    found = [
        Contest("4 KiB cached pread", small, False, pread, {"method": "sync", **one}),
        Contest(
            "4 KiB cached mmap, maps kept",
            small,
            False,
            mapped,
            {"method": "mmap", "keep_maps": True, **one},
        ),
        Contest(
            "4 KiB cached mmap, we unmap",
            small,
            False,
            mapped,
            {"method": "mmap", **one},
            held=False,
        ),
    ]
    for depth in (1, 4, 16):
        more = ["--ioengine=io_uring", "--direct=1", f"--iodepth={depth}", f"--openfiles={depth}"]
        plan = {**queue, "depth": depth, "in_flight": depth}
        found.append(
            Contest(f"4 KiB cold O_DIRECT, depth {depth}", small, True, [*whole, *more], plan)
        )
    same = [f"--bs={large.size}", "--ioengine=psync"]
    found.append(
        Contest("512 MiB cold pread, one call", large, True, same, {"method": "sync", **one})
    )
    chunks = [f"--bs={MIB}", "--ioengine=psync"]
    found.append(
        Contest(
            "512 MiB cold pread, fio by 1 MiB",
            large,
            True,
            chunks,
            {"method": "sync", **one},
            held=False,
        )
    )
    return found


def missing(contest: Contest) -> str | None:
    """Return why a contest cannot be held here."""
    if shutil.which("fio") is None:
        return "fio is not installed"
    plan = contest.plan
    why: str | None = native().io_uring_missing() if plan["method"] == "overlapped" else None
    return why or (native().direct_missing(str(contest.files.folder)) if contest.cold else None)


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
