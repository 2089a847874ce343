"""Do the native limits agree with independent programs? Interleaved, in both placements; installs nothing.

usage: python benchmarks/referees.py [rounds]

Referees: sockperf (TCP, median of the full round trip, each process pinned), perf bench sched pipe (mean time of a
round trip of 4 bytes, the processes pinned one by one since a mask of two CPUs would leave the choice to the
scheduler), perf bench mem memcpy (glibc's function; its MB and GB are powers of 2). Each round runs the referee and our
limit in a random order; the result is the median over rounds of ours over theirs. Exit code 1 when one is out of bounds.
"""

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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ipclab.errors import LabError
from ipclab.machine import Source, Topology
from ipclab.placement import placements
from ipclab.studies.limits import LimitsStudy
from ipclab.workers.launcher import Launcher, Role

SECONDS = 30.0  # the deadline of every child
BUDGET_NS = 1_000_000_000
PIPE_BYTES, PIPE_LOOPS = 4, 100_000
MIB, GIB = 1 << 20, 1 << 30
MEMCPY_MIB, MEMCPY_LOOPS = 2, 10_000
ROUNDS = 5
Cpus = tuple[int, int]


@dataclass(frozen=True)
class Referee:
    """What is compared: the referee's program, both measurements in ns, and how far the ratio may be from 1."""

    name: str
    program: str
    placement: str
    theirs: Callable[[], float]
    ours: Callable[[], float]
    bound: float


def run(command: list[str], cpu: int) -> str:
    """Return what `command`, pinned to `cpu`, says; raises `LabError` when it fails or takes too long."""
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


def sockperf(size: int, cpus: Cpus) -> float:
    """Return sockperf's median TCP round trip in ns."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    where = ["--tcp", "-i", "127.0.0.1", "-p", str(port)]
    with serving(["taskset", "-c", str(cpus[0]), "sockperf", "server", *where], port):
        asked = ["sockperf", "ping-pong", *where, "-m", str(size), "-t", "1", "--full-rtt"]
        return number(r"percentile 50\.000 =\s*([\d.]+)", run(asked, cpus[1])) * 1e3


@contextmanager
def serving(command: list[str], port: int) -> Iterator[None]:
    """Run `command` until the end of the block, which begins when it listens on `port`."""
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + SECONDS
        # Looked up rather than connected to: the server would serve the probe.
        while not re.search(rf":{port:04X} \S+ 0A ", Path("/proc/net/tcp").read_text()):
            if server.poll() is not None or time.monotonic() > deadline:
                raise LabError("sockperf", "its server does not listen")
            time.sleep(0.01)
        yield
    finally:
        server.kill()
        server.wait()


def perf_pipe(cpus: Cpus) -> float:
    """Return perf's mean round trip over two pipes in ns, its two processes pinned to one CPU each."""
    command = ["taskset", "-c", str(cpus[0]), "perf", "bench", "sched", "pipe", "-l", str(PIPE_LOOPS)]
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)
        try:
            os.sched_setaffinity(child_of(process), {cpus[1]})
            process.wait(SECONDS)
        except (subprocess.TimeoutExpired, ProcessLookupError) as error:
            raise LabError("perf bench sched pipe", str(error)) from error
        finally:
            if process.poll() is None:
                with_children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
                for pid in (*map(int, with_children), process.pid):
                    os.kill(pid, 9)
                process.wait()
        said.seek(0)
        return number(r"([\d.]+) usecs/op", said.read()) * 1e3


def child_of(process: "subprocess.Popen[bytes]") -> int:
    """Return the pid of the first child of `process` as soon as it has one."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    deadline = time.monotonic() + SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        if pids := children.read_text().split():
            return int(pids[0])
        time.sleep(0.001)
    raise LabError("perf bench sched pipe", "started no second process")


def perf_memcpy(cpu: int) -> float:
    """Return perf's mean time of one copy of 2 MiB in ns."""
    command = ["perf", "bench", "mem", "memcpy", "-f", "default", "-s", f"{MEMCPY_MIB}MB", "-l", str(MEMCPY_LOOPS)]
    return MEMCPY_MIB * MIB / (number(r"([\d.]+) GB/sec", run(command, cpu)) * GIB) * 1e9


def limit(launcher: Launcher, name: str, size: int, cpus: Cpus, statistic: Callable[[list[int]], float]) -> float:
    """Return `statistic` of the samples of our limit `name`, measured as every run does."""
    arguments = {"limit": name, "size": size, "cpus": list(cpus), "budget_ns": BUDGET_NS, "op": "op"}
    role = Role("native", "ipclab.studies.limits:run", arguments, frozenset(cpus))
    return float(statistic(list(launcher.launch([role], SECONDS)["native"].samples["op"])))


def referees(launcher: Launcher) -> Iterator[Referee]:
    """Yield every comparison that the CPUs of this machine allow."""
    placed = placements(Topology.read(Source()))
    for name in (name for name in ("same", "cross") if name in placed):
        cpus = min(placed[name].role(0)), min(placed[name].role(1))

        def tcp(size: int, name: str = name, cpus: Cpus = cpus) -> Referee:
            ours = lambda: limit(launcher, "echo-tcp", size, cpus, statistics.median)  # noqa: E731
            return Referee(f"TCP {size:,} B", "sockperf", name, lambda: sockperf(size, cpus), ours, 0.15)

        yield from (tcp(100), tcp(10_000))
        yield Referee(
            *("pipe", "perf", name),
            lambda cpus=cpus: perf_pipe(cpus),  # type: ignore[misc]
            lambda cpus=cpus: limit(launcher, "echo-pipe", PIPE_BYTES, cpus, statistics.fmean),  # type: ignore[misc]
            0.15,
        )
    one = min(placed["same"].role(0))
    size = MEMCPY_MIB * MIB
    ours = lambda: limit(launcher, "memcpy", size, (one, one), statistics.fmean)  # noqa: E731
    yield Referee(f"memcpy {MEMCPY_MIB} MiB", "perf", "same", lambda: perf_memcpy(one), ours, 0.10)


def main() -> int:
    """Print the table and return the exit code."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    if not LimitsStudy().backends():
        raise LabError("the native package is not installed", "", "install cargo and run make setup")
    with tempfile.TemporaryDirectory() as ledger, Launcher(Path(ledger)) as launcher:
        everyone = list(referees(launcher))
        there = [each for each in everyone if shutil.which(each.program) and shutil.which("taskset")]
        times = measure(there, rounds)
    print(f"{'':<16} {'placement':<9} {'referee us':>11} {'ours us':>9} {'ratio':>6} {'range':>11}  bound  verdict")
    good = True
    for number_, each in enumerate(everyone):
        head = f"{each.name:<16} {each.placement:<9}"
        if number_ not in (places := {everyone.index(one): one for one in there}):
            print(f"{head} skipped: {each.program} or taskset is not installed")
            continue
        pairs = times[there.index(places[number_])]
        ratios = sorted(ours / theirs for theirs, ours in pairs)
        ratio = statistics.median(ratios)
        agrees = 1 / (1 + each.bound) <= ratio <= 1 + each.bound
        good &= agrees
        theirs, ours = (statistics.median(values) / 1e3 for values in zip(*pairs, strict=True))
        spread = f"{ratios[0]:.2f}..{ratios[-1]:.2f}"
        verdict = "agrees" if agrees else "DIFFERS"
        print(f"{head} {theirs:>11.2f} {ours:>9.2f} {ratio:>6.2f} {spread:>11} {each.bound:>5.0%}  {verdict}")
    return 0 if good else 1


def measure(there: list[Referee], rounds: int) -> list[list[tuple[float, float]]]:
    """Return for each referee its times and ours, a pair a round, taken in a random order."""
    shuffle = random.Random(rounds)
    times: list[list[tuple[float, float]]] = [[] for _ in there]
    for round_ in range(rounds):
        print(f"round {round_ + 1} of {rounds}", file=sys.stderr)
        for place in shuffle.sample(range(len(there)), len(there)):
            theirs_first = shuffle.random() < 1 / 2
            each = there[place]
            found = [call() for call in ((each.theirs, each.ours) if theirs_first else (each.ours, each.theirs))]
            times[place].append((found[0], found[1]) if theirs_first else (found[1], found[0]))
    return times


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as error:
        sys.exit(f"error: {error}")
