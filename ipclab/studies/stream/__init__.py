"""The stream study: one producer, one to many consumers, one way, by mechanism, rate and what a consumer does."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ipclab.backends import installed as registry
from ipclab.backends.interface import Backend
from ipclab.errors import UsageError
from ipclab.spawn.proof import PayloadError, check, digest, payload
from ipclab.spawn.worker import QUEUED
from ipclab.store.launch import Launch, Samples
from ipclab.store.point import Point
from ipclab.studies.interface import Bench, Bound, Outcome, Placement, Profile, Role, Site, Study, Sweep
from ipclab.studies.limits import STREAMED
from ipclab.studies.profile import PLACEMENTS
from ipclab.studies.ranks import on_ranks_or_workers
from ipclab.studies.stream.account import account, check_order
from ipclab.studies.stream.held import MEMORY
from ipclab.studies.stream.plan import DUE, NUMBER, PROOF_MESSAGES, RECEIVED, SENT, SEQUENCES, STAMPS, STARTS
from ipclab.studies.stream.ways import EACH, PRODUCER, channel_of, consumer_role, store_of

SIZES, QUICK_SIZES = STREAMED, (STREAMED[0], STREAMED[-1])
RATES, QUICK_RATES, LOADS, QUICK_LOADS = (1_000, 10_000, 100_000), (10_000,), (50, 80, 95), (50, 95)
WORK_NS, WINDOWS, CONSUMERS = (10_000, 200_000), (1, 16), (2, 8)
INTENDED, FROM_SEND = "intended", "from-send"
PER = 1000  # a sample of `SENT` and `RECEIVED` is what so many messages take
QUICK_LAUNCHES = 9  # what a contest of all mechanisms takes at least
LEAST, MOST = 16, 200_000  # messages of a launch
OPEN_BUDGETS = 12  # an open loop runs that many times as long as a closed one, for the sake of its p99.9
STALL_NS = 10_000_000


class StreamStudy(Study):
    """All mechanisms over size and placement, then window, work, consumers and rate on their own."""

    name = "stream"
    factors: ClassVar = {"placement": PLACEMENTS[:2], "rate": RATES, "load": LOADS, "work_ns": WORK_NS}
    limits: ClassVar = {RECEIVED: Bound(ring=True)}

    def backends(self) -> tuple[str, ...]:
        return tuple(_found())

    def effort(self, profile: Profile) -> Profile:
        """Return the profile with room for the many messages of a stream; the quick one with few launches."""
        most = min(QUICK_LAUNCHES, profile.most_launches) if profile.name == "quick" else profile.most_launches
        return replace(profile, most_launches=most, least_samples=max(LEAST, profile.least_samples), most_samples=MOST)

    def points(self, profile: Profile, sweep: Sweep) -> list[Point]:
        brief = profile.name in ("smoke", "quick")
        sizes = sorted(set(sweep.sizes or (QUICK_SIZES if brief else SIZES)))
        if sizes[0] < NUMBER.size:
            raise UsageError(
                f"a stream of {sizes[0]} bytes", "a message begins with its number", f"give {NUMBER.size} bytes or more"
            )
        found = {name: backend for name, backend in _found().items() if sweep.wants(name)}
        pinned = [placement for placement in profile.placements if placement != "free"]
        work = sweep.numbers("work_ns", WORK_NS)
        known: dict[str, Sequence[Any]] = {"found": list(found), "sizes": sizes, "smallest": sizes[:1]}
        known |= {
            "larger": sizes[1:],
            "pinned": pinned,
            "cross": pinned[-1:],
            "near": pinned[:-1],
            "around": pinned[-1:] if brief else pinned,
        }
        known |= {"rates": sweep.numbers("rate", QUICK_RATES if brief else RATES), "work": work}
        known |= {"loads": sweep.numbers("load", QUICK_LOADS if brief else LOADS)}
        known |= {
            "windows": WINDOWS,
            "many": CONSUMERS[-1:] if brief else CONSUMERS,
            "stalls": [] if brief else [STALL_NS],
        }
        return self.of_arms(found, dict, **known)

    def missing(self, point: Point, scratch: Path) -> str | None:
        return registry.backend(point.backend).refuses(point.size_bytes)

    @contextmanager
    def open(self, site: Site, points: Sequence[Point], profile: Profile, seed: int) -> Iterator[Bench]:
        with on_ranks_or_workers(site, points, "ipclab.studies.stream.ends") as bench:
            yield bench

    def shared_memory(self, point: Point) -> int:
        """Return room for a ring each way of each consumer, each of four messages."""
        return int(point.levels["consumers"]) * 8 * (2 * point.size_bytes + (1 << 18))

    def roles(self, point: Point, profile: Profile, placement: Placement, seed: int) -> list[Role]:
        """Return the producer and its consumers, on CPUs in turn."""
        levels = {name: level for name, level in point.levels.items() if name != "arm"}
        plan = {"backend": point.backend, "size": point.size_bytes, "seed": seed, **levels, **profile.samples}
        plan |= {"fill": bool(levels["fill"]), "open_ns": OPEN_BUDGETS * profile.budget_ns}
        names = [PRODUCER, *(consumer_role(number) for number in range(int(levels["consumers"])))]
        here = "ipclab.studies.stream.ends:run"
        return [Role(name, here, plan, placement.role(index)) for index, name in enumerate(names)]

    def collect(self, point: Point, outcomes: dict[str, Outcome], seed: int) -> Launch:
        """Join what the ends kept; raises `PayloadError` when a message was lost, torn, came twice or out of order."""
        made, each = outcomes[PRODUCER], point.levels["sharing"] == EACH
        taken = [outcomes[consumer_role(number)] for number in range(len(outcomes) - 1)]
        seen = [_numbers(one, SEQUENCES) for one in taken]
        begun, sent = _numbers(made, SENT)
        ended = max(int(_numbers(one, RECEIVED)[0]) for one in taken)
        count = round(made.facts["messages"])
        found = account(count, seen, each)
        check_order(found, count)
        _prove(point, [one.proof for one in taken], seed)
        samples = {
            SENT: _per(int(sent - begun), count),
            RECEIVED: _per(ended - int(begun), count),
            **_life(made, taken),
        }
        if STAMPS in taken[0].samples:
            for name, since in ((INTENDED, DUE), (FROM_SEND, STARTS)):
                starts = _numbers(made, since)
                late = [_numbers(one, STAMPS) - starts[numbers] for one, numbers in zip(taken, seen, strict=True)]
                samples[name] = np.concatenate(late)
        counters = {SENT: made.counters[SENT], RECEIVED: _sum([one.counters[RECEIVED] for one in taken])}
        facts: dict[str, object] = {**made.facts, **found, "messages_per_second": count / ((ended - begun) / 1e9)}
        facts |= {f"consumers_{name}": sum(one.facts[name] for one in taken) for name in ("descriptors", MEMORY)}
        return Launch(samples, counters, facts=facts, per={SENT: PER, RECEIVED: PER})


def _found() -> dict[str, Backend]:
    """Return the backends that are there and stream, whether by a channel or by a store of messages."""
    there = {name: backend for name, backend in registry.backends().items() if not backend.missing()}
    return {name: each for name, each in there.items() if channel_of(each) or store_of(each)}


def _prove(point: Point, proofs: Sequence[list[str]], seed: int) -> None:
    """Raise `PayloadError` when messages of which every byte is known came wrongly; shared ones came in any order."""
    if point.levels["sharing"] == EACH:
        for proof in proofs:
            check(seed, point.size_bytes, proof, PROOF_MESSAGES)
        return
    known = [digest(payload(seed, sequence, point.size_bytes)) for sequence in range(PROOF_MESSAGES)]
    if sorted(chain.from_iterable(proofs)) != sorted(known * len(proofs)):
        raise PayloadError("messages arrived wrong", "their bytes are torn or altered, or some came twice")


def _numbers(outcome: Outcome, name: str) -> Samples:
    return np.frombuffer(outcome.samples[name], np.int64)


def _per(total_ns: int, count: int) -> Samples:
    return np.array([round(total_ns * PER / count)], np.int64)


def _life(made: Outcome, taken: Sequence[Outcome]) -> dict[str, Samples]:
    """Return what opening, the first message and closing took: ns of the producer, and of each consumer in turn."""
    sent, ends = int(_numbers(made, "first")[0]), [int(_numbers(one, "first")[1]) for one in taken]
    connect = [_numbers(one, "opening") for one in taken]
    return {
        "set-up": _numbers(made, "opening"),
        "connect": np.concatenate(connect),
        **({"connect-last": connect[-1]} if len(taken) > 1 else {}),
        "first-message": np.array([max(ends) - sent], np.int64),
        "tear-down": np.concatenate([_numbers(one, "closing") for one in (made, *taken)]),
    }


def _sum(counters: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the counters of all consumers together; the share of time in a queue is their mean."""
    total = {name: sum(each[name] for each in counters) for name in counters[0]}
    return {name: value / len(counters) if name == QUEUED else value for name, value in total.items()}
