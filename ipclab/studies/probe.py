"""One message with each mechanism, between processes and under the limits that hold here.

The functions that take a `Worker` run in the two processes of a launch, as those of studies do.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

from ipclab.backends.installed import backend as registered
from ipclab.backends.interface import Backend, Place
from ipclab.errors import LabError
from ipclab.spawn.heat import launch_alone
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.mpi import mpi_missing
from ipclab.spawn.proof import PayloadError
from ipclab.spawn.rank_bench import RankBench
from ipclab.spawn.started import Role
from ipclab.spawn.worker import Worker
from ipclab.store.point import Point
from ipclab.studies.joining import joined_ends
from ipclab.studies.round_trip.ends import channel_end

HERE = "ipclab.studies.probe"
MESSAGE = bytes(range(100))
WAIT_NS, SECONDS = 5_000_000_000, 15.0  # of a wait, and of one probe
MAKER, FINDER = "server", "client"


def refusals(ledger: Path, names: Iterable[str]) -> Iterator[tuple[str, str | None]]:
    """Yield each mechanism of `names` with why no message comes through it here; None if one does.

    Nothing is left of a probe, and each has a deadline. Where no process can be started, that is
    why for each.
    """
    with ExitStack() as held:
        launcher, why = None, ""
        try:
            launcher = held.enter_context(Launcher(ledger))
        except LabError as error:
            why = str(error)
        for name in names:
            backend = registered(name)
            yield name, backend.missing() or (_refusal(launcher, backend) if launcher else why)


def _refusal(launcher: Launcher, backend: Backend) -> str | None:
    cpus = frozenset(os.sched_getaffinity(0))
    target = f"{HERE}:{_target(backend)}"
    roles = [Role(role, target, {"backend": backend.name}, cpus) for role in (MAKER, FINDER)]
    try:
        if backend.ranks or backend.missing is mpi_missing:  # its ends are ranks
            point = Point("trial", backend.name, len(MESSAGE), "free")
            with RankBench(launcher, len(roles)) as bench:
                launch_alone(bench, point, roles, SECONDS)
        else:
            launcher.launch(roles, SECONDS)
    except LabError as error:
        return " ".join(f"a message does not come through: {error}".split())
    return None


def _target(backend: Backend) -> str:
    if backend.channel:
        return "ask"
    return "publish" if backend.store else "share"


def _check(came: object) -> None:
    if came != MESSAGE:
        raise PayloadError("a message came with other bytes")


def ask(worker: Worker, backend: str) -> None:
    """Send a message there and back."""
    with channel_end(worker, backend, len(MESSAGE), registered(backend).waits[0]) as channel:
        if worker.role == FINDER:
            channel.send(MESSAGE, WAIT_NS)
        _check(channel.recv(WAIT_NS))
        if worker.role == MAKER:
            channel.send(MESSAGE, WAIT_NS)
        worker.meet()


def publish(worker: Worker, backend: str) -> None:
    """Hand a content to one reader."""
    place = Place(worker.prefix, worker.folder, len(MESSAGE), comm=worker.comm)
    (store,), _ = joined_ends(worker, registered(backend).store, [place], MAKER, [FINDER])
    worker.meet()
    if worker.role == MAKER:
        store.write(MESSAGE, WAIT_NS)
    else:
        _check(store.read(0, WAIT_NS)[1])
    worker.meet()
    store.close()


def share(worker: Worker, backend: str) -> None:
    """Write into a memory that the other process reads."""
    kind, name = registered(backend).segment, worker.name("trial")
    if kind is None:
        raise LabError(f"{backend} hands nothing over", "", "see docs/backends.md")
    if worker.role == MAKER:
        made = kind(name, len(MESSAGE), True)
        made.buffer[:] = MESSAGE
        worker.meet()
        worker.meet()
        made.close()
        made.unlink()
    else:
        worker.meet()
        found = kind(name, len(MESSAGE), False)
        _check(bytes(found.buffer))
        worker.meet()
        found.close()
