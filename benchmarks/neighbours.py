"""Do our hogs slow a round trip as stress-ng does? Interleaved, on one CPU; installs nothing.

usage: python benchmarks/neighbours.py [rounds]

For a neighbour on the ends' CPU, one that copies memory and one that writes files, each round
launches every mechanism alone, beside our hog and beside stress-ng's worker (pinned to the same
CPU), in a random order. Their slow-downs, each a ratio of medians, may differ by a factor of 2.
Exit code 1 when one is out of bounds; 3 when none is, but something was skipped, which is no pass.
"""

import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from ipclab.machine import Source, Topology
from ipclab.machine.placement import placements
from ipclab.spawn.launcher import Launcher
from ipclab.studies.interface import Sweep
from ipclab.studies.neighbours import HOGS, QUIET, NeighboursStudy, hog_cpus
from ipclab.studies.neighbours.hogs import beside
from ipclab.studies.profile import PROFILES

REFEREE, WORKERS = "stress-ng", {"own-cpu": "cpu", "memory-copy": "memcpy", "writeback": "hdd"}
BACKENDS, ROUNDS, WITHIN, SKIPPED = ("posix-shm", "unix"), 5, 2.0, 3
SECONDS, START_SECONDS = 60, 0.5


@contextmanager
def referee(worker: str, cpus: list[int], folder: str) -> Iterator[None]:
    """Run one stress-ng worker on the first of `cpus`; it ends with the block, or by itself soon
    after.
    """
    command = [
        REFEREE,
        "--quiet",
        f"--{worker}",
        "1",
        "--taskset",
        str(cpus[0]),
        "--temp-path",
        folder,
        "--timeout",
        f"{SECONDS}",
    ]
    with subprocess.Popen(command) as process:
        try:
            time.sleep(START_SECONDS)
            if process.poll() is not None:
                raise SystemExit(f"{' '.join(command)} ended with exit code {process.returncode}")
            yield
        finally:
            process.terminate()  # which ends its worker


def ours(worker: str, cpus: list[int], folder: str) -> AbstractContextManager[object]:
    """Run our hog of the same kind, in this session as the referee is: its group has the
    scheduler's share.
    """
    kind = HOGS[next(name for name, known in WORKERS.items() if known == worker)]
    return beside(kind, cpus[:1], "plain", folder)


def alone(worker: str, cpus: list[int], folder: str) -> AbstractContextManager[object]:
    """Run nothing."""
    return nullcontext()


def main(rounds: int) -> int:
    """Print the slow-downs beside our hog and beside the referee's; return the exit code."""
    if not shutil.which(REFEREE):
        print(f"skipped: {REFEREE} is not installed (apt-get install {REFEREE})")
        return SKIPPED
    study, code = NeighboursStudy(), 0
    effort, placed = study.effort(PROFILES["quick"]), placements(Topology.read(Source()))["same"]
    sweep = Sweep(None, BACKENDS, {"placement": ("same",)})
    points = study.points(replace(effort, placements=("same",)), sweep)
    found = {
        point.backend: point
        for point in points
        if point.levels["neighbour"] == QUIET and not point.levels["gap_ns"]
    }
    with tempfile.TemporaryDirectory() as folder, Launcher(Path(folder) / "ledger") as launcher:
        study.folder = folder

        def launched(backend: str) -> float:
            outcomes = launcher.launch(study.roles(found[backend], effort, placed, 1), SECONDS)
            return statistics.median(
                study.collect(found[backend], outcomes, 1).samples["round-trip"]
            )

        for name, worker in WORKERS.items():
            if not (cpus := hog_cpus(name, "same")):
                print(f"skipped: {name} has no CPU")
                code = code or SKIPPED
                continue
            times: dict[tuple[str, str], list[float]] = {}
            for _ in range(rounds):
                ways = [(backend, way) for backend in BACKENDS for way in (QUIET, name, worker)]
                for backend, way in random.sample(ways, len(ways)):
                    with {worker: referee, name: ours}.get(way, alone)(worker, cpus, folder):
                        taken = launched(backend)
                    times.setdefault((backend, way), []).append(taken)
            for backend in BACKENDS:
                quiet, own, theirs = (
                    statistics.median(times[backend, way]) for way in (QUIET, name, worker)
                )
                fits = 1 / WITHIN <= own / theirs <= WITHIN
                code = code if fits else 1
                told = f"ours x {own / quiet:.2f}, {REFEREE} --{worker} x {theirs / quiet:.2f}"
                print(f"{name:<12} {backend:<10} {told} {'' if fits else 'DIFFERS'}")
    return code


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))
