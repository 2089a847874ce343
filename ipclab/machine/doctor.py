"""Is this machine fit to measure? One visit observes it; `diagnoses` judges what it saw."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec

from ipclab.errors import LabError
from ipclab.machine import AbsentError, Conditions, Source, collect, conditions
from ipclab.machine.conditions import grown
from ipclab.machine.diagnoses import FIT, RESERVATION, Diagnosis, Noise, Observed, examine
from ipclab.machine.mounts import SHM
from ipclab.paths import Paths
from ipclab.store import run as folder
from ipclab.store.bundle import opened
from ipclab.store.door import point_of
from ipclab.store.point import Point

TIMES = (("futex-wake", "same"), ("futex-wake", "cross"), ("clock", "same"), ("syscall", "same"))
PROBE_SECONDS = 5.0
STEPS = 50


def diagnosis_lines(diagnoses: Sequence[Diagnosis]) -> Iterator[str]:
    """Yield diagnoses as text: state, what was seen; unless fit, effect, source and fix."""
    for diagnosis in diagnoses:
        yield f"{diagnosis.state:<12} {diagnosis.name:<16} {diagnosis.seen}"
        if diagnosis.state != FIT:
            yield f"{'':<12} {'effect':<16} {diagnosis.effect} [{diagnosis.source}]"
            yield f"{'':<12} {'fix':<16} {diagnosis.fix}"


def check_fit(diagnoses: Sequence[Diagnosis]) -> None:
    """Raise `LabError` that names every reservation, when there is one."""
    if names := [diagnosis.name for diagnosis in diagnoses if diagnosis.state == RESERVATION]:
        count = "one reservation" if len(names) == 1 else f"{len(names)} reservations"
        raise LabError(count, ", ".join(names), "each stands above with its effect and its fix")


def visit(paths: Paths, source: Source, need: int, seconds: float) -> list[Diagnosis]:
    """Return what is found on this machine (or `source`) in about `seconds`.

    `need` is as in `Observed`; limits are those of a run on this machine, or of the reference run
    when there is none.
    """
    noise = watch(lambda: conditions_now(source), time.monotonic_ns, time.sleep, seconds)
    machine = collect(source)
    times, measured_on = _times(paths, machine.digest)
    fault = ""
    if not source.exists(SHM):
        fault = "there is none"
    elif not source.system.writable(SHM):
        fault = "it cannot be written"
    present = {
        "native": find_spec("ipclab_native") is not None,
        "MPI": find_spec("mpi4py") is not None and machine.facts["mpi"] is not None,
        "Go": machine.facts["go"] is not None,
        "fonts": find_spec("noto_cjk_sans_otc") is not None,
    }
    alone = _may_be_alone(source)
    observed = Observed(machine.facts, noise, present, need, fault, alone, times, measured_on)
    return examine(observed)


def conditions_now(source: Source) -> Conditions:
    """Return one reading: launches' conditions (`machine.conditions`), and interrupts."""
    interrupts = None
    with suppress(AbsentError):
        if counted := re.search(r"^intr (\d+)", source.read("/proc/stat"), re.MULTILINE):
            interrupts = int(counted[1])
    return {**conditions(source), "interrupts": interrupts}


def watch(
    read: Callable[[], Conditions],
    clock: Callable[[], int],
    sleep: Callable[[float], None],
    seconds: float,
) -> Noise:
    """Return the noise of about `seconds`, None for what is not told; `clock` gives ns.

    `steal`: share of the CPUs' time taken by the host. `queue`: other tasks running or ready, mean
    a CPU. `busy`: share of the CPUs' time used. `interrupts`: a second and CPU. `throttled`: share
    of the time held back by a quota.
    """
    began = clock()
    seen = [read()]
    for _ in range(STEPS):
        sleep(seconds / STEPS)
        seen.append(read())
    elapsed = max(1, clock() - began)
    cpus = float(seen[-1].get("cpus") or 1)
    running = [reading.get("running") for reading in seen]
    # beside the task that reads
    waiting = [max(0.0, count - 1) for count in running if count is not None]
    noise: Noise = {"queue": sum(waiting) / len(waiting) / cpus if waiting else None}
    total = elapsed * cpus
    spans = {
        "steal_ns": total,
        "busy_ns": total,
        "interrupts": elapsed / 1e9 * cpus,
        "throttled_ns": elapsed,
    }
    for key, span in spans.items():
        more = grown(seen[0], seen[-1], key)
        noise[key.removesuffix("_ns")] = None if more is None else more / span
    return noise


def _may_be_alone(source: Source) -> bool | None:
    """Tell whether a process can have a network of its own, as root or not; None if unknown."""
    refused = False
    for flags in ("-n", "-Urn"):
        try:
            source.system.run("unshare", flags, "true", seconds=PROBE_SECONDS)
        except AbsentError as absent:
            refused |= absent.reason == "failed"
        else:
            return True
    return False if refused else None


def _times(paths: Paths, machine: str) -> tuple[dict[str, float], str]:
    """Return the best launch's median (ns) of limits by name and placement, and their run."""
    run = folder.newest(paths.runs, lambda run: run.finished and run.machine == machine)
    on = f"run {run.id}" if run else "the reference run, another machine"
    try:
        run = run or opened(paths, paths.reference)
    except (LabError, OSError):  # a checkout without it, or no room to open it
        return {}, "no run"
    best = {}
    for limit, placement in TIMES:
        with suppress(LabError):  # the run does not have it
            measured = point_of(run, "limits", Point("limits", limit, 0, placement).id)
            op = measured.op_names()[0]
            medians = (launch.median(op) for launch in measured.launches)
            best[f"{limit} {placement}"] = min(medians)
    return best, on
