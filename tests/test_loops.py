"""What a worker times and counts: phases, repeats, faults, waiting for the CPU."""

import mmap
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ipclab.spawn.loops import count_faults, record, repeats
from ipclab.spawn.worker import WAKE_NS, Worker, queued_ns, zeros


@pytest.fixture
def worker() -> Worker:
    return Worker(socket.socketpair()[0], "solo", "ipclab-1-2-aa-1", "/nowhere")


def stamps(*rows: tuple[int, ...]) -> Callable[[], tuple[int, ...]]:
    """Return a step that gives the rows in turn."""
    left = iter(rows)
    return lambda: next(left)


def test_phases_are_the_differences_of_the_stamps(worker: Worker) -> None:
    record(worker, "write", ("open", "copy"), stamps((100, 103, 110), (200, 201, 240)), 2)
    kept = {op: values.tolist() for op, values in worker.outcome.samples.items()}
    assert kept == {"write": [10, 40], "write.open": [3, 1], "write.copy": [7, 39]}
    record(worker, "read", ("all",), stamps((5, 9)), 1)
    assert worker.outcome.samples["read"].tolist() == [4]
    assert "read.all" not in worker.outcome.samples
    assert set(worker.outcome.counters) == {"write", "read"}


def test_repeats_stay_within_their_bounds() -> None:
    assert repeats(lambda: None, 10**9, 3, 20) == 20
    assert repeats(lambda: time.sleep(0.001), 1, 3, 20) == 3
    assert 3 <= repeats(lambda: time.sleep(0.001), 8_000_000, 3, 20) <= 8


def test_faults_are_counted_step_by_step(worker: Worker) -> None:
    regions = []

    def touch_three_pages() -> None:
        region = mmap.mmap(-1, 3 * mmap.PAGESIZE)
        region.madvise(mmap.MADV_NOHUGEPAGE)
        for page in range(3):
            region[page * mmap.PAGESIZE] = 1
        regions.append(region)

    worker.outcome.counters["op"] = {"minor_faults": 99.0, "cpu_ns": 5.0}
    count_faults(worker, "op", touch_three_pages)
    assert worker.outcome.counters["op"] == {"minor_faults": 3, "cpu_ns": 5.0}


def test_preallocated_samples_are_zero_and_int64() -> None:
    samples = zeros(3)
    assert (samples.typecode, samples.itemsize, samples.tolist()) == ("q", 8, [0, 0, 0])


@pytest.mark.parametrize(("told", "waited"), [("900 70000 3\n", 70_000 - 3 * WAKE_NS), ("", 0), ("x y z", 0)])
def test_waking_up_is_not_waiting_for_another_task(monkeypatch: pytest.MonkeyPatch, told: str, waited: int) -> None:
    monkeypatch.setattr(Path, "read_text", lambda _: told)
    assert queued_ns() == waited
