"""Do the native limits agree with independent programs? Interleaved, in both placements.

usage: python benchmarks/referees.py [rounds]

Referees: sockperf (TCP and UDP, median of the full round trip, each process pinned), perf bench
sched pipe (mean time of a round trip of 4 bytes, the processes pinned one by one since a mask of
two CPUs would leave the choice to the scheduler), perf bench mem memcpy (glibc's function; its MB
and GB are powers of 2). Each round runs the referee and our limit in a random order. What was found
is written beside the machine's runs, and the next run keeps it. Exit code 1 when one is out of
bounds; 3 when none is, but some were skipped, which is no pass.
"""

import datetime as dt
import os
import random
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec

from ipclab.errors import LabError
from ipclab.machine import Source, Topology, collect
from ipclab.machine.placement import placements
from ipclab.paths import checkout
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.started import Role
from ipclab.store.files import dump_json, write_whole
from ipclab.store.referees import FILE, SCHEMA, Found, Referees
from ipclab.studies.limits import LimitsStudy

SECONDS = 30.0  # the deadline of every child
BUDGET_NS = 1_000_000_000
PIPE_BYTES, PIPE_LOOPS = 4, 20_000  # as many as ours, which may see the same machine
MIB, GIB = 1 << 20, 1 << 30
MEMCPY_MIB, MEMCPY_LOOPS = 2, 10_000
ROUNDS = 5
SKIPPED = 3  # the exit code where nothing differs, but not every referee was asked
Cpus = tuple[int, int]


@dataclass(frozen=True)
class Referee:
    """What is compared: the referee's program, both measurements in ns, and how far the ratio may
    be from 1.

    `settle` makes one figure of all rounds: the median, or for a mean over many operations, which a
    disturbance only ever lengthens, the smallest.
    """

    name: str
    program: str
    placement: str
    theirs: Callable[[], float]
    ours: Callable[[], float]
    settle: Callable[[Sequence[float]], float]
    bound: float

    def missing(self) -> str | None:
        """Return which program is not installed, None when all are there."""
        for name in (self.program, "taskset"):
            if not shutil.which(name):
                return f"{name} is not installed"
        return None


def run(command: list[str], cpu: int) -> str:
    """Return what `command`, pinned to `cpu`, says; raises `LabError` when it fails or takes too
    long.
    """
    pinned = ["taskset", "-c", str(cpu), *command]
    try:
        done = subprocess.run(pinned, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise LabError(command[0], f"did not end within {SECONDS:g} s") from error
    if done.returncode:
        raise LabError(command[0], (done.stderr or done.stdout).strip()[-200:])
    return done.stdout


def number(pattern: str, text: str) -> float:
    """Return the number that `pattern` finds in `text`; raises `LabError` when there is none."""
    found = re.search(pattern, text)
    if found is None:
        raise LabError("the referee's answer cannot be read", text.strip()[-200:])
    return float(found[1])


def sockperf(over: str, size: int, cpus: Cpus) -> float:
    """Return sockperf's median round trip over tcp or udp in ns."""
    kind = socket.SOCK_STREAM if over == "tcp" else socket.SOCK_DGRAM
    with socket.socket(type=kind) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    where = ["--tcp"] * (over == "tcp") + ["-i", "127.0.0.1", "-p", str(port)]
    with serving(["taskset", "-c", str(cpus[0]), "sockperf", "server", *where], port, over):
        asked = ["sockperf", "ping-pong", *where, "-m", str(size), "-t", "1", "--full-rtt"]
        return number(r"percentile 50\.000 =\s*([\d.]+)", run(asked, cpus[1])) * 1e3


@contextmanager
def serving(command: list[str], port: int, over: str) -> Iterator[None]:
    """Run `command` until the end of the block, which begins when it listens on `port` of tcp or
    udp.
    """
    waits = {"tcp": "0A", "udp": "07"}[over]  # its state in /proc/net
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + SECONDS
        # Looked up rather than connected to: the server would serve the probe.
        while not re.search(rf":{port:04X} \S+ {waits} ", Path(f"/proc/net/{over}").read_text()):
            if server.poll() is not None or time.monotonic() > deadline:
                raise LabError("sockperf", "its server does not listen")
            time.sleep(0.01)
        yield
    finally:
        server.kill()
        server.wait()


def perf_pipe(cpus: Cpus) -> float:
    """Return perf's mean round trip over two pipes in ns, its two processes pinned to one CPU each."""
    command = f"taskset -c {cpus[0]} perf bench sched pipe -l {PIPE_LOOPS}".split()
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)
        try:
            os.sched_setaffinity(child_of(process), {cpus[1]})
            process.wait(SECONDS)
        except (subprocess.TimeoutExpired, ProcessLookupError) as error:
            raise LabError("perf bench sched pipe", str(error)) from error
        finally:
            if process.poll() is None:
                for pid in (*map(int, children(process).read_text().split()), process.pid):
                    os.kill(pid, 9)
                process.wait()
        said.seek(0)
        return number(r"([\d.]+) usecs/op", said.read()) * 1e3


def children(process: "subprocess.Popen[bytes]") -> Path:
    """Return the file that tells the children of `process`."""
    return Path(f"/proc/{process.pid}/task/{process.pid}/children")


def child_of(process: "subprocess.Popen[bytes]") -> int:
    """Return the pid of the first child of `process` as soon as it has one."""
    deadline = time.monotonic() + SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        if pids := children(process).read_text().split():
            return int(pids[0])
        time.sleep(0.001)
    raise LabError("perf bench sched pipe", "started no second process")


def perf_memcpy(cpu: int) -> float:
    """Return perf's mean time of one copy of 2 MiB in ns."""
    command = f"perf bench mem memcpy -f default -s {MEMCPY_MIB}MB -l {MEMCPY_LOOPS}".split()
    return MEMCPY_MIB * MIB / (number(r"([\d.]+) GB/sec", run(command, cpu)) * GIB) * 1e9


def limit(
    launcher: Launcher, name: str, size: int, cpus: Cpus, statistic: Callable[[list[int]], float]
) -> float:
    """Return `statistic` of the samples of our limit `name`, measured as every run does."""
    arguments = {"limit": name, "size": size, "cpus": list(cpus), "budget_ns": BUDGET_NS}
    role = Role("native", "ipclab.studies.limits:time_limit", arguments, frozenset(cpus))
    (samples,) = launcher.launch([role], SECONDS)["native"].samples.values()
    return float(statistic(list(samples)))


def referees(launcher: Launcher) -> Iterator[Referee]:
    """Yield every comparison that the CPUs of this machine allow."""
    placed = placements(Topology.read(Source()))
    for name in (name for name in ("same", "cross") if name in placed):
        cpus = min(placed[name].role(0)), min(placed[name].role(1))
        for over, size in (("tcp", 100), ("tcp", 10_000), ("udp", 100), ("udp", 10_000)):
            ours = partial(limit, launcher, f"echo-{over}", size, cpus, statistics.median)
            theirs = partial(sockperf, over, size, cpus)
            called = f"{over.upper()} {size:,} B"
            yield Referee(called, "sockperf", name, theirs, ours, statistics.median, 0.15)
        ours = partial(limit, launcher, "echo-pipe", PIPE_BYTES, cpus, statistics.fmean)
        yield Referee("pipe", "perf", name, partial(perf_pipe, cpus), ours, min, 0.15)
    cpu, size = min(placed["same"].role(0)), MEMCPY_MIB * MIB
    ours = partial(limit, launcher, "memcpy", size, (cpu, cpu), statistics.fmean)
    yield Referee(
        f"memcpy {MEMCPY_MIB} MiB", "perf", "same", partial(perf_memcpy, cpu), ours, min, 0.10
    )


def measure(there: Sequence[Referee], rounds: int) -> list[tuple[list[float], list[float]]]:
    """Return for each referee its times and ours in ns, one a round each, taken in a random order."""
    shuffle = random.Random(rounds)
    times: list[tuple[list[float], list[float]]] = [([], []) for _ in there]
    for number_of in range(rounds):
        print(f"round {number_of + 1} of {rounds}", file=sys.stderr)
        for place in shuffle.sample(range(len(there)), len(there)):
            # Both of a pair stay together, so that they meet the same machine.
            for side in shuffle.sample((0, 1), 2):
                times[place][side].append((there[place].theirs, there[place].ours)[side]())
    return times


def line(each: Referee, found: Found, theirs: list[float], ours: list[float]) -> str:
    """Return the line of the table."""
    ratios = [one / other for one, other in zip(ours, theirs, strict=True)]
    times = (
        f"{each.settle(theirs) / 1e3:>10.2f} {each.settle(ours) / 1e3:>10.2f} {found.ratio:>6.2f}"
    )
    spread = f"{min(ratios):.2f}..{max(ratios):.2f}"
    return f"{times} {spread:>11} {each.bound:>6.0%}  {'agrees' if found.agrees else 'DIFFERS'}"


def told(each: Referee, theirs: Sequence[float], ours: Sequence[float]) -> Found:
    """Return what is kept of a comparison; without times, why it was skipped."""
    head = each.name, each.program, each.placement, each.bound
    ratio = each.settle(ours) / each.settle(theirs) if theirs else None
    return Found(*head, ratio, "" if theirs else each.missing() or "")


def main() -> int:
    """Print the table and return the exit code."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    if not LimitsStudy().backends():
        fix = "install cargo and run make setup"
        raise LabError("the native package is not installed", "", fix)
    with tempfile.TemporaryDirectory() as ledger, Launcher(Path(ledger)) as launcher:
        everyone = list(referees(launcher))
        there = [each for each in everyone if each.missing() is None]
        times = measure(there, rounds)
    print(f"{'':<14} placement  theirs, us   ours, us  ratio       range  bound")
    every: list[Found] = []
    for each in everyone:
        pair = times[there.index(each)] if each in there else ([], [])
        found = told(each, *pair)
        text = line(each, found, *pair) if each in there else f"skipped: {found.skipped}"
        print(f"{each.name:<14} {each.placement:<9} {text}")
        every.append(found)
    return kept(every)


def kept(every: list[Found]) -> int:
    """Write what was found beside the machine's runs and return the exit code."""
    answers = Referees(dt.datetime.now(dt.UTC).isoformat(timespec="seconds"), every, SCHEMA)
    target = checkout().runs / collect().digest / FILE
    write_whole(target, dump_json(msgspec.to_builtins(answers)))
    agree = sum(found.agrees for found in every)
    counts = f"{answers.differ} differ, {answers.skipped} were skipped"
    print(f"{agree} of {len(every)} agree, {counts}; kept in {target}")
    if answers.differ:
        return 1
    return SKIPPED if answers.skipped else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as error:
        sys.exit(f"error: {error}")
