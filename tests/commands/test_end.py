"""What a measuring command holds when Python ends: no thread, and no library that starts some.

A thread of Arrow's that lives then aborts the process when it lets a Python object go.
"""

import json
import sys
from pathlib import Path

import pytest

from tests.support.commands import environment, ran

TELLING = """
import atexit, json, os, sys, time
from pathlib import Path
from ipclab.commands.cli import main

def tell():
    until = time.monotonic() + 60  # one that Python has joined takes a moment to go
    while len(threads := os.listdir("/proc/self/task")) > 1 and time.monotonic() < until:
        time.sleep(0.01)
    Path(told).write_text(json.dumps([len(threads), [*sys.modules]]))

told = sys.argv.pop(1)
atexit.register(tell)
main()
"""
MEASURE = "measure --study payload --backend shm-mmap --size 100 --placement same --launches 1"
# Two wait for ever in C and hold nothing of Python's: neither is there.
ALONE = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
LIBRARIES = {"grpc", "iceoryx2", "lmdb", "pynng", "zenoh"}


@pytest.mark.matrix
def test_the_process_that_measures_has_no_thread_at_its_end(tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    command = [sys.executable, "-c", TELLING, str(told), *MEASURE.split(), "--profile", "smoke"]
    env = environment(tmp_path) | ALONE
    done = ran(command, 300, env=env)
    assert done.returncode == 0, done.stderr
    assert "as pages: " in done.stdout  # a table was made: frames were derived, kept and read
    threads, modules = json.loads(told.read_text())
    assert (threads, LIBRARIES & {*modules}) == (1, set())


LOSING = """
import os, signal, sys, time, weakref
from threading import Timer
from ipclab.__main__ import interrupted_again

class Thing: pass

sys.unraisablehook = interrupted_again
thing = Thing()
held = weakref.ref(thing, lambda _: time.sleep(0.5))
Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    del thing
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_interrupt_that_python_drops_comes_again() -> None:
    done = ran([sys.executable, "-c", LOSING])
    assert (done.stdout, done.stderr) == ("interrupted\n", "")
