"""What `ipclab ab` is worth on this machine: python benchmarks/ab.py [--tries 20] [--seconds 20]
[KIND ...].

Kinds: `identical` (two names of one echo), `planted` (a tenth more exchanges, as the calibration
plants it), and `disturbed` (either in turn, while a busy neighbour starts on the same CPU after the
fourth round). Prints each try, then for each kind how many were right, wrong and undecided, and how
long they took. With `--sessions 2` a try is what two sessions show together, as `ab combine` says.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from ipclab.machine import Source, Topology
from ipclab.machine.placement import placements
from ipclab.measure.progress import Progress
from ipclab.paths import checkout
from ipclab.spawn.launcher import Launcher
from ipclab.stats.compare import EQUIVALENCE, SAME, SLOWER, UNDECIDED
from ipclab_answers.ab.asked import Asked
from ipclab_answers.ab.point import Wanted
from ipclab_answers.ab.report import Report, ratio
from ipclab_answers.ab.sessions import combined, save
from ipclab_answers.ab.side_by_side import tried
from ipclab_answers.ab.trial import AGAIN, A, Answer, B

IDENTICAL, PLANTED = ("echo-a", "echo-b"), ("echo-a", "echo-slower")
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


def shown(names: tuple[str, str], answers: list[Answer]) -> tuple[str, str]:
    """Return the verdict of one session, or of several together, and what they showed."""
    if len(answers) == 1:
        (answer,) = answers
        told = f"{answer.verdict} {answer.reason} {ratio(answer.compared)}"
        return answer.verdict, f"{told}, {len(answer.rounds)} rounds"
    labels = {A: names[0], B: names[1], AGAIN: names[0]}
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{number}.json" for number in range(len(answers))]
        for answer, file in zip(answers, files, strict=True):
            save(Report(answer, labels, "ns"), file)
        together = combined(files)
    return together.verdict, together.line()


def main() -> None:
    """Try each kind and print what was seen."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--tries", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--sessions", type=int, default=1)
    given = parser.parse_args()
    if unknown := set(given.kinds) - KINDS.keys():
        parser.error(f"unknown kind {min(unknown)!r}; there are {', '.join(KINDS)}")
    for kind in given.kinds or KINDS:
        counts, took = Counter[str](), []
        for number in range(given.tries):
            names = KINDS[kind][number % len(KINDS[kind])]
            answers = []
            for session in range(given.sessions):
                seed = number * given.sessions + session
                answers.append(once(names, kind == "disturbed", given.seconds, seed))
            verdict, told = shown(names, answers)
            outcome = {RIGHT[names]: "right", UNDECIDED: UNDECIDED}.get(verdict, "wrong")
            counts[outcome] += 1
            took.append(sum(answer.seconds for answer in answers))
            print(f"{kind} {names[1]}: {outcome}: {told}, {took[-1]:.1f} s", flush=True)
        print(f"{kind}: {dict(counts)} of {given.tries}, longest {max(took):.1f} s\n", flush=True)


if __name__ == "__main__":
    main()
