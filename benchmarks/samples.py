"""How do memory and time of facts and reports grow with the samples of a run? Made-up runs of 10^6,
10^7, 10^8 samples.

usage: python benchmarks/samples.py [SAMPLES ...] [--launches N] [--each N] [--report]    default:
1000000 10000000

Each run has points of `--launches` launches with `--each` samples a launch, as the profile `full`
measures them. Every size is derived (and with `--report` rendered to English HTML) in a process of
its own; its highest memory, the sum over its children, and the time are printed. Exits 1 above 2
GiB, or when ten times the samples take the facts more than fifteen times as long.
"""

import argparse
import datetime as dt
import os
import subprocess
import sys
import tempfile
import threading
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

from ipclab.machine import collect
from ipclab.store import run as folder
from ipclab.store.launch import Launch
from ipclab.store.point import Level, Point
from ipclab.store.samples import Measured, encode
from ipclab.studies.asked import asked
from ipclab.studies.profile import PROFILES

ROOT = Path(__file__).resolve().parent.parent
MOST_MEMORY, MOST_GROWTH = 2 << 30, 1.5
DEADLINE_S = 3_600.0
SLOW_SHARE = 0.1  # of the second mode
BACKENDS = (
    "unix",
    "tcp",
    "pipe",
    "posix-shm",
    "shm-futex",
    "shm-spin",
    "zmq-ipc",
    "mp-pipe",
    "iceoryx2",
    "mp-queue",
)
SIZES = (100, 10_000, 500_000, 2_000_000)
DERIVE = """
import sys
from pathlib import Path
from ipclab.facts.derive import derived
from ipclab.paths import checkout
from ipclab.store.run import read
print(derived(read(Path(sys.argv[1])), checkout()))
"""
RENDER = """
import sys
from pathlib import Path
from ipclab.paths import checkout
from ipclab.render.report import report
from ipclab.measure.progress import Progress
from ipclab.store.run import read
print(len(report(checkout(), read(Path(sys.argv[1])), ["en"], ["html"], Path(sys.argv[2]), Progress())))
"""


def make(data: Path, samples: int, launches: int, each: int) -> Path:
    """Write a finished run with about `samples` samples of the round-trip study below `data`;
    return its folder.
    """
    machine = collect()
    about = {
        "parameters": {
            "profile": "full",
            "studies": ["round_trip"],
            "sizes": None,
            "backends": None,
        },
        "seed": 1,
        "machine": {"digest": machine.digest, "facts": machine.facts, "reasons": machine.reasons},
        "questions": asked(PROFILES["quick"]).plain(),
        "sessions": [],
        "points": {},
    }
    run = folder.create(data / "runs", machine.digest, about, dt.datetime.now(dt.UTC))
    random = np.random.default_rng(1)
    for number in range(max(1, round(samples / (launches * each)))):
        placement, size = ("same", "cross")[number % 2], SIZES[number // 2 % len(SIZES)]
        backend = BACKENDS[number // (2 * len(SIZES)) % len(BACKENDS)]
        # more points than the study has go into arms of their own
        copy = number // (2 * len(SIZES) * len(BACKENDS))
        levels: dict[str, Level] = {
            "arm": f"copy-{copy}" if copy else "main",
            "wait": "block",
            "gap_ns": 0,
        }
        levels |= {"touch": "full", "receive": "bytes"}
        point = Point("round_trip", backend, size, placement, levels, "made", ("round-trip",))
        made = [_launch(random, order, each, size) for order in range(launches)]
        run.place([(point, encode(Measured(point, made, "budget")))])
    run.about["finished"] = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    run.save()
    return run.path


def _launch(random: np.random.Generator, order: int, count: int, size: int) -> Launch:
    """Return a launch whose times have two modes, a tail and luck of their own."""
    middle = (5_000 + size / 10) * float(np.exp(random.normal(0, 0.1)))
    times = (
        middle
        * np.exp(random.normal(0, 0.1, count))
        * np.where(random.random(count) < SLOW_SHARE, 3, 1)
    )
    counters = {"cpu_ns": middle, "voluntary_switches": 1.0}
    facts: dict[str, object] = {"relation": "l3"}
    return Launch(
        {"round-trip": times.astype(np.int64)}, {"round-trip": counters}, order + 1, facts=facts
    )


def watched(command: list[str], env: dict[str, str]) -> tuple[float, int]:
    """Run `command`; return its seconds and the most memory (bytes) that it and its children held
    together.
    """
    began = time.monotonic()
    process = subprocess.Popen(command, env=env, cwd=ROOT, stdout=subprocess.DEVNULL)
    most, ended = [0], threading.Event()

    def look() -> None:
        while not ended.wait(0.05):
            most[0] = max(most[0], sum(map(_memory, _family(process.pid))))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        code = process.wait(DEADLINE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait()
    finally:
        ended.set()
        watcher.join()
    if code:
        raise SystemExit(f"samples: {command[2][:20]!r} ended with {code}")
    return time.monotonic() - began, most[0]


def _family(top: int) -> list[int]:
    parents = {}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit():
                parents[int(entry.name)] = int(
                    (entry / "stat").read_text().rpartition(")")[2].split()[1]
                )
        except OSError:
            continue
    found = [top]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def _memory(process: int) -> int:
    """Return the memory of a process, what it shares with others in parts."""
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:
        return 0
    return next(
        (int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Pss:")), 0
    )


def main() -> int:
    """Measure every size and judge: at most 2 GiB, and time linear in samples."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("samples", type=int, nargs="*", default=[1_000_000, 10_000_000])
    parser.add_argument("--launches", type=int, default=20)
    parser.add_argument("--each", type=int, default=50_000)
    parser.add_argument("--report", action="store_true")
    chosen = parser.parse_args()
    spent: list[float] = []
    memory = 0
    for samples in sorted(chosen.samples):
        with tempfile.TemporaryDirectory(prefix="ipclab-samples-") as name:
            data = Path(name)
            env = {
                **os.environ,
                "IPCLAB_DATA": name,
                "IPCLAB_ROOT": str(ROOT),
                "PYTHONPATH": str(ROOT),
            }
            run = make(data, samples, chosen.launches, chosen.each)
            stored = sum(file.stat().st_size for file in run.rglob("*.parquet"))
            seconds, most = watched([sys.executable, "-c", DERIVE, str(run)], env)
            spent.append(seconds)
            memory = max(memory, most)
            line = (
                f"{samples:>11,} samples, {stored / 1e6:,.0f} MB: facts {seconds:.1f} s,"
                f" {most / 2**20:,.0f} MiB"
            )
            if chosen.report:
                seconds, most = watched(
                    [sys.executable, "-c", RENDER, str(run), str(data / "out")], env
                )
                memory = max(memory, most)
                line += f"; report {seconds:.1f} s, {most / 2**20:,.0f} MiB"
            print(line, flush=True)
    steps = zip(sorted(chosen.samples), spent, strict=True)
    superlinear = any(b[1] / a[1] > MOST_GROWTH * b[0] / a[0] for a, b in pairwise(steps))
    return int(memory > MOST_MEMORY or superlinear)


if __name__ == "__main__":
    raise SystemExit(main())
