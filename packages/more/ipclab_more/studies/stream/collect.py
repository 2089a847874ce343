"""What the ends of a stream kept, joined: each message accounted for, and all times."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ipclab.spawn.proof import PayloadError
from ipclab.spawn.worker import QUEUED
from ipclab.store.launch import BUSY, Launch, Samples
from ipclab.studies.joining import turns_together
from ipclab_more.studies.stream.base import RECEIVED, SENT
from ipclab_more.studies.stream.memory import MEMORY

INTENDED, FROM_SEND = "intended", "from-send"
PER = 1000  # a sample of `SENT` and `RECEIVED` is what so many messages take in one turn


def joined_stream(producer: Launch, consumers: Sequence[Launch], each: bool) -> Launch:
    """Return the launch of a stream from what each of its ends kept.

    `each` consumer was to get every message, or else each is for one of them.

    Raises `PayloadError` when a message of any turn was lost, came twice or out of order, in a turn
    that warms up as well.
    """
    kept = producer.samples
    seen = [end.samples["sequences"] for end in consumers]
    facts: dict[str, Any] = {**producer.facts, **account(int(kept["total"][0]), seen, each)}
    counts = kept["counts"]
    begun, sent = kept[SENT].reshape(-1, 2).T
    ended = np.max([end.samples[RECEIVED] for end in consumers], axis=0)
    samples = {
        op: np.rint(times * PER / counts).astype(np.int64)
        for op, times in ((SENT, sent - begun), (RECEIVED, ended - begun))
    }
    turns = {op: [1] * len(counts) for op in samples}
    if "due" in kept:
        _keep_latencies(producer, consumers)
        for op in (INTENDED, FROM_SEND):
            samples[op], turns[op] = turns_together(consumers, op)
    connecting = np.concatenate([end.samples["opening"] for end in consumers])
    first = np.concatenate([end.samples["first"] for end in consumers])
    samples |= {  # what is done once in a launch
        "set-up": kept["opening"],
        "connect": connecting,
        "first-message": first.max(keepdims=True) - kept["first"][0],
        "tear-down": np.concatenate([end.samples["closing"] for end in (producer, *consumers)]),
    }
    if len(consumers) > 1:
        samples["connect-last"] = connecting[-1:]
    facts["messages"] = int(counts.sum())
    facts["messages_per_second"] = int(counts.sum()) / (float((ended - begun).sum()) / 1e9)
    for name in ("numbered", "compared"):
        facts[name] = _sum([end.facts for end in consumers], name)
    for name in ("descriptors", MEMORY):
        facts[f"consumers_{name}"] = _sum([end.facts for end in consumers], name)
    received = [end.counters[RECEIVED] for end in consumers]
    total = {name: _sum(received, name) for name in received[0]}
    if len(received) > 1:  # each counts in a time of its own: shares of these have no sum
        total.pop(BUSY, None)
    if QUEUED in total:  # a share of each one's time, which ranks of MPI do not tell
        total[QUEUED] /= len(consumers)
    counters = {SENT: producer.counters[SENT], RECEIVED: total}
    return Launch(samples, counters, facts=facts, per={SENT: PER, RECEIVED: PER}, turns=turns)


def _sum(of_ends: Sequence[Mapping[str, Any]], name: str) -> Any:
    return sum(of_end[name] for of_end in of_ends)


def account(count: int, seen: Sequence[Samples], each: bool) -> dict[str, int]:
    """Return how many of messages 0 to `count` - 1 were `lost`, `duplicated` and `reordered`: none.

    `seen` are the numbers that each consumer got; `each` was to get every message, or else a
    message is for one of them. Raises `PayloadError` that says what became of them when there is
    one.
    """
    lost = duplicated = reordered = 0
    for part in seen if each else [np.concatenate(seen)]:
        different = len(np.unique(part[(part >= 0) & (part < count)]))
        lost += count - different
        duplicated += len(part) - different
    for part in seen:
        # whatever is not above all before it
        reordered += len(part) - len(np.unique(np.maximum.accumulate(part)))
    counts = {"lost": lost, "duplicated": duplicated, "reordered": max(0, reordered - duplicated)}
    if wrong := ", ".join(f"{number} were {name}" for name, number in counts.items() if number):
        why = "the mechanism promises each once, in order"
        raise PayloadError(f"of {count} messages {wrong}", why)
    return counts


def _keep_latencies(producer: Launch, consumers: Sequence[Launch]) -> None:
    """Keep with each consumer how long its messages took to come, turn by turn (ns)."""
    counts = producer.samples["counts"]
    first = np.cumsum(counts) - counts  # of each turn, among all that the producer sent
    for end in consumers:
        places = end.samples["places"] + np.repeat(first, end.turns["places"])
        for op, since in ((INTENDED, "due"), (FROM_SEND, "starts")):
            end.samples[op] = end.samples["stamps"] - producer.samples[since][places]
            end.turns[op] = end.turns["places"]
