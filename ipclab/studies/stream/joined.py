"""What the ends of a stream kept, joined: every message accounted for, and the times of turns and
messages.
"""

from collections.abc import Sequence
from operator import itemgetter

import numpy as np

from ipclab.spawn.proof import PayloadError
from ipclab.spawn.worker import QUEUED, Outcome
from ipclab.store.launch import Launch, Samples
from ipclab.studies.stream.ends import (
    CLOSING,
    COUNTS,
    DUE,
    FIRST,
    MEMORY,
    OPENING,
    PLACES,
    RECEIVED,
    SENT,
    SEQUENCES,
    STAMPS,
    STARTS,
    TOTAL,
)

INTENDED, FROM_SEND = "intended", "from-send"
PER = 1000  # a sample of `SENT` and `RECEIVED` is what so many messages take in one turn


def joined(producer: Outcome, consumers: Sequence[Outcome], each: bool) -> Launch:
    """Return the launch of a stream; `each` consumer was to get every message, or else each is for
    one of them.

    Raises `PayloadError` when a message of any turn was lost, came twice or out of order, in a turn
    that warms up as well.
    """
    made, *taken = [_arrays(end) for end in (producer, *consumers)]
    accounted = account(int(made[TOTAL][0]), [one[SEQUENCES] for one in taken], each)
    begun, sent = made[SENT][0::2], made[SENT][1::2]
    ended = np.max([one[RECEIVED] for one in taken], axis=0)
    counts = made[COUNTS]
    samples: dict[str, Samples] = {}
    for op, times in ((SENT, sent - begun), (RECEIVED, ended - begun)):
        samples[op] = np.rint(times * PER / counts).astype(np.int64)
    turns = {op: [1] * len(counts) for op in samples}
    if DUE in made:
        for op, since in ((INTENDED, DUE), (FROM_SEND, STARTS)):
            by_turn = _latencies(producer, consumers, since)
            samples[op] = np.concatenate(by_turn)
            turns[op] = [len(turn) for turn in by_turn]
    facts = {**producer.facts, **accounted, "messages": int(counts.sum())}
    facts["messages_per_second"] = facts["messages"] / (float((ended - begun).sum()) / 1e9)
    for name in ("descriptors", MEMORY):
        facts[f"consumers_{name}"] = sum(end.facts[name] for end in consumers)
    counters = {
        SENT: producer.counters[SENT],
        RECEIVED: _sum([end.counters[RECEIVED] for end in consumers]),
    }
    per = {SENT: PER, RECEIVED: PER}
    return Launch(samples | _once(made, taken), counters, facts=facts, per=per, turns=turns)


def account(count: int, seen: Sequence[Samples], each: bool) -> dict[str, int]:
    """Return how many of messages 0 to `count` - 1 were `lost`, `duplicated` and `reordered`: none.

    `seen` are the numbers that each consumer got; `each` was to get every message, or else a
    message is for one of them. Raises `PayloadError` that says what became of them when there is
    one.
    """
    parts = list(seen) if each else [np.concatenate(seen)]
    different = [np.unique(part[(part >= 0) & (part < count)]) for part in parts]
    lost = sum(count - len(part) for part in different)
    duplicated = sum(len(part) for part in parts) - sum(len(part) for part in different)
    reordered = sum(
        int((np.diff(np.maximum.accumulate(part)) == 0).sum()) for part in seen if len(part)
    )
    counts = {"lost": lost, "duplicated": duplicated, "reordered": max(0, reordered - duplicated)}
    if wrong := ", ".join(f"{number} were {name}" for name, number in counts.items() if number):
        raise PayloadError(
            f"of {count} messages {wrong}", "the mechanism promises each once, in order"
        )
    return counts


def _arrays(end: Outcome) -> dict[str, Samples]:
    return {op: np.frombuffer(values, np.int64) for op, values in end.samples.items()}


def _by_turn(end: Outcome, op: str) -> list[Samples]:
    """Return the values that `end` kept of `op` in each turn."""
    values: Samples = np.frombuffer(end.samples[op], np.int64)
    return np.split(values, np.cumsum(end.turns[op])[:-1])


def _latencies(producer: Outcome, consumers: Sequence[Outcome], since: str) -> list[Samples]:
    """Return for each turn how long messages took to come, since what the producer kept as `since`
    (ns).
    """
    by_turn = _by_turn(producer, since)
    parts: list[list[Samples]] = [[] for _ in by_turn]
    for end in consumers:
        came = zip(_by_turn(end, PLACES), _by_turn(end, STAMPS), strict=True)
        for turn, (places, stamps) in enumerate(came):
            parts[turn].append(stamps - by_turn[turn][places])
    return [np.concatenate(part) for part in parts]


def _once(made: dict[str, Samples], taken: Sequence[dict[str, Samples]]) -> dict[str, Samples]:
    """Return the samples of what is done once in a launch: begin, send a first message, end."""
    connecting = np.concatenate([one[OPENING] for one in taken])
    last = max(int(one[FIRST][1]) for one in taken)
    samples = {
        "set-up": made[OPENING],
        "connect": connecting,
        "first-message": np.array([last - made[FIRST][0]], np.int64),
        "tear-down": np.concatenate([one[CLOSING] for one in (made, *taken)]),
    }
    if len(taken) > 1:
        samples["connect-last"] = connecting[-1:]
    return samples


def _sum(counters: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the counters of all consumers together; the share of time in a queue is their mean."""
    total = {name: sum(map(itemgetter(name), counters)) for name in counters[0]}
    return {
        name: value / len(counters) if name == QUEUED else value for name, value in total.items()
    }
