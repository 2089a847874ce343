"""A few seconds of doing nothing, watched: what else runs on this machine."""

from collections.abc import Callable
from dataclasses import dataclass

from ipclab.machine import AbsentError, Source, conditions

SECONDS = 5.0
STEPS = 50
Numbers = dict[str, int | float | None]


@dataclass(frozen=True)
class Noise:
    """What was seen; None where the machine does not tell.

    `steal`: share of the CPUs' time taken by the host. `queue`: other tasks running or ready, mean a CPU. `busy`:
    share of the CPUs' time used. `interrupts`: a second and CPU. `throttled`: share of the time held back by a quota.
    """

    steal: float | None
    queue: float | None
    busy: float | None
    interrupts: float | None
    throttled: float | None


def reading(source: Source) -> Numbers:
    """Return one reading: what launches are judged by (`ipclab.machine.conditions`), and the count of interrupts."""
    try:
        lines = source.read("/proc/stat").splitlines()
        interrupts = next((int(line.split(None, 2)[1]) for line in lines if line.startswith("intr ")), None)
    except (AbsentError, ValueError, IndexError):
        interrupts = None
    return {**conditions(source), "interrupts": interrupts}


def watch(
    read: Callable[[], Numbers], clock: Callable[[], int], sleep: Callable[[float], None], seconds: float = SECONDS
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
