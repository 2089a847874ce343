"""Made-up runs of made-up machines: the true ratio of every point is known, and no clock is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from ipclab.report.compare.held import ComparedRun
from ipclab.store.point import Point
from tests.support.made import ASKED, MAIN

BACKENDS, SIZES, PLACEMENTS = ("unix", "tcp", "pipe"), (100, 10_000), ("same", "cross")
BASE_NS = {"unix": 10_000.0, "tcp": 16_000.0, "pipe": 13_000.0}


def points(
    wait: str = "block", sizes: Sequence[int] = SIZES, placements: Sequence[str] = PLACEMENTS
) -> list[Point]:
    """Return round trips of three mechanisms by size and placement."""
    levels = {**MAIN, "wait": wait}
    where = [
        (backend, size, placement)
        for backend in BACKENDS
        for size in sizes
        for placement in placements
    ]
    return [Point("round_trip", *each, levels, "made", ("round-trip",)) for each in where]


def limits() -> list[Point]:
    """Return the native echoes that bound those round trips."""
    where = [
        (f"echo-{backend}", size, placement)
        for backend in BACKENDS
        for size in SIZES
        for placement in PLACEMENTS
    ]
    return [Point("limits", *each, {}, "limits", ("round-trip",)) for each in where]


@dataclass(frozen=True)
class Machine:
    """A machine of the simulation.

    `ratio` multiplies the times of the round trips, `limit` those of the limits, `by_backend` those
    of one mechanism. `scatter` and `session` are deviations of the log: of a launch, and of all
    that one session measures.
    """

    ratio: float = 1.0
    limit: float = 1.0
    scatter: float = 0.05
    session: float = 0.0
    launches: int = 8
    relation: str = "l3"
    by_backend: Mapping[str, float] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


def run(
    name: str, machine: Machine, seed: int, measured: Sequence[Point] | None = None, **about: Any
) -> ComparedRun:
    """Return a run of `machine`; the same seed gives the same run."""
    random = np.random.default_rng(seed)
    luck = random.normal(0, machine.session)
    rows: dict[str, list[dict[str, Any]]] = {"round_trip": [], "limits": []}
    for point in [*points(), *limits()] if measured is None else measured:
        over = (
            machine.limit
            if point.study == "limits"
            else machine.ratio * machine.by_backend.get(point.backend, 1.0)
        )
        base = BASE_NS[point.backend.removeprefix("echo-")] / (2 if point.study == "limits" else 1)
        values = (
            (base + point.size_bytes / 10)
            * over
            * np.exp(luck + random.normal(0, machine.scatter, machine.launches))
        )
        relation = "same" if point.placement == "same" else machine.relation
        head = {
            "study": point.study,
            "point": point.id,
            **point.key(),
            "relation": relation,
            "op": "round-trip",
        }
        head |= {"metric": "p50", "unit": "ns"}
        rows[point.study] += [
            {**head, "launch": number, "value": value} for number, value in enumerate(values)
        ]
    frames = {study: pd.DataFrame(mine) for study, mine in rows.items() if mine}
    facts = {
        "cpu_model": f"Example {name}",
        "kernel_release": "6.1.0",
        "cores": 2,
        "page_size": 4096,
        **machine.facts,
    }
    about = {
        "id": name,
        "begun": "2026-11-20T10:00:00+00:00",
        "parameters": {"profile": "quick"},
        "seed": 1,
        **about,
    }
    told = {"digest": f"digest-{name}", "facts": facts, "reasons": {}}
    return ComparedRun.of(
        name, {"failures": {}, "points": {}, "machine": told, "questions": ASKED, **about}, frames
    )
