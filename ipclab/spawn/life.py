"""A worker's life: find its target, run it, hand its outcome over or say why not."""

import os
import socket
import sys

import msgspec

from ipclab.spawn.launcher import Start
from ipclab.spawn.worker import Worker, confessing, perform


def live(start: Start, control: int) -> None:
    """Be the worker that `start` describes over the socket with descriptor `control`."""
    worker = Worker(socket.socket(fileno=control), start.role.name, start.prefix, start.folder)
    with confessing(worker.wire.send):
        perform(worker, start.role.target, start.role.arguments, worker.wire.send)


if __name__ == "__main__":  # in a fresh interpreter
    live(msgspec.json.decode(sys.argv[2], type=Start), int(sys.argv[1]))
    os._exit(0)
