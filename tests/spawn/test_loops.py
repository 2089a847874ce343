"""What a worker times and counts: phases, repeats, faults, waiting for the CPU."""

import mmap
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ipclab.spawn.loops import count_faults, operations, paced, record, sleep_until
from ipclab.spawn.worker import WAKE_NS, Worker, queued_ns


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


def test_what_is_looked_at_and_what_follows_is_not_kept(worker: Worker) -> None:
    step = stamps(*((100 * n, 100 * n + n) for n in range(6)))
    record(worker, "read", ("all",), step, 6, 1, [False, False, False, True, False, False])
    assert worker.outcome.samples["read"].tolist() == [1, 2, 5]


def test_a_turn_has_as_many_operations_as_fit_into_it() -> None:
    assert operations(2, 10**9, 3, 20) == 20
    assert operations(1_000_000, 8_000_000, 3, 20) == 8
    assert operations(2_000_000, 8_000_000, 10, 20) == 10
    assert operations(9_000_000, 8_000_000, 10, 20) == 3  # three of very long ones are enough


def test_a_schedule_is_fixed_beforehand_whatever_is_late() -> None:
    waited: list[int] = []
    numbers: list[int] = []
    # nothing waits, so that all are early
    due, starts, ends = paced(numbers.append, 4, 1_000, waited.append)
    assert numbers == [0, 1, 2, 3]
    assert due.tolist() == waited == [waited[0] + 1_000 * number for number in range(4)]
    due, starts, ends = paced(lambda number: time.sleep(0.002 * (number == 0)), 3, 1_000)
    # it waits for nobody: the others are late by the same
    assert ends[0] - due[0] > 2_000_000 < starts[1] - due[1]
    assert (starts >= due).all() and (ends >= starts).all()


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


def test_waking_up_is_not_waiting_for_another_task(monkeypatch: pytest.MonkeyPatch) -> None:
    for told, waited in (("900 70000 3\n", 70_000 - 3 * WAKE_NS), ("", 0), ("x y z", 0)):
        monkeypatch.setattr(Path, "read_text", lambda _, told=told: told)
        assert queued_ns() == waited


def test_who_sleeps_until_something_is_due_sleeps_the_rest_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(time, "perf_counter_ns", lambda: 1_000)
    monkeypatch.setattr(time, "sleep", slept.append)
    for at_ns in (2_001_000, 1_000, 0):
        sleep_until(at_ns)
    assert slept == [0.002]
