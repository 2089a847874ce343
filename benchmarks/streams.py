"""Streams held against themselves and others: every message of many, planted stalls, the ring's
aims, and sockperf.

usage: python benchmarks/streams.py [messages] [ring messages] | referee

Sends 10^8 messages of 64 B through the ring and 10^6 through every other mechanism, and accounts
for each. Plants a stall of 10 ms, which an open loop must show on each. Then, by the best of
rounds, which no disturbance makes: the native ring over its aims, and TCP on loopback by our study
over sockperf's throughput mode (`referee`: this alone), with messages of one size, without Nagle's
delay, each process pinned. Nagle's delay, which sockperf switches on in this mode unless told not
to, is shown beside it: messages a little shorter than a segment wait for the rest of it. Exit code
1 when a message is missing or a figure is out of bounds; 3 when none is, but the referee was
skipped, which is no pass.
"""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from referees import number, run, serving

from ipclab.backends.installed import backend as find
from ipclab.errors import LabError
from ipclab.machine import Source, Topology
from ipclab.machine.placement import Placement, placements
from ipclab.spawn.heat import launch_alone
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.rank_bench import RankBench
from ipclab.spawn.started import Role
from ipclab.spawn.worker import Worker
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.studies.interface import Sweep
from ipclab.studies.joining import WAIT_NS
from ipclab.studies.profile import PROFILES
from ipclab_more.studies.stream import STALL_NS, StreamStudy
from ipclab_more.studies.stream.joined import FROM_SEND, INTENDED
from ipclab_more.studies.stream.ways import PRODUCER, consumer_role, join

SIZE, MIB, REFEREE_BYTES, PORT = 64, 1 << 20, 65_000, 18_311
BATCH, ROUNDS, SECONDS, SKIPPED = 4096, 5, 600.0, 3
ENDS = PRODUCER, consumer_role(0)
STALLED_RATE, STALLED_NS, STALL_SHOWS = 2_000, 500_000_000, 0.2
NATIVE_PER_SECOND, OVER_KERNEL, OF_MEMCPY, AGREES = 10e6, 5.0, 0.8, 0.15
STUDY, USUAL = StreamStudy(), (1_000_000, 100_000_000)


def ring(worker: Worker, count: int) -> None:
    """Be an end of a ring through which `count` numbered messages go; the consumer checks each
    one's number.
    """
    way = join(worker, "shm-ring", SIZE, 1, "each")
    words = np.zeros((BATCH, SIZE // 8), np.int64)
    words[:, 0] = np.arange(BATCH)
    seen, wrong, begun = 0, 0, time.perf_counter_ns()
    while worker.role == PRODUCER and seen < count:
        way.channel.send_many(words[: count - seen], SIZE, WAIT_NS)
        words[:, 0] += BATCH
        seen += min(BATCH, count - seen)
    while worker.role != PRODUCER and seen < count:
        got = way.channel.recv_many(words, SIZE, WAIT_NS)
        wrong += int((words[:got, 0] != np.arange(seen, seen + got)).sum())
        seen += got
    worker.outcome.facts |= {"seen": seen, "wrong": wrong, "ns": time.perf_counter_ns() - begun}
    worker.meet()
    way.close()


def launched(launcher: Launcher, point: Point, placed: Placement, **plan: Any) -> Launch:
    """Return a launch of `point` whose plan is changed by `plan`."""
    roles = STUDY.roles(point, STUDY.effort(PROFILES["quick"]), placed, 1)
    for role in roles:
        role.arguments.update({"fill": False, **plan})
    if not find(point.backend).ranks:
        return STUDY.collect(point, launcher.launch(roles, SECONDS), 1)
    with RankBench(launcher, len(roles)) as ranks:
        return STUDY.collect(point, launch_alone(ranks, point, roles, SECONDS), 1)


def accounts(
    launcher: Launcher, placed: Placement, messages: int, ring_messages: int
) -> Iterator[tuple[str, bool]]:
    """Yield a line for each mechanism, and whether every message came once and in order."""
    roles = [
        Role(name, "streams:ring", {"count": ring_messages}, placed.role(i))
        for i, name in enumerate(ENDS)
    ]
    facts = launcher.launch(roles, SECONDS)[ENDS[1]].facts
    rate, whole = (
        facts["seen"] / facts["ns"] * 1e9,
        facts["seen"] == ring_messages and not facts["wrong"],
    )
    yield (
        (
            f"{'shm-ring':<16} {facts['seen']:>12,} messages {rate:>12,.0f}/s {facts['wrong']} out"
            " of order"
        ),
        whole,
    )
    for point in (point for point in main_points(placed) if point.backend != "shm-ring"):
        try:
            facts: Any = launched(launcher, point, placed, least=messages, most=messages).facts
        except LabError as error:
            yield f"{point.backend:<16} {error}", False
            continue
        told = " ".join(f"{facts[name]} {name}" for name in ("lost", "duplicated", "reordered"))
        sent = f"{facts['messages']:>12,} messages {facts['messages_per_second']:>12,.0f}/s"
        yield f"{point.backend:<16} {sent} {told}", True


def stalls(launcher: Launcher, placed: Placement) -> Iterator[tuple[str, bool]]:
    """Yield a line for each mechanism, and whether a planted stall of its producer is its p99.9 in
    an open loop.

    That is the least of some launches, since a disturbance only adds. From when a message was sent,
    as a closed loop counts, the stall does not show.
    """
    plan = {"rate": STALLED_RATE, "stall_ns": STALL_NS, "open_ns": STALLED_NS}
    for point in main_points(placed):
        paced = replace(
            point, levels={**point.levels, **{name: plan[name] for name in ("rate", "stall_ns")}}
        )
        made = [launched(launcher, paced, placed, **plan).samples for _ in range(ROUNDS)]
        late, sent = (
            min(float(np.quantile(each[op], 0.999)) for each in made)
            for op in (INTENDED, FROM_SEND)
        )
        shows = abs(late / STALL_NS - 1) <= STALL_SHOWS and sent < late / 2
        yield (
            (
                f"{point.backend:<16} stalled: p99.9 {late / 1e6:.2f} ms since due,"
                f" {sent / 1e6:.3f} ms since sent"
            ),
            shows,
        )


def main_points(placed: Placement) -> list[Point]:
    """Return the points of small messages that stream as fast as they go, one for each mechanism."""
    points = STUDY.points(PROFILES["quick"], Sweep((SIZE,)))
    return [
        point
        for point in points
        if point.levels["arm"] == "main" and point.placement == placed.name
    ]


def aims(launcher: Launcher, placed: Placement) -> Iterator[tuple[str, bool]]:
    """Yield a line for each aim of the ring, and whether it is reached, by the best of rounds."""
    points = {
        (point.backend, point.levels["arm"]): point
        for point in STUDY.points(PROFILES["quick"], Sweep((SIZE,)))
        if point.placement == placed.name and point.levels["arm"] in ("main", "batch")
    }
    memory = "shm-", "posix-shm", "iceoryx2", "mpi-p2p"
    kernel = [key for key in points if key[1] == "main" and not key[0].startswith(memory)]
    times: dict[Any, list[float]] = {}
    for _ in range(ROUNDS):
        for key in (*kernel, ("shm-ring", "batch")):
            facts: Any = launched(launcher, points[key], placed).facts
            times.setdefault(key, []).append(float(facts["messages_per_second"]))
        for limit, size in (("flow-ring", SIZE), ("flow-ring", MIB), ("memcpy", MIB)):
            times.setdefault((limit, size), []).append(native(launcher, limit, size, placed))
    best = {key: max(values) for key, values in times.items()}
    fastest = max(kernel, key=lambda key: best[key])
    rate, over = best["flow-ring", SIZE], best["shm-ring", "batch"] / best[fastest]
    share = best["flow-ring", MIB] / best["memcpy", MIB]
    yield (
        f"native ring, {SIZE} B: {rate:,.0f} messages/s, at least {NATIVE_PER_SECOND:,.0f}",
        rate >= NATIVE_PER_SECOND,
    )
    yield (
        f"shm-ring from Python over {fastest[0]}: {over:.1f} x, at least {OVER_KERNEL:g} x",
        over >= OVER_KERNEL,
    )
    yield f"native ring, 1 MiB: {share:.2f} of memcpy, at least {OF_MEMCPY:g}", share >= OF_MEMCPY


def native(launcher: Launcher, limit: str, size: int, placed: Placement) -> float:
    """Return how many messages (or copies) a second a limit allows, by the median of its samples."""
    cpus = [min(placed.role(index)) for index in (0, 1)]
    arguments = {"limit": limit, "size": size, "cpus": cpus, "budget_ns": 100_000_000}
    done = launcher.launch(
        [Role("native", "ipclab.studies.limits:time_limit", arguments, frozenset(cpus))],
        SECONDS,
    )["native"]
    (samples,) = done.samples.values()
    return 1e9 * float(done.facts["batch"]) / float(np.median(np.frombuffer(samples, np.int64)))


def referee(launcher: Launcher, placed: Placement) -> tuple[str, bool | None]:
    """Return how TCP's throughput compares with sockperf's, and whether they agree; None when it is
    not installed.
    """
    if not shutil.which("sockperf"):
        return "sockperf: skipped, it is not installed", None
    point = Point("stream", "tcp", REFEREE_BYTES, placed.name, main_points(placed)[0].levels)
    where = ["--tcp", "-i", "127.0.0.1", "-p", str(PORT)]
    receiving, sending = (min(placed.role(index)) for index in (1, 0))
    # it turns round what is usual, which in this mode is Nagle's delay
    nagle, without = (), ("--tcp-avoid-nodelay",)
    rates: list[list[float]] = []
    for _ in range(ROUNDS):
        facts: Any = launched(launcher, point, placed, budget_ns=500_000_000).facts
        rates.append([float(facts["messages_per_second"])])
        for options in (without, nagle):
            with serving(["taskset", "-c", str(receiving), "sockperf", "server", *where], PORT):
                asked = [
                    "sockperf",
                    "throughput",
                    *where,
                    "-m",
                    str(REFEREE_BYTES),
                    "-t",
                    "1",
                    *options,
                ]
                rates[-1].append(number(r"Message Rate is ([\d.]+)", run(asked, sending)))
    ours, theirs, delayed = map(max, zip(*rates, strict=True))
    ratio, median = ours / theirs, float(np.median([one / other for one, other, _ in rates]))
    told = (
        f"TCP, {REFEREE_BYTES:,} B, over sockperf throughput: {ratio:.2f} by the best, {median:.2f}"
        " by the median"
    )
    return (
        f"{told}, within {AGREES:.0%}; sockperf with Nagle's delay: {delayed / theirs:.2f}",
        abs(ratio - 1) <= AGREES,
    )


def main() -> int:
    """Print what was found and return the exit code."""
    alone = sys.argv[1:] == ["referee"]
    messages, ring_messages = (
        USUAL if alone else map(int, (*sys.argv[1:], *USUAL[len(sys.argv) - 1 :]))
    )
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    )
    placed = placements(Topology.read(Source()))
    if "cross" not in placed:
        raise LabError("this takes two CPUs", "this process may use one", "")
    fine = True
    cross = placed["cross"]
    with tempfile.TemporaryDirectory() as ledger, Launcher(Path(ledger)) as launcher:
        own = (
            accounts(launcher, cross, messages, ring_messages),
            stalls(launcher, cross),
            aims(launcher, cross),
        )
        for line, good in chain(*() if alone else own):
            print(line if good else f"{line}  FAILS", flush=True)
            fine &= good
        line, agrees = referee(launcher, cross)
    print(line if agrees is not False else f"{line}  DIFFERS")
    return 1 if agrees is False or not fine else 0 if agrees else SKIPPED


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as error:
        sys.exit(f"error: {error}")
