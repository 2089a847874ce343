"""A worker's life: find its target, run it, hand its outcome over or say why not."""

import importlib
import json
import os
import socket
import sys
import traceback
from typing import Any

from ipclab.spawn.worker import Worker


def live(request: dict[str, Any], control: int) -> int:
    """Be the worker that `request` describes over the socket with descriptor `control`; return the exit code.

    What ended it otherwise stands on stderr, and in its last message.
    """
    worker = Worker(socket.socket(fileno=control), request["role"], request["prefix"], request["folder"])
    try:
        module, _, function = request["target"].partition(":")
        target = getattr(importlib.import_module(module), function)
        worker.finish(target(worker, **request["arguments"]))
    except BaseException as error:  # the worker's last words, whatever ended it
        traceback.print_exc()
        sys.stderr.flush()
        if isinstance(error, Exception):
            worker.fail(error)
        return 1
    return 0


def main() -> None:
    """Be a worker in a fresh interpreter: arguments are the socket's descriptor and the request as JSON."""
    os._exit(live(json.loads(sys.argv[2]), int(sys.argv[1])))


if __name__ == "__main__":
    main()
