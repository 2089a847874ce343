"""The measuring loop in the interpreter that is measured: one launch, told as a line of JSON."""

import json
import os
import random
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import perf_counter_ns as clock
from typing import Any

from . import ways
from .work import DIE, TaskAnswer, cell, checksum, task_object, where

BATCH = 100  # tasks that are handed over before the first answer is taken
LOOPS = 20_000  # of a task that computes
FEW, FEW_BYTES = 4, 16 << 20  # objects of a launch, and their bytes together, unless two have more
DISCARDED = 3  # tasks before those that are timed
WAIT, CLOSING = 10.0, 5.0  # seconds for an answer, and for the workers' end
SILENCE, WELL = "silence", "well"


class WrongAnswerError(Exception):
    """An answer is not that of the task, or was given where it was asked for."""


class Tasks:
    """The tasks of a launch: each is numbered and has another object than the one before.

    One that is `alone`, and not in a batch of which all are under way, has a number of its own in
    one place of its object: no answer is that of an older one.
    """

    def __init__(self, kind: str, size: int, seed: int) -> None:
        few = max(2, min(FEW, FEW_BYTES // size))
        self.objects = [task_object(kind, size, seed, number) for number in range(few)]
        self.digests = [checksum(each) for each in self.objects]
        self.stamps = random.Random(os.urandom(16))
        self.chance, self.place, self.number = random.Random(seed), 0, -1
        self.here = where()
        self.wanted: dict[int, int] = {}  # by the number of a task: the digest of its object

    def next(self, loops: int = 0, alone: bool = False) -> tuple[int, int, Any]:
        """Return the next task."""
        few = len(self.objects)
        self.place = (self.place + self.chance.randrange(1, few)) % few
        self.number += 1
        if alone:
            content = self.objects[self.place]
            holder, key = cell(content, self.stamps.random())
            holder[key] = self.stamps.getrandbits(62)
            self.digests[self.place] = checksum(content)
        self.wanted[self.number] = self.digests[self.place]
        return self.number, loops, self.objects[self.place]

    def check(self, number: int, answer: TaskAnswer, apart: int) -> None:
        """Raise `WrongAnswerError` unless task `number` was done, with every byte, elsewhere."""
        if answer.number != number:
            raise WrongAnswerError(f"task {number} has the answer to task {answer.number}")
        if answer.digest != self.wanted.pop(number):
            raise WrongAnswerError(f"the object of task {number} arrived wrong")
        if answer.where[apart] == self.here[apart]:
            raise WrongAnswerError(f"task {number} was done where it was asked for")


def _family() -> Iterator[Path]:
    """Yield the folders in /proc of this process and of all that it started (proc(5))."""
    left = [os.getpid()]
    while left:
        process = Path(f"/proc/{left.pop()}")
        threads: list[Path] = []
        with suppress(OSError):
            threads = [*(process / "task").iterdir()]
        for thread in threads:
            with suppress(OSError):  # of one that has ended
                left += map(int, (thread / "children").read_text().split())
        if threads:
            yield process


def cpu_ns() -> int:
    """Return the CPU time of this process and its workers (schedstat), 0 where it is not told."""
    total = 0
    for process in _family():
        with suppress(OSError):
            for task in (process / "task").iterdir():
                total += int((task / "schedstat").read_text().split()[0])
    return total


def workers_memory() -> int:
    """Return the bytes of all of them, of shared pages their part (PSS); 0 where it is not told."""
    total = 0
    for process in _family():
        with suppress(OSError):
            lines = (process / "smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
    return total


class MeasuredWay:
    """One way, made and measured."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self.tasks = Tasks(asked["kind"], asked["size"], asked["seed"])
        self.asked = asked
        self.memory = workers_memory()
        begun = clock()
        self.way = ways.made_way(asked["way"], asked["queue"])
        self._one()
        self.first_ns = clock() - begun

    def _one(self) -> int:
        """Return the time of one task."""
        task = self.tasks.next(alone=True)
        begun = clock()
        answer = self.way.result(self.way.submit(task), WAIT)
        elapsed = clock() - begun
        self.tasks.check(task[0], answer, self.way.apart)
        return elapsed

    def _warm(self) -> tuple[list[int], float]:
        """Return the times of single tasks, and the CPU time of each."""
        each = max(self._one() for _ in range(DISCARDED))
        fitting = self.asked["budget_ns"] // each
        count = min(self.asked["most"], max(self.asked["least"], fitting))
        before = cpu_ns()
        times = [self._one() for _ in range(count)]
        return times, (cpu_ns() - before) / count

    def _batch(self, loops: int = 0) -> int:
        """Return the time of `BATCH` tasks that are handed over at once."""
        tasks = [self.tasks.next(loops) for _ in range(BATCH)]
        begun = clock()
        tickets = [self.way.submit(task) for task in tasks]
        answers = [self.way.result(ticket, WAIT) for ticket in tickets]
        elapsed = clock() - begun
        for task, answer in zip(tasks, answers, strict=True):
            self.tasks.check(task[0], answer, self.way.apart)
        return elapsed

    def _seen(self, loops: int, seconds: float) -> str:
        """Return what one task ends in: well, in an error of that name, or in silence."""
        task = self.tasks.next(loops)
        try:
            answer = self.way.result(self.way.submit(task), seconds)
            self.tasks.check(task[0], answer, self.way.apart)
        except TimeoutError:
            return SILENCE
        except WrongAnswerError:
            raise
        except Exception as error:
            return type(error).__name__
        return WELL

    def _killed(self) -> dict[str, Any]:
        """Return what is seen of a worker that is killed, after how long, and of the next task."""
        seconds = self.asked["deadline_ns"] / 1e9
        begun = clock()
        kind = self._seen(DIE, seconds)
        return {"kind": kind, "ns": clock() - begun, "next": self._seen(0, seconds)}

    def report(self) -> dict[str, Any]:
        """Measure, and return what was found."""
        times, each_cpu_ns = self._warm()
        samples = {"first-result": [self.first_ns], "task": times}
        held, killed = workers_memory() - self.memory, None
        if repeats := range(self.asked["batches"]):
            samples["hundred"] = [self._batch() for _ in repeats]
            samples["computed"] = [self._batch(LOOPS) for _ in repeats]
            if self.way.apart == ways.PROCESS:
                killed = self._killed()
        return {"samples": samples, "cpu_ns": each_cpu_ns, "held_bytes": held, "killed": killed}


def main() -> None:
    """Measure what the first argument asks for, and end however the workers do."""
    launch = MeasuredWay(json.loads(sys.argv[1]))
    report = launch.report()
    print(json.dumps(report), flush=True)
    late = threading.Timer(CLOSING, os._exit, [0])
    late.daemon = True
    late.start()
    with suppress(Exception):
        launch.way.close()  # a pool that is broken may say so


if __name__ == "__main__":
    main()
