"""Arrays that are handed over between marks: a tracer outside counts what the system calls between
them hand over.

usage: python -m tests.support.object_targets folder size way:carrier ...
"""

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from ipclab.spawn.launcher import Launcher
from ipclab.spawn.started import Role
from ipclab.spawn.worker import Worker
from ipclab.studies.joining import WAIT_NS
from ipclab_more.studies.objects import contents
from ipclab_more.studies.objects import processes as ends

NOWHERE = -1  # no descriptor
BEGIN, END = "begin", "end"


def mark(*words: str) -> None:
    """Make a system call that fails, and that a tracer shows with these words."""
    with suppress(OSError):
        os.write(NOWHERE, ":".join(words).encode())


def hand(worker: Worker, backend: str, size: int, way: str) -> None:
    """Hand a small array over, which no one counts, and then one between two marks of the giving
    end.
    """
    with ends.linked(worker, backend, size, contents.ARRAY, way) as (channel, chosen, room, *_):
        for number, length in enumerate((ends.FIRST_BYTES, size)):
            content: Any = contents.made_object(contents.ARRAY, length, 1, number)
            if worker.role == "server":
                came = chosen.take(channel.recv(WAIT_NS), room, contents.ARRAY)
                channel.send(b"%f" % contents.element_sum(came), WAIT_NS)
                continue
            mark(BEGIN, way, backend, str(number))
            message = chosen.give(content, room)
            put: Any = channel.put if message is content else channel.send  # type: ignore[attr-defined]
            put(*((content,) if message is content else (message, WAIT_NS)))
            total = float(channel.recv(WAIT_NS))
            mark(END, way, backend, str(number))
            if abs(total - contents.element_sum(content)) > 1:
                raise ValueError("another array came")
        worker.meet()


def main(folder: str, size: str, *pairs: str) -> None:
    """Hand one array of `size` bytes over by each pair of way and carrier."""
    cpus = frozenset(os.sched_getaffinity(0))
    with Launcher(Path(folder)) as launcher:
        for way, _, carrier in (pair.partition(":") for pair in pairs):
            arguments = {"backend": carrier, "size": int(size), "way": way}
            target = "tests.support.object_targets:hand"
            launcher.launch(
                [Role(name, target, arguments, cpus) for name in ("server", "client")], 60
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
