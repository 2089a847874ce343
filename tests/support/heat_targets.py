"""Contestants that only tests launch: they count, keep what they are told to keep, and fail in
every way.
"""

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ipclab.spawn.loops import keep
from ipclab.spawn.worker import Turns, Worker

LONG = 600.0


def count(worker: Worker, number: int, log: str) -> Turns:
    """Keep `number` in each turn, and write down whose turn it is."""
    while roles := (yield {"number": number}):
        with Path(log).open("a", encoding="utf-8") as file:
            file.write(f"{number}\n")
        assert roles[worker.role]["number"] == number
        with worker.counting("op", 1):
            keep(worker, "op", np.array([number, number], np.int64))
    worker.outcome.facts["done"] = True


def fail(worker: Worker, how: str, log: str) -> Turns:
    """Fail in the third turn, or while parked before it."""
    for turn in range(3):
        if (yield {"pid": os.getpid()}) is None:
            return
        keep(worker, "op", np.array([turn], np.int64))
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "error":
        raise ValueError("no such turn")
    if how == "hang":
        time.sleep(LONG)
    if how == "end":
        return
    if how == "parked":
        child = os.fork()
        if child == 0:
            time.sleep(0.01)
            os.kill(os.getppid(), signal.SIGKILL)
            os._exit(0)
    while (yield {}) is not None:
        pass


def waits(worker: Worker, log: str) -> Turns:
    """Be the peer of `fail`, which ends when there are no more turns."""
    while (yield {}) is not None:
        pass


def straight(worker: Worker, log: str) -> None:
    """Take no turns: run to the end when started."""
    with Path(log).open("a", encoding="utf-8") as file:
        file.write("straight\n")
    keep(worker, "op", np.array([1], np.int64))


def take_and_die(worker: Worker, **levels: Any) -> Turns:
    """Be the taking end of an object's way until its first turn, and be killed in it."""
    from ipclab_more.studies.objects.processes import take

    turns = take(worker, **levels)
    yield next(turns)
    os.kill(os.getpid(), signal.SIGKILL)


def behaves(worker: Worker, how: str) -> Turns:
    """Do in each turn what `how` says."""
    while (yield {}) is not None:
        CONDUCT[how]()
        keep(worker, "op", np.array([1], np.int64))


def sleeps(worker: Worker) -> Turns:
    """Be one whose turns take 50 ms, in which others are parked."""
    while (yield {}) is not None:
        time.sleep(0.05)
        keep(worker, "op", np.array([1], np.int64))


def spin() -> None:
    """Compute for as long as the process lives."""
    while True:
        sum(range(1000))


def spins_in_a_thread() -> None:
    threading.Thread(target=spin, daemon=True).start()


def spins_in_a_child() -> None:
    if os.fork() == 0:
        spin()


def moves() -> None:
    os.sched_setaffinity(0, range(os.cpu_count() or 1))


def moves_a_child() -> None:
    if os.fork() == 0:
        moves()
        time.sleep(LONG)


CONDUCT: dict[str, Callable[[], object]] = {
    "Busy": lambda: sum(range(1_000_000)),
    "Restless": spins_in_a_thread,
    "RestlessChild": spins_in_a_child,
    "Elsewhere": moves,
    "ElsewhereChild": moves_a_child,
    "First": lambda: os.nice(1),  # as a lower number would, which only root may take
}
