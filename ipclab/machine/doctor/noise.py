"""A few seconds of doing nothing, watched: what else runs on this machine."""

from collections.abc import Callable, Iterator
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
    began, first = clock(), read()
    last, waiting = first, list(_waiting(first))
    for _ in range(STEPS):
        sleep(seconds / STEPS)
        last = read()
        waiting += _waiting(last)
    cpus = float(last.get("cpus") or 1)
    elapsed = max(1, clock() - began)
    queue = sum(waiting) / len(waiting) / cpus if waiting else None

    def share(key: str, by: float = cpus) -> float | None:
        grown = _grown(first, last, key)
        return None if grown is None else grown / (elapsed * by)

    interrupts = _grown(first, last, "interrupts")
    rate = None if interrupts is None else interrupts / (elapsed / 1e9) / cpus
    return Noise(share("steal_ns"), queue, share("busy_ns"), rate, share("throttled_ns", 1.0))


def _waiting(seen: Numbers) -> Iterator[float]:
    """Yield how many tasks run or wait beside the one that reads."""
    if (running := seen.get("running")) is not None:
        yield max(0.0, running - 1)


def _grown(first: Numbers, last: Numbers, key: str) -> float | None:
    a, b = first.get(key), last.get(key)
    return None if a is None or b is None else float(b - a)
