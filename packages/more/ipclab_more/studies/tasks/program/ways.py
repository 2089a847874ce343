"""Where tasks run: threads, interpreters and processes by hand, and the pools that hold them."""

import multiprocessing
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Any

from .work import Task, TaskAnswer, run_task, serve_tasks

WORKERS = 2
THREADS, INTERPRETERS = "thread", "interpreter"
PROCESS, THREAD, INTERPRETER = range(3)  # which part of `TaskAnswer.where` is another one's
BY_QUEUE = "from program.interpreters import Queue as Q; serve_tasks(Q(take).get, Q(give).put)"
BY_PIPE = (
    "from multiprocessing.connection import Connection as C; c = C(fd); serve_tasks(c.recv, c.send)"
)


class TaskWay(ABC):
    """Two workers, and how they are given tasks; a worker's answer comes from elsewhere."""

    apart = PROCESS

    @abstractmethod
    def submit(self, task: Task) -> Any:
        """Hand a task over, and return what `result` needs."""

    @abstractmethod
    def result(self, ticket: Any, seconds: float) -> TaskAnswer:
        """Return the answer; `TimeoutError` when it does not come in time."""

    @abstractmethod
    def close(self) -> None:
        """End the workers."""


class Threads(TaskWay):
    """Threads at one queue."""

    apart = THREAD

    def __init__(self) -> None:
        self.answers: dict[int, TaskAnswer] = {}
        self.take, self.give, work = self.queues()
        self.threads = [threading.Thread(target=work, daemon=True) for _ in range(WORKERS)]
        for thread in self.threads:
            thread.start()

    def queues(self) -> tuple[Any, Any, Callable[[], object]]:
        """Return the queues of tasks and of answers, and what each thread does."""
        take, give = SimpleQueue[Any](), SimpleQueue[Any]()
        return take, give, partial(serve_tasks, take.get, give.put)

    def submit(self, task: Task) -> int:
        self.take.put(task)
        return task[0]

    def result(self, ticket: int, seconds: float) -> TaskAnswer:
        while ticket not in self.answers:
            answer = TaskAnswer(*self.give.get(timeout=seconds))
            self.answers[answer.number] = answer
        return self.answers.pop(ticket)

    def close(self) -> None:
        for _ in self.threads:
            self.take.put(None)
        for thread in self.threads:
            thread.join()


class Interpreters(Threads):
    """Interpreters at one queue, of the kind that they bring."""

    apart = INTERPRETER

    def queues(self) -> tuple[Any, Any, Callable[[], object]]:
        from .interpreters import create_queue, serving

        take, give = create_queue(), create_queue()
        return take, give, serving(BY_QUEUE, {"take": take.id, "give": give.id})


class Piped(TaskWay):
    """Workers with a pipe each, which get tasks in turn."""

    def __init__(self) -> None:
        self.pipes, self.workers = [], []
        for _ in range(WORKERS):
            ours, theirs = multiprocessing.Pipe()
            self.pipes.append(ours)
            worker = self.worker(theirs)
            worker.start()
            theirs.close()
            self.workers.append(worker)

    @abstractmethod
    def worker(self, pipe: Any) -> Any:
        """Return a worker at an end of a pipe, which begins when it is started."""

    def submit(self, task: Task) -> int:
        self.pipes[task[0] % WORKERS].send(task)
        return task[0] % WORKERS

    def result(self, ticket: int, seconds: float) -> TaskAnswer:
        if not self.pipes[ticket].poll(seconds):
            raise TimeoutError
        return TaskAnswer(*self.pipes[ticket].recv())

    def close(self) -> None:
        for pipe in self.pipes:
            with suppress(OSError):  # its worker was killed
                pipe.send(None)
        for worker in self.workers:
            worker.join()


class PipedInterpreters(Piped):
    """Interpreters that read pipes, as processes do."""

    apart = INTERPRETER

    def worker(self, pipe: Any) -> threading.Thread:
        from .interpreters import serving

        own = os.dup(pipe.fileno())  # the interpreter closes it
        return threading.Thread(target=serving(BY_PIPE, {"fd": own}), daemon=True)


class Processes(Piped):
    """Processes by one of the ways to start them."""

    def __init__(self, start: str) -> None:
        self.context: Any = multiprocessing.get_context(start)
        super().__init__()

    def worker(self, pipe: Any) -> Any:
        return self.context.Process(target=_served, args=(pipe,), daemon=True)


def _served(pipe: Any) -> None:
    serve_tasks(pipe.recv, pipe.send)


class Executor(TaskWay):
    """A pool with the interface of `concurrent.futures`."""

    def __init__(self, pool: Any, apart: int) -> None:
        self.pool, self.apart = pool, apart

    def submit(self, task: Task) -> Any:
        return self.pool.submit(run_task, *task)

    def result(self, ticket: Any, seconds: float) -> TaskAnswer:
        return TaskAnswer(*ticket.result(timeout=seconds))

    def close(self) -> None:
        self.pool.shutdown()


class Pool(TaskWay):
    """`multiprocessing.Pool`."""

    def __init__(self, start: str) -> None:
        self.pool = multiprocessing.get_context(start).Pool(WORKERS)

    def submit(self, task: Task) -> Any:
        return self.pool.apply_async(run_task, task)

    def result(self, ticket: Any, seconds: float) -> TaskAnswer:
        try:
            return TaskAnswer(*ticket.get(timeout=seconds))
        except multiprocessing.TimeoutError as error:
            raise TimeoutError from error

    def close(self) -> None:
        self.pool.terminate()
        self.pool.join()


def _pool(of: str) -> Executor:
    """Return a pool of threads, interpreters, loky's processes, or processes that start so."""
    if of == "loky":
        from joblib.externals.loky import ProcessPoolExecutor

        return Executor(ProcessPoolExecutor(WORKERS), PROCESS)
    from concurrent import futures  # not before: importing it is part of what a pool costs

    if of == THREADS:
        return Executor(futures.ThreadPoolExecutor(WORKERS), THREAD)
    if of == INTERPRETERS:
        return Executor(futures.InterpreterPoolExecutor(WORKERS), INTERPRETER)  # type: ignore[attr-defined]
    context = multiprocessing.get_context(of)
    return Executor(futures.ProcessPoolExecutor(WORKERS, context), PROCESS)


def made_way(name: str, queue: str) -> TaskWay:
    """Return the way called `name`; interpreters by hand have their own `queue`, or a pipe."""
    kind, _, start = name.rpartition("-")
    if kind == "pool":
        return _pool(start)
    if kind:
        return Pool(start) if kind == "mp-pool" else Processes(start)
    if name == THREADS:
        return Threads()
    return PipedInterpreters() if queue == "pipe" else Interpreters()
