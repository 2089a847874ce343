"""The stream study: one producer, one to many consumers, one way, by mechanism, rate and what a consumer does."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import ClassVar

import numpy as np

from ipclab.backends import installed as registry
from ipclab.errors import UsageError
from ipclab.spawn.proof import PayloadError, check, digest, payload
from ipclab.spawn.worker import QUEUED
from ipclab.store.launch import Launch, Samples
from ipclab.store.point import Point
from ipclab.studies import arms
from ipclab.studies.interface import Bench, Bound, Outcome, Placement, Profile, Role, Site, Study, Sweep
from ipclab.studies.limits import STREAMED
from ipclab.studies.profile import PLACEMENTS
from ipclab.studies.ranks import on_ranks_or_workers
from ipclab.studies.stream.ends import DUE, MEMORY, NUMBER, PROOF_MESSAGES, RECEIVED, SENT, SEQUENCES, STAMPS, STARTS
from ipclab.studies.stream.ways import EACH, PRODUCER, carrier, consumer_role

TABLE = arms.table(Path(__file__).with_name(arms.FILE))
LEVELS = TABLE["levels"]
(STALL_NS,) = LEVELS["stall_ns"]
SWEPT = ("rate", "load", "work_ns")
INTENDED, FROM_SEND = "intended", "from-send"
PER = 1000  # a sample of `SENT` and `RECEIVED` is what so many messages take
QUICK_LAUNCHES = 9  # what a contest of all mechanisms takes at least
LEAST, MOST = 16, 200_000  # messages of a launch
OPEN_BUDGETS = 12  # an open loop runs that many times as long as a closed one, for the sake of its p99.9


class StreamStudy(Study):
    """All mechanisms over size and placement, then window, work, consumers and rate on their own."""

    name = "stream"
    factors: ClassVar = {"placement": PLACEMENTS[:2]} | {name: tuple(LEVELS[name]) for name in SWEPT}
    limits: ClassVar = {RECEIVED: Bound(ring=True)}

    def backends(self) -> tuple[str, ...]:
        return tuple(registry.ready(carrier))

    def effort(self, profile: Profile) -> Profile:
        """Return the profile with room for the many messages of a stream; the quick one with few launches."""
        most = min(QUICK_LAUNCHES, profile.most_launches) if profile.name == "quick" else profile.most_launches
        return replace(profile, most_launches=most, least_samples=max(LEAST, profile.least_samples), most_samples=MOST)

    def points(self, profile: Profile, sweep: Sweep) -> list[Point]:
        brief = profile.name in ("smoke", "quick")
        usual = LEVELS | (TABLE["brief_levels"] if brief else {})
        sizes = sorted(set(sweep.sizes or ((STREAMED[0], STREAMED[-1]) if brief else STREAMED)))
        if sizes[0] < NUMBER.size:
            few, fix = f"a stream of {sizes[0]} bytes", f"give {NUMBER.size} bytes or more"
            raise UsageError(few, "a message begins with its number", fix)
        found = [name for name in self.backends() if sweep.wants(name)]
        pinned = [placement for placement in profile.placements if placement != "free"]
        known = usual | {name: sweep.numbers(name, usual[name]) for name in SWEPT}
        known |= {"sizes": sizes, "smallest": sizes[:1], "larger": sizes[1:], "found": found, "pinned": pinned}
        known |= {"cross": pinned[-1:], "near": pinned[:-1], "around": pinned[-1:] if brief else pinned}
        return self.of_arms(found, **known)

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
        ends = [outcomes[PRODUCER], *(outcomes[consumer_role(number)] for number in range(len(outcomes) - 1))]
        made, *taken = [{op: np.frombuffer(each, np.int64) for op, each in end.samples.items()} for end in ends]
        (begun, sent), ended = made[SENT], max(int(one[RECEIVED][0]) for one in taken)
        count, seen = round(ends[0].facts["messages"]), [one[SEQUENCES] for one in taken]
        found = account(count, seen, point.levels["sharing"] == EACH)
        _prove(point, [end.proof for end in ends[1:]], seed)
        spent = {SENT: sent - begun, RECEIVED: ended - begun}
        samples: dict[str, Samples] = {op: np.array([round(ns * PER / count)], np.int64) for op, ns in spent.items()}
        samples |= {"set-up": made["opening"], "connect": np.concatenate([one["opening"] for one in taken])}
        samples |= {"connect-last": taken[-1]["opening"]} if len(taken) > 1 else {}
        samples["first-message"] = np.array([max(one["first"][1] for one in taken) - made["first"][0]], np.int64)
        samples["tear-down"] = np.concatenate([one["closing"] for one in (made, *taken)])
        for name, since in ((INTENDED, DUE), (FROM_SEND, STARTS)) if DUE in made else ():
            samples[name] = np.concatenate([one[STAMPS] - made[since][one[SEQUENCES]] for one in taken])
        counters = {SENT: ends[0].counters[SENT], RECEIVED: _sum([end.counters[RECEIVED] for end in ends[1:]])}
        facts = {**ends[0].facts, **found, "messages_per_second": count / ((ended - begun) / 1e9)}
        facts |= {f"consumers_{name}": sum(end.facts[name] for end in ends[1:]) for name in ("descriptors", MEMORY)}
        return Launch(samples, counters, facts=facts, per={SENT: PER, RECEIVED: PER})


def account(count: int, seen: Sequence[Samples], each: bool) -> dict[str, int]:
    """Return how many of messages 0 to `count` - 1 were `lost`, `duplicated` and `reordered`: none.

    `seen` are the numbers that each consumer got; `each` was to get every message, or else a message is for one of
    them. Raises `PayloadError` that says what became of them when there is one.
    """
    parts = list(seen) if each else [np.concatenate(seen)]
    different = [np.unique(part[(part >= 0) & (part < count)]) for part in parts]
    lost = sum(count - len(part) for part in different)
    duplicated = sum(len(part) for part in parts) - sum(len(part) for part in different)
    reordered = sum(int((np.diff(np.maximum.accumulate(part)) == 0).sum()) for part in seen if len(part))
    found = {"lost": lost, "duplicated": duplicated, "reordered": max(0, reordered - duplicated)}
    if wrong := ", ".join(f"{number} were {name}" for name, number in found.items() if number):
        raise PayloadError(f"of {count} messages {wrong}", "the mechanism promises each once, in order")
    return found


def _prove(point: Point, proofs: Sequence[list[str]], seed: int) -> None:
    """Raise `PayloadError` when messages of which every byte is known came wrongly; shared ones came in any order."""
    if point.levels["sharing"] == EACH:
        for proof in proofs:
            check(seed, point.size_bytes, proof, PROOF_MESSAGES)
        return
    known = [digest(payload(seed, sequence, point.size_bytes)) for sequence in range(PROOF_MESSAGES)]
    if sorted(chain.from_iterable(proofs)) != sorted(known * len(proofs)):
        raise PayloadError("messages arrived wrong", "their bytes are torn or altered, or some came twice")


def _sum(counters: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the counters of all consumers together; the share of time in a queue is their mean."""
    total = {name: sum(each[name] for each in counters) for name in counters[0]}
    return {name: value / len(counters) if name == QUEUED else value for name, value in total.items()}
