"""Made-up runs of the study of streams whose truth is planted: times, tails, load and losses of
each mechanism.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ipclab.stats.intervals import statistic_estimate
from ipclab_more.choose.answer import Answer, answer_need
from ipclab_more.choose.known import Frames
from ipclab_more.choose.need import need_of
from ipclab_more.choose.promises import Offer

LEVELS = {
    "arm": "main",
    "window": 0,
    "batch": 1,
    "load": 0,
    "stall_ns": 0,
    "work_ns": 0,
    "placement": "cross",
}


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
    seed: int = 0,
    scatter: float = 0.02,
    launches: int = 12,
    faults: pd.DataFrame | None = None,
) -> Answer:
    """Return the answer to `need` of a run in which `plants` were measured: closed loops, and open
    ones at its rate.
    """
    random, points, taken = np.random.default_rng(seed), [], []
    for name, plant in plants.items():
        for size, ns in plant.times.items():
            for rate in {0, round(need.get("rate", 0))}:
                luck = np.exp(random.normal(0, scatter, launches))
                made = _rows(name, plant, size, ns, rate, luck)
                points += made[0]
                taken += made[1]
    largest = max(need_of(need).size)
    offers = []
    for name, plant in plants.items():
        refused = f"{plant.longest} bytes at most" if largest > plant.longest else ""
        offers.append(Offer(name, plant.demands, refused))
    told = pd.DataFrame() if faults is None else faults
    return answer_need(
        need_of(need),
        Frames(pd.DataFrame(points), pd.DataFrame(taken), faults=told, seconds=lambda: 0.05),
        offers,
    )


def _rows(
    name: str, plant: Plant, size: int, ns: float, rate: int, luck: Any
) -> tuple[list[Any], list[Any]]:
    levels = {"consumers": 1, "sharing": "each", "rate": rate, **LEVELS, **plant.at}
    head = {
        "study": "stream",
        "backend": name,
        "size_bytes": size,
        "point": f"{name}-{size}-{rate}",
        **levels,
    }
    op = "intended" if rate else "received"
    times = {"p50": ns * luck, "p99": ns * plant.tail * luck}
    told = [(op, metric, "ns", values) for metric, values in times.items()]
    told += [
        (end, "busy_cpus", "count", np.full(len(luck), plant.cpu / 2))
        for end in ("sent", "received")
    ]
    told += [("launch", "closed_per_second", "1/s", 1e9 / (ns * luck))] if rate else []
    facts = {
        "lost": plant.lost,
        "accepted": 100,
        "refused": int(not plant.drops),
        "delivered": 60 if plant.drops else 100,
    }
    told += [
        ("launch", metric, "count", np.full(len(luck), value)) for metric, value in facts.items()
    ]
    points = []
    for each, metric, unit, values in told:
        found = statistic_estimate(values, len(values))
        row = {
            "op": each,
            "metric": metric,
            "unit": unit,
            "value": found.value,
            "low": found.low,
            "high": found.high,
            "heats": tuple(range(len(values))),
            "by_heat": tuple(map(float, values)),
        }
        points.append({**head, **row, "launches": len(luck), "samples": 1000, "flags": "decided"})
    medians = enumerate(times["p50"])
    return points, [
        {**head, "op": op, "metric": "p50", "unit": "ns", "round": k, "value": each}
        for k, each in medians
    ]
