"""CPU time and time are of one interval, and no share of it is above the CPUs that there were."""

import time

import pandas as pd
import pytest

from ipclab.bounds.busy import beyond_cpus
from ipclab.spawn.loops import record
from ipclab.spawn.worker import Worker
from ipclab.store.launch import BUSY


def row(
    value: float, op: str = "round-trip", metric: str = BUSY, **levels: object
) -> dict[str, object]:
    head: dict[str, object] = {
        "study": "round_trip",
        "point": "unix-cross",
        "placement": "cross",
        "launches": 3,
    }
    return {**head, "samples": 3_000, "op": op, "metric": metric, "value": value, **levels}


@pytest.mark.parametrize(
    ("rows", "wrong"),
    [
        ([row(2.0)], []),
        ([row(9.0, metric="p50")], []),
        (
            [row(1.5, placement="same")],
            ["round_trip unix-cross: round-trip kept 1.50 CPUs busy, of 1"],
        ),
        # of two launches of 8 operations: 3 ms of CPU time too much in each, and 30
        ([row(1.2, placement="same"), row(2.3e6, metric="cpu_ns", launches=2, samples=16)], []),
        (
            [row(1.2, placement="same"), row(23e6, metric="cpu_ns", launches=2, samples=16)],
            ["round_trip unix-cross: round-trip kept 1.20 CPUs busy, of 1"],
        ),
        ([row(9e3, "cpu", "p50"), row(2e4, "period", "p50")], []),
        (
            [row(9e4, "cpu", "p50"), row(2e4, "period", "p50")],
            ["round_trip unix-cross: cpu kept 4.50 CPUs busy, of 2"],
        ),
        # of three launches of 300 turns: 3 ms of CPU time too much in each
        ([row(3e4, "cpu", "p50", samples=900), row(1e4, "period", "p50")], []),
    ],
)
def test_a_share_above_the_cpus_is_named(rows: list[dict[str, object]], wrong: list[str]) -> None:
    assert beyond_cpus(pd.DataFrame(rows), {"cores": 2}) == wrong


def test_what_is_done_between_operations_is_in_both_or_in_neither() -> None:
    worker = Worker.__new__(Worker)
    worker._begin("client", "", "")

    def step() -> tuple[int, int]:
        begun = time.perf_counter_ns()
        ended = time.perf_counter_ns()
        while time.perf_counter_ns() < ended + 1_000_000:  # a check that is not timed
            pass
        return begun, ended

    record(worker, "op", ["all"], step, 20)
    counted = worker.outcome.counters["op"]
    assert 0 < counted[BUSY] <= 1.1 < counted["cpu_ns"] / max(worker.outcome.samples["op"])
