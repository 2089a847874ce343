"""Does our published arm agree with the published listing itself? Interleaved, same machine, same minutes.

usage: python benchmarks/listing.py TEXT    TEXT is the published report, which prints its program in section 2.3

Prints for each size and op the ratio of our median to the listing's, and exits 1 when one is off by more than 15 %. The
listing reports means; it is run with `numpy.mean` standing for `numpy.median`, and otherwise as printed.
"""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from ipclab.spawn.launcher import Launcher, Role
from ipclab.studies.payload import MOVED

ROUNDS = 15
TOLERANCE = 0.15
DEADLINE_S = 60.0
RUN_LISTING = """
import contextlib, io, json, runpy, sys
import numpy
numpy.mean = numpy.median
with contextlib.redirect_stdout(io.StringIO()):
    results = runpy.run_path(sys.argv[1], run_name="__main__")["results"]
print(json.dumps([[float(r["write_time_ms"]) * 1e6, float(r["read_time_ms"]) * 1e6] for r in results]))
"""
Times = dict[tuple[int, str], float]


def listing(text: str) -> str:
    """Return the program that the report prints; raises `SystemExit` when it is not there."""
    found = re.search(r"^#!/usr/bin/env python3$.*?^    print\(\"For LDM-EKI's[^\n]*$", text, re.DOTALL | re.MULTILINE)
    if found is None:
        raise SystemExit("listing: the text holds no program; give the published report of seed 000")
    return found[0]


def run_listing(program: Path) -> Times:
    """Return the listing's median times in ns by bytes moved and op."""
    command = [sys.executable, "-c", RUN_LISTING, str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=True)
    pairs = zip(MOVED.values(), json.loads(done.stdout), strict=True)
    return {(size, op): value for size, both in pairs for op, value in zip(("write", "read"), both, strict=True)}


def run_ours(launcher: Launcher, cpus: frozenset[int]) -> Times:
    """Return our medians of the same."""
    found = {}
    for size in MOVED.values():
        arguments = {"size": size, "seed": 1, "before": [moved for moved in MOVED.values() if moved < size]}
        role = Role("program", "ipclab.studies.payload.published:run", arguments, cpus, fresh=True)
        samples = launcher.launch([role], DEADLINE_S)["program"].samples
        found |= {(size, op): float(statistics.median(values)) for op, values in samples.items()}
    return found


def main() -> int:
    """Run both in turn and print the ratios of the medians over rounds."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_file():  # noqa: PLR2004
        raise SystemExit("listing: give the published report's text: python benchmarks/listing.py TEXT")
    program = listing(Path(sys.argv[1]).read_text(encoding="utf-8"))
    rounds: list[tuple[Times, Times]] = []
    with tempfile.TemporaryDirectory() as folder, Launcher(Path(folder) / "ledger") as launcher:
        file = Path(folder) / "listing.py"
        file.write_text(program, encoding="utf-8")
        for _ in range(ROUNDS):
            rounds.append((run_ours(launcher, frozenset(os.sched_getaffinity(0))), run_listing(file)))
    off = 0
    for size, op in sorted(rounds[0][0]):
        ours, theirs = (statistics.median(times[size, op] for times in side) for side in zip(*rounds, strict=True))
        off += abs(ours / theirs - 1) > TOLERANCE
        print(
            f"{size:>9} B {op:<5}  ours {ours / 1e3:8.1f} us  listing {theirs / 1e3:8.1f} us  ratio {ours / theirs:.3f}"
        )
    return int(off > 0)


if __name__ == "__main__":
    sys.exit(main())
