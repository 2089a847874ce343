"""One visit of the doctor: observes this machine and says what it found."""

import time
from collections.abc import Callable
from importlib.util import find_spec
from shutil import which

import numpy as np

from ipclab.errors import LabError
from ipclab.machine import AbsentError, Conditions, Machine, Source, collect, conditions
from ipclab.machine.doctor.findings import Finding, Noise, Observed, examine
from ipclab.machine.storage import SHM
from ipclab.paths import Paths
from ipclab.stats.intervals import rank
from ipclab.store import run as folder
from ipclab.store.bundle.opened import opened
from ipclab.store.point import Point
from ipclab.store.run import RunFolder
from ipclab.store.samples import decode

TIMES = (("futex-wake", "same"), ("futex-wake", "cross"), ("clock", "same"), ("syscall", "same"))
PROBE_SECONDS = 5.0
SECONDS = 5.0  # of doing nothing, watched
STEPS = 50


def visit(
    paths: Paths,
    source: Source,
    need: int,
    seconds: float = SECONDS,
    clock: Callable[[], int] = time.monotonic_ns,
    sleep: Callable[[float], None] = time.sleep,
) -> list[Finding]:
    """Return what is found on this machine (or behind `source`) in about `seconds`.

    `need` is the shared memory (bytes) of the largest point. Limits are those of a run on this machine, or of the
    reference run when there is none.
    """
    noise = watch(lambda: reading(source), clock, sleep, seconds)
    machine = collect(source, root=paths.root)
    run, on = _run(paths, machine.digest)
    times = {f"{name} {place}": ns for name, place in TIMES if run and (ns := _time(run, name, place)) is not None}
    fault = "it cannot be written" if not source.system.writable(SHM) else ""
    fault = fault if source.exists(SHM) else "there is none"
    return examine(Observed(machine.facts, noise, _present(machine), need, fault, _may_be_alone(source), times, on))


def reading(source: Source) -> Conditions:
    """Return one reading: what launches are judged by (`ipclab.machine.conditions`), and the count of interrupts."""
    try:
        lines = source.read("/proc/stat").splitlines()
        interrupts = next((int(line.split(None, 2)[1]) for line in lines if line.startswith("intr ")), None)
    except (AbsentError, ValueError, IndexError):
        interrupts = None
    return {**conditions(source), "interrupts": interrupts}


def watch(
    read: Callable[[], Conditions], clock: Callable[[], int], sleep: Callable[[float], None], seconds: float = SECONDS
) -> Noise:
    """Return the noise of about `seconds`; `clock` gives ns, and all three are passed in so that tests need no time."""
    began, seen = clock(), [read()]
    for _ in range(STEPS):
        sleep(seconds / STEPS)
        seen.append(read())
    first, last, elapsed = seen[0], seen[-1], max(1, clock() - began)
    cpus = float(last.get("cpus") or 1)
    waiting = [max(0.0, running - 1) for each in seen if (running := each.get("running")) is not None]

    def grown(key: str, by: float) -> float | None:
        a, b = first.get(key), last.get(key)
        return None if a is None or b is None else float(b - a) / by

    return Noise(
        steal=grown("steal_ns", elapsed * cpus),
        queue=sum(waiting) / len(waiting) / cpus if waiting else None,  # beside the task that reads
        busy=grown("busy_ns", elapsed * cpus),
        interrupts=grown("interrupts", elapsed / 1e9 * cpus),
        throttled=grown("throttled_ns", elapsed),
    )


def _present(machine: Machine) -> dict[str, bool]:
    return {
        "native": find_spec("ipclab_native") is not None,
        "MPI": find_spec("mpi4py") is not None and machine.facts.get("mpi") is not None,
        "Go": machine.facts.get("go") is not None or which("go") is not None,
        "fonts": find_spec("noto_cjk_sans_otc") is not None,
    }


def _may_be_alone(source: Source) -> bool | None:
    """Tell whether a process can have a network of its own: as root, or in a user namespace; None when unknown."""
    refused = False
    for flags in ("-n", "-Urn"):
        try:
            source.system.run("unshare", flags, "true", seconds=PROBE_SECONDS)
        except AbsentError as absent:
            refused |= absent.reason == "failed"
        else:
            return True
    return False if refused else None


def _run(paths: Paths, machine: str) -> tuple[RunFolder | None, str]:
    mine = folder.newest(paths.runs, lambda run: run.finished and run.about["machine"]["digest"] == machine)
    if mine:
        return mine, f"run {mine.id}"
    try:
        return opened(paths, paths.reference), "the reference run, another machine"
    except (LabError, OSError):  # a checkout without it, or no room to open it: its times are then unknown
        return None, "no run"


def _time(run: RunFolder, limit: str, placement: str) -> float | None:
    """Return the median over launches of a limit's median time in ns; None when the run does not have it."""
    point = Point("limits", limit, 0, placement)
    try:
        measured = decode(run.path / run.file(point))
    except LabError:
        return None
    times = [np.sort(launch.times(measured.op_names()[0])) for launch in measured.launches]
    return float(np.median([values[rank(len(values), 0.5)] for values in times]))
