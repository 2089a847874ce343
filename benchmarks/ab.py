"""What `ipclab ab` is worth on this machine: python benchmarks/ab.py [--tries 20] [--seconds 20]
[KIND ...].

Kinds: `identical` (two names of one echo), `planted` (a tenth more exchanges, as the calibration
plants it), and `disturbed` (either in turn, while a busy neighbour starts on the same CPU after the
fourth round). Prints each try, then for each kind how many were right, wrong and undecided, and how
long they took.
"""

import argparse
import os
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack

from ipclab.machine import Source, Topology
from ipclab.machine.placement import placements
from ipclab.measure.progress import Progress
from ipclab.paths import checkout
from ipclab.spawn.launcher import Launcher
from ipclab.stats.compare import EQUIVALENCE, SAME, SLOWER, UNDECIDED
from ipclab_answers.ab.arms import Asked, tried
from ipclab_answers.ab.point import Wanted
from ipclab_answers.ab.report import ratio
from ipclab_answers.ab.trial import Answer

IDENTICAL, PLANTED = ("echo-1", "echo-2"), ("echo-1", "echo-slower")
KINDS = {"identical": [IDENTICAL], "planted": [PLANTED], "disturbed": [IDENTICAL, PLANTED]}
RIGHT = {IDENTICAL: SAME, PLANTED: SLOWER}
START_AFTER, DEADLINE = 4, 10
BUSY = (
    "import os, sys; os.sched_setaffinity(0, [int(sys.argv[1])])\nwhile os.getppid() =="
    " int(sys.argv[2]): pass"
)


class Neighbour(Progress):
    """Keeps a CPU busy from a round on."""

    def __init__(self, cpu: int, processes: ExitStack) -> None:
        self.cpu, self.processes, self.rounds = cpu, processes, 0

    def step(self, count: int = 1) -> None:
        """Start after the fourth round."""
        self.rounds += count
        if self.rounds == START_AFTER:
            command = [sys.executable, "-c", BUSY, str(self.cpu), str(os.getpid())]
            self.processes.callback(subprocess.Popen(command).kill)


def once(names: tuple[str, str], disturbed: bool, seconds: float, seed: int) -> Answer:
    """Return the answer of one trial of two calibrating echoes on one CPU."""
    cpus = placements(Topology.read(Source()))["same"].role(0)
    arms = Asked(Wanted("calibration", ""), cpus).arms(names)
    with ExitStack() as processes, Launcher(checkout().ledger) as launcher:
        progress = Neighbour(min(cpus), processes) if disturbed else Progress()
        how = {"seconds": seconds, "bound": EQUIVALENCE, "seed": seed, "progress": progress}
        return tried(arms, launcher, "same", DEADLINE, **how)


def main() -> None:
    """Try each kind and print what was seen."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--tries", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=20)
    given = parser.parse_args()
    if unknown := set(given.kinds) - KINDS.keys():
        parser.error(f"unknown kind {min(unknown)!r}; there are {', '.join(KINDS)}")
    for kind in given.kinds or KINDS:
        counts, took = Counter[str](), []
        for number in range(given.tries):
            names = KINDS[kind][number % len(KINDS[kind])]
            answer = once(names, kind == "disturbed", given.seconds, number)
            verdict = {RIGHT[names]: "right", UNDECIDED: UNDECIDED}.get(answer.verdict, "wrong")
            counts[verdict] += 1
            took.append(answer.seconds)
            told = f"{answer.verdict} {answer.reason} {ratio(answer.compared)}"
            print(
                f"{kind} {names[1]}: {verdict}: {told}, {answer.taken.rounds} rounds,"
                f" {answer.seconds:.1f} s",
                flush=True,
            )
        print(f"{kind}: {dict(counts)} of {given.tries}, longest {max(took):.1f} s\n", flush=True)


if __name__ == "__main__":
    main()
