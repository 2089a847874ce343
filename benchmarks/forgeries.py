"""Forge runs with all digests made to fit, and try each through every reader.

    .venv/bin/python benchmarks/forgeries.py 300 [SEED]

A forgery changes by so much as chance says; known ones are in `tests/store`. Readers are: import,
the bundle opened, the folder opened, a frame, the samples. What one of them takes is printed with
what was changed, and the exit code is 1. Scaling within what a launch had time for is no part of it
(docs/limitations.md).
"""

import os
import random
import resource
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from ipclab.commands.bundles import pack, unpack
from ipclab.errors import LabError
from ipclab.frames import derived
from ipclab.lab.runs import choose
from ipclab.paths import Paths
from ipclab.store import door
from ipclab.store import run as folder
from ipclab.store.bundle import opened
from ipclab.store.record import Record
from ipclab.store.samples import Measured
from tests.store.test_contradictions import (
    OP,
    fact,
    forge,
    kept,
    launches,
    machine,
    placed,
    session,
    told,
)
from tests.support.bundled import LAUNCH_NS, make_run

Change = Callable[[Record, list[Measured]], object]
Readers = Mapping[str, Callable[[], object]]
MOST_MEMORY = 1 << 30  # bytes


def by_chance(chance: random.Random) -> dict[str, Change]:
    """Return forgeries of each kind, by so much as `chance` says."""
    below = f"2026-11-20T0{chance.randint(0, 9)}:{chance.randint(0, 59):02}:00+00:00"
    fewer = chance.randint(1, 29)  # of 30 samples
    total = chance.uniform(1.3, 5_000) * LAUNCH_NS / 30
    span = chance.randint(121 * 10**9, 1 << 62)
    lasting = chance.randint(11 * 10**9, 1 << 61)
    late = f"{chance.randint(2028, 2200)}-01-01T00:00:00+00:00"
    early = f"{chance.randint(1970, 2025)}-{chance.randint(1, 12):02}-01T00:00:00+00:00"
    cores = chance.choice([0, -1, chance.randint(3, 1 << 40), "two", 2.5, [2], True])
    cpu, by = chance.randint(2, 1 << 20), chance.choice([0.9, 0.97, 1.03, 1.1, 40.0])
    statistic = chance.choice(["median", "mean"])
    shares = {"swap_total": chance.choice([-1, "much", 1 << 70, {}])}
    return {
        f"each time {total:.3g} ns": launches(
            lambda each: each.samples.update(
                {OP: (each.samples[OP] + int(total) + each.order).astype("int64")}
            )
        ),
        f"started at {span}": launches(lambda each: setattr(each, "started_ns", span)),
        f"lasted {lasting}": launches(lambda each: setattr(each, "elapsed_ns", lasting)),
        f"begun {early}": told(begun=early),
        f"finished {late}": told(finished=late),
        f"session begun {below}": session(below, "2026-11-20T10:00:30+00:00"),
        f"thinned to {fewer}": told(thinned=fewer),
        f"{cores!r} cores": machine(cores=cores, threads=2, sockets=1, core_sharing=["0", "1"]),
        f"a fact without its digest: {cpu}": fact(memory_installed=cpu),
        f"on CPU {cpu}": placed("l3", 0, cpu),
        f"{statistic} by {by:g}": kept(**{statistic: by}),
        f"amounts {shares}": fact(**shares),
        "one point's samples in another": _another,
        "launch 0 in place of another": _repeated(chance),
        "two launches exchange their starts": _exchanged(chance),
    }


def _another(_: Record, points: list[Measured]) -> None:
    one, other = (point for point in points if point.point.study == "round_trip")
    for into, of in zip(one.launches, other.launches, strict=True):
        into.samples = of.samples


def _repeated(chance: random.Random) -> Change:
    at = chance.randint(1, 5)

    def change(_: Record, points: list[Measured]) -> None:
        points[-1].launches[at].samples = points[-1].launches[0].samples

    return change


def _exchanged(chance: random.Random) -> Change:
    one, other, third = chance.sample(range(6), 3)

    def change(_: Record, points: list[Measured]) -> None:
        for point in points:
            taken = point.launches
            starts = [each.started_ns for each in taken]
            for at, of in ((one, other), (other, third), (third, one)):
                taken[at].started_ns = starts[of]

    return change


def readers(paths: Paths, run: Path, file: Path) -> Readers:
    """Return the ways in which a run is read, by name."""

    def frames() -> None:
        for study in ("round_trip", "limits"):
            derived.read_frame(folder.read_run(run), study, "points")

    return {
        "import": lambda: unpack(paths, file),
        "bundle": lambda: opened(paths, file),
        "choose": lambda: choose(paths, str(file)),
        "folder": lambda: choose(paths, str(run)),
        "frame": frames,
        "samples": lambda: [*door.measured_points(folder.read_run(run))],
        "check": lambda: door.check(folder.read_run(run)),
    }


def main(count: int, seed: int) -> int:
    """Make `count` forgeries, print those that were taken, and return the exit code."""
    chance = random.Random(seed)
    refused, taken, broken = Counter[str](), Counter[str](), Counter[str]()
    for number in range(count):
        if number % 50 == 0:
            print(f"{number} of {count}", file=sys.stderr, flush=True)
        name, change = chance.choice([*by_chance(chance).items()])
        with tempfile.TemporaryDirectory(prefix="ipclab-forged-") as top:
            os.environ |= {"IPCLAB_DATA": f"{top}/data", "XDG_CACHE_HOME": f"{top}/cache"}
            run, file = make_run(Path(top, "elsewhere"), factor=1 + number), Path(top, "x.ipclab")
            forge(run, change)
            pack(run, file)
            paths = Paths(Path(__file__).parents[1])
            for reader, read in readers(paths, run.path, file).items():
                try:
                    read()
                except LabError:
                    refused[reader] += 1
                except Exception as error:
                    broken[reader] += 1
                    print(f"{reader} breaks at {name}: {error!r}", flush=True)
                else:
                    taken[reader] += 1
                    print(f"{reader} took: {name}", flush=True)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    print(f"{count} forgeries through each reader; the most memory was {memory:,} bytes")
    for reader in refused | taken | broken:
        told = f"{refused[reader]} refused, {taken[reader]} taken, {broken[reader]} broke"
        print(f"{reader:<8} {told}")
    return 1 if taken or broken or memory > MOST_MEMORY else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else 1))
