"""Do the published arms take as long as what they follow? Both interleaved, in one run on one
machine.

usage: python benchmarks/published.py [--rounds N] [--readers N] [TEXT] [--texts NUMBER ...]

Text 000: the arm against the program that TEXT, the published report, prints in section 2.3
(`numpy.mean` stands for `numpy.median` there; without TEXT it is left out). Texts 001 and 003: the
arm against loops rebuilt from what their authors' programs do, in processes of their own; those of
003 call the package shm-rpc-bridge too. The ranks of 001 wait awake: more of them than CPUs take
turns by luck, so that its three readers become as many as there are CPUs for, unless `--readers`
names their number. Prints the median of the rounds' ratios, ours over theirs, with its 95 %
interval; exit code 1 when a median is off by more than 15 % (000: 10 %), 3 when nothing was compared.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import rebuilt
from rebuilt import READS, SECONDS, Times

from ipclab.errors import LabError
from ipclab.machine import Source, Topology
from ipclab.machine.placement import placements
from ipclab.spawn.heat import launch_alone
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.rank_bench import RankBench
from ipclab.spawn.started import Role
from ipclab.stats.intervals import statistic_estimate
from ipclab.studies.interface import Sweep
from ipclab.studies.payload import MOVED
from ipclab.studies.profile import profile
from ipclab.studies.round_trip import RoundTripStudy, published
from ipclab.studies.shared_dict.levels import PUBLISHED_READERS
from ipclab.studies.shared_dict.study import SharedDictStudy

ROUNDS, TOLERANCE = 10, 0.15
LISTED = 0.10  # of text 000, whose program is printed whole
SKIPPED = 3  # the exit code
ROUND_TRIPS = {100: 2_000, 10_000: 2_000, 500_000: 200, 2_000_000: 100}
IMPORTED = "import numpy as np\n"
MEDIANS = f"{IMPORTED}np.mean = np.median\n"
# It is run as a file, as published: where its heap lies follows from that, and a copy of the largest payload
# takes 0.8 times as long by `python -c`.
PRINTED = """
import json, sys
print(json.dumps([[float(r["write_time_ms"]) * 1e6, float(r["read_time_ms"]) * 1e6] for r in results]), file=sys.stderr)
"""
Side = Callable[[], Times]


def payload(launcher: Launcher, program: Path) -> tuple[Side, Side]:
    """Return the arm of text 000 and the printed program."""

    def ours() -> Times:
        found = {}
        for size in MOVED.values():
            target = "ipclab.studies.payload.published:write_then_read"
            cpus = frozenset(os.sched_getaffinity(0))
            role = Role("program", target, {"size": size, "seed": 1}, cpus, fresh=True)
            samples = launcher.launch([role], SECONDS)["program"].samples
            for op, values in samples.items():
                found[f"000 {op} {size} B"] = float(statistics.median(values))
        return found

    def theirs() -> Times:
        command = [sys.executable, str(program)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
        found = {}
        for size, (write, read) in zip(MOVED.values(), json.loads(done.stderr), strict=True):
            found |= {f"000 write {size} B": write, f"000 read {size} B": read}
        return found

    return ours, theirs


def listing(text: str) -> str:
    """Return the program that the report prints; raises `SystemExit` when it is not there."""
    found = re.search(
        r"^#!/usr/bin/env python3$.*?^    print\(\"For LDM-EKI's[^\n]*$",
        text,
        re.DOTALL | re.MULTILINE,
    )
    if found is None:
        raise SystemExit(
            "published: the text holds no program; give the published report of text 000"
        )
    return found[0].replace(IMPORTED, MEDIANS, 1) + PRINTED


def shared_dict(launcher: Launcher, bench: RankBench, readers: int) -> tuple[Side, Side]:
    """Return the arm of text 001 and its program rebuilt: all sizes and mechanisms in one set of
    processes.
    """
    study, effort = SharedDictStudy(), profile("quick")
    free = placements(Topology.read(Source()))["free"]
    asked = study.points(effort, Sweep(levels={"readers": (readers,)}))
    points = sorted(  # in the program's order: a heap keeps what came before
        (point for point in asked if point.levels["arm"] == "published"),
        key=lambda point: (point.levels["entries"], point.backend),
    )

    def ours() -> Times:
        found = {}
        for point in points:
            outcomes = launch_alone(bench, point, study.roles(point, effort, free, 1), SECONDS)
            samples = study.collect(point, outcomes, 1).samples
            what = f"{point.backend} {point.levels['entries']}"
            found[f"001 write {what}"] = float(samples["write-total"][0])
            found[f"001 read {what}"] = float(samples["read-total"].mean() / READS)
        return found

    def theirs() -> Times:
        with launcher.naming() as prefix:
            results = rebuilt.shared_dict(
                prefix, f"{launcher.session.folder}/{prefix.rpartition('-')[2]}-theirs", readers
            )
        names = {name for result in results for name in result}
        return {
            name: statistics.mean(result[name] for result in results if name in result)
            for name in names
        }

    return ours, theirs


def round_trips(launcher: Launcher) -> Iterator[tuple[Side, Side]]:
    """Yield the arm of text 003 and its loops rebuilt, for each placement, size and program."""
    study, placed = RoundTripStudy(), placements(Topology.read(Source()))
    for point in study.points(profile("quick"), Sweep(None, tuple(published.PROGRAMS))):
        if (
            point.levels["arm"] == "published"
            and point.placement in placed
            and point.placement != "free"
        ):
            count, placement = ROUND_TRIPS[point.size_bytes], placed[point.placement]
            effort = replace(profile("quick"), least_samples=count, most_samples=count)
            what = f"003 {point.backend} {point.placement} {point.size_bytes} B"

            def ours(point=point, effort=effort, placement=placement, what=what) -> Times:  # type: ignore[no-untyped-def]
                outcomes = launcher.launch(study.roles(point, effort, placement, 1), SECONDS)
                return {what: float(study.collect(point, outcomes, 1).samples["round-trip"][0])}

            def theirs(point=point, count=count, placement=placement, what=what) -> Times:  # type: ignore[no-untyped-def]
                with launcher.naming() as prefix:
                    cpus = [placement.role(0), placement.role(1)]
                    return {
                        what: rebuilt.original(point.backend, prefix, point.size_bytes, count, cpus)
                    }

            yield ours, theirs


def compare(sides: tuple[Side, Side], rounds: int) -> Iterator[bool]:
    """Run both sides in turn, the first one last in every other round; print their ratios, yield
    which are off.
    """
    found: list[list[Times]] = [[], []]
    for number in range(rounds):
        for place in (0, 1) if number % 2 else (1, 0):
            found[place].append(sides[place]())
    for name in found[0][0]:
        ours, theirs = (np.array([times[name] for times in side]) for side in found)
        quotient = statistic_estimate((ours / theirs).tolist(), len(ours))
        ratio, low, high = quotient.value, quotient.low, quotient.high
        times = (
            f"ours {np.median(ours) / 1e3:>11,.1f} us  theirs {np.median(theirs) / 1e3:>11,.1f} us"
        )
        print(f"{name:<36} {times}  ratio {ratio:.3f} [{low:.3f}, {high:.3f}]", flush=True)
        yield abs(ratio - 1) > (LISTED if name.startswith("000") else TOLERANCE)


def main() -> int:
    """Compare each text's arm and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("text", nargs="?", type=Path, help="the published report of text 000")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument(
        "--texts", nargs="*", default=["000", "001", "003"], help="which ones: 000, 001, 003"
    )
    fitting = max(1, min(PUBLISHED_READERS, len(os.sched_getaffinity(0)) - 1))
    parser.add_argument("--readers", type=int, default=fitting, help="how many ranks of 001 read")
    asked, off = parser.parse_args(), list[bool]()
    with tempfile.TemporaryDirectory() as folder, Launcher(Path(folder) / "ledger") as launcher:
        if asked.text and "000" in asked.texts:
            program = Path(folder) / "listing.py"
            program.write_text(listing(asked.text.read_text("utf-8")), "utf-8")
            off += compare(payload(launcher, program), asked.rounds)
        if "003" in asked.texts:
            if why := published.program_missing(published.PACKAGE):
                print(f"003 is left out: {why}")
            else:
                for sides in round_trips(launcher):
                    off += compare(sides, asked.rounds)
        if "001" in asked.texts:
            print(f"001 with {asked.readers} readers on {len(os.sched_getaffinity(0))} CPUs")
            with RankBench(launcher, 1 + asked.readers) as bench:
                off += compare(shared_dict(launcher, bench, asked.readers), asked.rounds)
    return int(any(off)) if off else SKIPPED


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as error:
        sys.exit(f"error: {error}")
