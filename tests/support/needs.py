"""Made-up runs of the study of streams whose truth is planted: times, tails, load and losses of
each mechanism.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ipclab.stats.compare import EQUIVALENCE
from ipclab.stats.intervals import statistic_estimate
from ipclab_more.choose.answer import Answer, answer_need
from ipclab_more.choose.known import Frames, Offer
from ipclab_more.choose.need import need_of

LAUNCHES = 12
LEVELS = {"arm": "main", "window": 0, "batch": 1, "load": 0, "stall_ns": 0, "work_ns": 0}
LEVELS |= {"placement": "cross", "consumers": 1, "sharing": "each"}


@dataclass(frozen=True)
class Plant:
    """A mechanism: ns of a message by size, how many times that is its p99, the CPUs that it keeps busy,
    and its faults.
    """

    times: Mapping[int, float]
    tail: float = 2.0
    cpu: float = 1.0  # CPUs that it keeps busy in a closed loop
    lost: int = 0
    drops: bool = False
    demands: tuple[str, ...] = ("one host",)
    longest: int = 1 << 30
    at: Mapping[str, Any] = field(default_factory=dict)  # levels that differ


def asked(
    plants: Mapping[str, Plant],
    need: Mapping[str, Any],
    scatter: float = 0.02,
    faults: pd.DataFrame | None = None,
) -> Answer:
    """Return the answer to `need` of a run in which `plants` were measured: closed loops, and open
    ones at its rate.
    """
    random, points, taken = np.random.default_rng(0), list[Any](), list[Any]()
    for name, plant in plants.items():
        for size in plant.times:
            for rate in {0, round(need.get("rate", 0))}:
                luck = np.exp(random.normal(0, scatter, LAUNCHES))
                head = {"study": "stream", "backend": name, "size_bytes": size, "rate": rate}
                head |= {"point": f"{name}-{size}-{rate}", **LEVELS, **plant.at}
                points += _points(head, plant, luck)
                taken += _launches(head, plant, luck)
    told = need_of(need)
    offers = []
    for name, plant in plants.items():
        too_long = max(told.size) > plant.longest
        refused = f"{plant.longest} bytes at most" if too_long else ""
        offers.append(Offer(name, plant.demands, refused))
    of_faults = pd.DataFrame() if faults is None else faults
    frames = Frames(pd.DataFrame(points), pd.DataFrame(taken), of_faults, lambda: 0.05, EQUIVALENCE)
    return answer_need(told, frames, offers)


def _op(head: Mapping[str, Any]) -> str:
    return "intended" if head["rate"] else "received"


def _points(head: Mapping[str, Any], plant: Plant, luck: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows of a point whose launches had this luck."""
    times = plant.times[head["size_bytes"]] * luck
    told = [(_op(head), "p50", "ns", times), (_op(head), "p99", "ns", times * plant.tail)]
    if head["rate"]:
        told.append(("launch", "closed_per_second", "1/s", 1e9 / times))
    facts = {
        ("sent", "busy_cpus"): plant.cpu / 2,
        ("received", "busy_cpus"): plant.cpu / 2,
        ("launch", "lost"): plant.lost,
        ("launch", "accepted"): 100,
        ("launch", "refused"): int(not plant.drops),
        ("launch", "delivered"): 60 if plant.drops else 100,
    }
    told += [(*named, "count", np.full(LAUNCHES, value)) for named, value in facts.items()]
    for op, metric, unit, values in told:
        found = statistic_estimate(values, LAUNCHES)
        row = {"op": op, "metric": metric, "unit": unit, "flags": "decided", "samples": 1000}
        row |= {"value": found.value, "low": found.low, "high": found.high, "launches": LAUNCHES}
        heats = {"heats": tuple(range(LAUNCHES)), "by_heat": tuple(map(float, values))}
        yield {**head, **row, **heats}


def _launches(head: Mapping[str, Any], plant: Plant, luck: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows of its launches."""
    row = {**head, "op": _op(head), "metric": "p50", "unit": "ns"}
    for number, value in enumerate(plant.times[head["size_bytes"]] * luck):
        yield {**row, "round": number, "value": value}
