"""Is our posix-shm as fast as the package it follows, shm-rpc-bridge 0.2.4? Interleaved, in both placements.

usage: python benchmarks/rivals.py [launches]

Both hand raw bytes through two segments and four named semaphores; the rival is used through its transport, without its
RPC and JSON on top, so that the comparison favours it. Each launch is a fresh pair of processes; the order is random.
Prints our median round trip, theirs and the comparison; exit code 1 when ours is slower anywhere, or less than twice as
fast with 100 bytes on one CPU. Skips, with exit code 0, when the rival is not installed (it is not a dependency).
"""

import importlib.metadata
import os
import random
import statistics
import sys
import tempfile
from collections.abc import Callable
from itertools import product
from pathlib import Path
from time import perf_counter_ns as clock

from ipclab.errors import LabError
from ipclab.machine import Source, Topology
from ipclab.machine.placement import Placement, placements
from ipclab.spawn.launcher import Launcher, Role
from ipclab.spawn.proof import payload
from ipclab.spawn.worker import Worker, zeros
from ipclab.stats.compare import SLOWER, Side, by_round, compare
from ipclab.studies.round_trip.ends import opened

RIVAL, VERSION = "shm-rpc-bridge", "0.2.4"
OURS = "posix-shm"
SIZES = (100, 10_000, 500_000, 2_000_000)
LAUNCHES = 12
WAIT_NS = 10_000_000_000
SECONDS = 60.0
WARM_UP, LEAST, MOST, BUDGET_NS = 20, 30, 1_000, 30_000_000
TWICE = 2.0
HERE = Path(__file__).stem


def serve(worker: Worker, name: str, size: int) -> None:
    """Echo until the asking end has said how much and got it."""
    if name == OURS:
        with opened(worker, OURS, size, "block") as channel:
            echo(worker, lambda: channel.recv(WAIT_NS), lambda data: channel.send(data, WAIT_NS))
        return
    from shm_rpc_bridge.transport.transport_posix import SharedMemoryTransportPosix as Transport

    transport = Transport.create(worker.name("rival"), size + Transport.HEADER_SIZE, WAIT_NS / 1e9)
    try:
        worker.meet()
        echo(worker, transport.receive_request, transport.send_response)
    finally:
        transport.close()


def echo(worker: Worker, recv: Callable[[], bytes], send: Callable[[bytes], None]) -> None:
    """Echo the warm-up, then as many messages as the asking end publishes."""
    for _ in range(WARM_UP):
        send(recv())
    for _ in range(worker.meet()["client"]["count"]):
        send(recv())
    worker.meet()


def ask(worker: Worker, name: str, size: int) -> None:
    """Warm up, agree on a count, and time that many round trips in ns."""
    content = payload(1, 0, size)
    if name == OURS:
        with opened(worker, OURS, size, "block") as channel:
            loop(worker, content, lambda data: channel.send(data, WAIT_NS), lambda: channel.recv(WAIT_NS))
        return
    from shm_rpc_bridge.transport.transport_posix import SharedMemoryTransportPosix as Transport

    worker.meet()
    transport = Transport.open(worker.name("rival"), size + Transport.HEADER_SIZE, WAIT_NS / 1e9)
    try:
        loop(worker, content, transport.send_request, transport.receive_response)
    finally:
        transport.close()


def loop(worker: Worker, content: bytes, send: Callable[[bytes], None], recv: Callable[[], bytes]) -> None:
    """Time round trips of `content`; raises `ValueError` when the last answer is not what was asked."""
    start = clock()
    for _ in range(WARM_UP):
        send(content)
        recv()
    count = min(MOST, max(LEAST, BUDGET_NS * WARM_UP // (clock() - start)))
    worker.meet(count=count)
    stamps = zeros(count)
    for i in range(count):
        start = clock()
        send(content)
        answer = recv()
        stamps[i] = clock() - start
    worker.meet()
    worker.outcome.samples["round-trip"] = stamps
    if answer != content:
        raise ValueError("the answer is not what was asked")


def measure(launcher: Launcher, placement: Placement, size: int, launches: int, shuffle: random.Random) -> list[Side]:
    """Return our launches and theirs, a pair a round in random order."""
    medians: dict[str, list[float]] = {OURS: [], RIVAL: []}
    for _ in range(launches):
        for name in shuffle.sample(sorted(medians), 2):
            arguments = {"name": name, "size": size}
            roles = [
                Role("server", f"{HERE}:serve", arguments, placement.role(0)),
                Role("client", f"{HERE}:ask", arguments, placement.role(1)),
            ]
            outcome = launcher.launch(roles, SECONDS)["client"]
            medians[name].append(statistics.median(outcome.samples["round-trip"]))
    return [Side(values, {"placement": placement.name, "size": size}) for values in medians.values()]


def installed() -> str | None:
    """Return why the rival cannot be measured, None when it can."""
    try:
        found = importlib.metadata.version(RIVAL)
    except importlib.metadata.PackageNotFoundError:
        return f"{RIVAL} is not installed"
    return None if found == VERSION else f"{RIVAL} {found} is installed, {VERSION} is what is compared"


def main() -> int:
    """Print the table and return the exit code."""
    if why := installed():
        print(f"skipped: {why}")
        return 0
    # Workers are told the name of this file: its folder must be on their path.
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    launches = int(sys.argv[1]) if len(sys.argv) > 1 else LAUNCHES
    placed = placements(Topology.read(Source()))
    cells = list(product([name for name in ("same", "cross") if name in placed], SIZES))
    sides = []
    with tempfile.TemporaryDirectory() as ledger, Launcher(Path(ledger)) as launcher:
        try:
            for name, size in cells:
                print(f"{name} {size:,} B", file=sys.stderr)
                ours, theirs = measure(launcher, placed[name], size, launches, random.Random(size))
                sides.append(by_round(theirs, ours))
        finally:
            # The rival puts its own letters before the names, so that the session does not know them.
            for left in Path("/dev/shm").glob(f"*srb_{launcher.session.id}-*"):
                left.unlink(missing_ok=True)
    print("placement      size  theirs, us   ours, us  theirs/ours  ours is")
    good = True
    for (name, size), (theirs, ours) in zip(cells, sides, strict=True):
        found = compare(theirs, ours)
        middle = [statistics.median(side.medians) for side in (theirs, ours)]
        times = middle[0] / middle[1]
        good &= found.verdict != SLOWER and (times >= TWICE or (name, size) != ("same", SIZES[0]))
        figures = f"{middle[0] / 1e3:>11.1f} {middle[1] / 1e3:>10.1f} {times:>12.2f}"
        print(f"{name:<9} {size:>9,} {figures}  {found.verdict} ({found.reason})")
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as error:
        sys.exit(f"error: {error}")
