"""Processes that render, each with a kernel: they end with what has started them, however it ends."""

import multiprocessing
import os
import signal
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event, Thread, current_thread, main_thread
from typing import Any

from ipclab.errors import LabError

POOL_THREADS = 2  # that a pool of processes has in this one
_kernel: Any = None  # of this process of the pool


@contextmanager
def pool(most: int, figures: Path) -> Iterator[Executor]:
    """Give processes that draw into `figures`: a CPU each, `most` at most.

    Raises `LabError` when one of them was killed.
    """
    # New processes: a fork of one that has typeset waits forever for Typst's threads.
    context = multiprocessing.get_context("spawn")
    begin = partial(_begin, os.getpid(), figures)
    _check_threads()
    number = max(1, min(most, os.cpu_count() or 1))
    try:
        with _terminable(), ProcessPoolExecutor(number, context, initializer=begin) as made:
            try:
                # Ctrl-C does not reach processes until they have loaded and let it
                before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
                try:
                    made.submit(int)
                finally:
                    signal.pthread_sigmask(signal.SIG_SETMASK, before)
                yield made
            except BaseException:
                started = [*(made._processes or {}).values()]
                made.shutdown(wait=False, cancel_futures=True)
                for process in started:  # each takes its kernel with it
                    process.terminate()
                raise
    except BrokenProcessPool as error:
        why = "it was killed, or ran out of memory"
        raise LabError("a process that renders has ended", why, "render again") from error


def kernel() -> Any:
    """Return the kernel of this process of the pool."""
    return _kernel


@contextmanager
def _terminable() -> Iterator[None]:
    """Have SIGTERM end what is done here as Ctrl-C does, where signals can be taken."""

    def leave(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _check_threads() -> None:
    """Raise `RuntimeError` where no thread can be started: a pool that lacks one waits for ever."""
    done = Event()
    threads = [Thread(target=done.wait) for _ in range(POOL_THREADS)]
    try:
        for thread in threads:
            thread.start()
    finally:
        done.set()


def _begin(parent: int, figures: Path) -> None:
    """Make this process one that ends with process `parent`; a kernel of it ends with it."""
    from multiprocessing.util import Finalize

    from ipclab.lab.figure import FIGURES
    from ipclab.report.notebooks.execute import Kernel
    from ipclab.spawn.exits import die_with_parent

    os.environ[FIGURES] = str(figures)
    global _kernel  # noqa: PLW0603
    _kernel = Kernel()
    Finalize(_kernel, _kernel.end, exitpriority=100)
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, lambda *_: None)  # who started this process ends it
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # for what it starts
    die_with_parent(parent, signal.SIGTERM)


def _leave(number: int, _: object) -> None:
    """End this process and its kernel, whatever they do."""
    try:
        _kernel.kill()
    finally:
        os._exit(128 + number)
