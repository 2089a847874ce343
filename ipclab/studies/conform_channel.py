"""Whether a backend in Python does what `Channel` asks: `ipclab conform NAME`, over real processes.

The functions that take a `Worker` run in the two processes of a launch, as those of studies do.
"""

import os
import secrets
import signal
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ipclab.backends.installed import backend as registered
from ipclab.backends.interface import Backend, Channel, Place
from ipclab.errors import LabError, UsageError
from ipclab.paths import checkout
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.ledger import SHARED_MEMORY
from ipclab.spawn.proof import digest, noise
from ipclab.spawn.started import Role
from ipclab.spawn.worker import Worker
from ipclab.studies.joining import WAIT_NS, joined_ends

HERE = "ipclab.studies.conform_channel"
SIZES = (0, 1, 7, 4097, 65_537, 500_000, 100)  # bytes of messages, both ways
ROUNDS = 72  # of all sizes, each message another: some 500
SHORT_NS, SECONDS = 50_000_000, 60.0


def backend_of(name: str) -> Backend:
    """Return the installed backend `name`, or what a name as `module:backend` says; `UsageError`."""
    module, colon, attribute = name.partition(":")
    if not colon:
        return registered(name)
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"{name} cannot be loaded", str(error), "write module:backend") from error
    if not isinstance(found, Backend):
        raise UsageError(f"{name} is no Backend", "", "see docs/backends.md")
    return found


def channel_faults(name: str) -> Iterator[str]:
    """Yield what the channel of backend `name` does wrong, in each way that it can wait.

    Raises `UsageError` for one without a channel of processes, or that is missing here.
    """
    backend = backend_of(name)
    if backend.channel is None or backend.ranks:
        fix = "tests/backends tries stores, segments and ranks"
        raise UsageError(f"{name} has no channel between two processes", "", fix)
    if why := backend.missing():
        raise UsageError(f"{name} cannot be tried here", why)
    longest = backend.longest()
    sizes = [size for size in SIZES if longest is None or size <= longest[0]]
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")])
    with Launcher(checkout().ledger) as launcher:
        for wait in backend.waits:
            for check in (_whole, _late, _dead):
                try:
                    said = list(check(launcher, name, wait, sizes))
                except LabError as error:
                    said = [str(error)]
                yield from (f"{wait}: {line}" for line in said)


def _launched(launcher: Launcher, target: str, **arguments: object) -> dict[str, dict[str, Any]]:
    """Return the facts that both ends of a launch tell, by role."""
    cpus = frozenset(os.sched_getaffinity(0))
    roles = [Role(name, f"{HERE}:{target}", arguments, cpus) for name in ("server", "client")]
    return {name: end.facts for name, end in launcher.launch(roles, SECONDS).items()}


def _whole(launcher: Launcher, name: str, wait: str, sizes: list[int]) -> Iterator[str]:
    order, key = sizes * ROUNDS, secrets.token_hex(16)
    asked = [noise(f"{key}-{number}", size) for number, size in enumerate(order)]
    answers = [_answered(key, number, data) for number, data in enumerate(asked)]
    expected = {"server": [*map(digest, asked)], "client": [*map(digest, answers)]}
    told = _launched(launcher, "echo_all_sizes", backend=name, wait=wait, sizes=order, key=key)
    for role, facts in told.items():
        if kinds := ", ".join(facts["kinds"]):
            yield f"the {role} is given a {kinds} where bytes of its own are asked for"
        ends = zip(order, facts["digests"], expected[role], strict=False)
        wrong = sorted({size for size, one, other in ends if one != other})
        if wrong or len(facts["digests"]) != len(order):
            yield f"messages of {wrong or 'some'} bytes do not reach the {role} whole"
        if (error := facts["too_long"]) != "ValueError":
            yield f"a message above its capacity gives {error or 'no error'}, not ValueError"
        if facts["left"]:
            yield f"it leaves {facts['left']} behind"


def _late(launcher: Launcher, name: str, wait: str, sizes: list[int]) -> Iterator[str]:
    for role, facts in _launched(launcher, "late", backend=name, wait=wait).items():
        if (error := facts["error"]) != "TimeoutError":
            seen = error or "a message"
            yield f"nothing comes to the {role}, and it gets {seen}, not TimeoutError"
        elif not facts["waited"]:
            yield f"the {role} does not wait as long as is asked"


def _dead(launcher: Launcher, name: str, wait: str, sizes: list[int]) -> Iterator[str]:
    error = _launched(launcher, "bereft", backend=name, wait=wait)["client"]["error"]
    if error != "BrokenPipeError":
        seen = error or "a message"
        yield f"the other process is dead, and it gets {seen}, not BrokenPipeError"


def joined_channel(worker: Worker, name: str, capacity: int, wait: str) -> Channel:
    """Return this process's end of a channel, joined."""
    place = Place(worker.prefix, worker.folder, capacity, wait)
    (channel,), _ = joined_ends(worker, backend_of(name).channel, [place], "server", ["client"])
    end: Channel = channel
    return end


def _answered(key: str, number: int, data: bytes) -> bytes:
    """Return the answer to message `number`: all of `data`, mixed with what the ends alone know."""
    own = np.frombuffer(noise(f"{key} answer {number}", len(data)), np.uint8)
    return (own ^ np.frombuffer(data, np.uint8)).tobytes()


def echo_all_sizes(worker: Worker, backend: str, wait: str, sizes: list[int], key: str) -> None:
    """Send messages that nobody can foresee, and mixed answers to them, and one that is too long."""
    worker.meet()
    facts = worker.outcome.facts
    kinds = set[str]()
    digests = facts["digests"] = list[str]()
    channel = joined_channel(worker, backend, max(sizes), wait)
    asks = worker.role == "client"
    for number, size in enumerate(sizes):
        if asks:
            channel.send(noise(f"{key}-{number}", size), WAIT_NS)
        data = channel.recv(WAIT_NS)
        digests.append(digest(data))
        if type(data) is not bytes:
            kinds.add(type(data).__name__)
        if not asks:
            channel.send(_answered(key, number, bytes(data)), WAIT_NS)
    facts["kinds"] = sorted(kinds)
    worker.meet()
    facts["too_long"] = _error(lambda: channel.send(bytes(max(sizes) + 1), WAIT_NS))
    channel.close()
    channel.close()  # a second time does nothing
    worker.meet()
    places = (SHARED_MEMORY, Path(worker.folder))
    left = [path.name for place in places for path in place.glob(f"{worker.prefix}*")]
    facts["left"] = sorted(left)


def late(worker: Worker, backend: str, wait: str) -> None:
    """Wait for what does not come, at one end and then, behind a question, at the other."""
    channel = joined_channel(worker, backend, SIZES[-1], wait)
    for waiting in ("server", "client"):
        if worker.role == waiting:
            if waiting == "client":
                channel.send(b"question", WAIT_NS)
            begun = time.monotonic_ns()
            worker.outcome.facts["error"] = _error(lambda: channel.recv(SHORT_NS))
            worker.outcome.facts["waited"] = time.monotonic_ns() - begun >= SHORT_NS
        worker.meet()
    channel.close()


def bereft(worker: Worker, backend: str, wait: str) -> None:
    """Exchange a message; then the server, a child of its worker, is killed while the client waits."""
    if worker.role == "client":
        channel = joined_channel(worker, backend, SIZES[-1], wait)
        channel.send(b"message", WAIT_NS)
        channel.recv(WAIT_NS)
        channel.send(b"question", WAIT_NS)
        worker.outcome.facts["error"] = _error(lambda: channel.recv(WAIT_NS))
        channel.close()
    elif not (child := os.fork()):
        channel = joined_channel(worker, backend, SIZES[-1], wait)
        channel.send(channel.recv(WAIT_NS), WAIT_NS)
        time.sleep(SHORT_NS / 1e9)
        os.kill(os.getpid(), signal.SIGKILL)
    else:
        os.waitpid(child, 0)
    worker.meet()


def _error(attempt: Callable[[], object]) -> str:
    """Return the name of the error that an attempt raises, or nothing."""
    try:
        attempt()
    except Exception as error:
        return type(error).__name__
    return ""
