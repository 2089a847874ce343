"""One visit of the doctor: observes this machine and says what it found."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from shutil import which

from ipclab.machine.doctor.findings import FIT, Finding, Observed, examine
from ipclab.machine.doctor.noise import SECONDS, Noise, reading, watch
from ipclab.errors import LabError
from ipclab.facts.derive import FACTS
from ipclab.facts.fact import Fact
from ipclab.machine import Machine, Source, collect
from ipclab.paths import Paths
from ipclab.store import run as folder
from ipclab.store.bundle.opened import opened
from ipclab.store.run import RunFolder


def visit(
    paths: Paths,
    source: Source,
    seconds: float = SECONDS,
    clock: Callable[[], int] = time.monotonic_ns,
    sleep: Callable[[float], None] = time.sleep,
) -> list[Finding]:
    """Return what is found on this machine (or behind `source`) in about `seconds`."""
    noise = watch(lambda: reading(source), clock, sleep, seconds)
    machine = collect(source, root=paths.root)
    return examine(observed(paths, machine, noise))


def observed(paths: Paths, machine: Machine, noise: Noise) -> Observed:
    """Return what the findings look at: the machine's facts, the software here, and a run's measured limits."""
    run, on = _run(paths, machine.digest)
    return Observed(machine.facts, noise, _present(machine), _need(), _facts(run), on)


def _present(machine: Machine) -> dict[str, bool]:
    return {
        "native": find_spec("ipclab_native") is not None,
        "MPI": find_spec("mpi4py") is not None and machine.facts.get("mpi") is not None,
        "Go": machine.facts.get("go") is not None or which("go") is not None,
        "fonts": find_spec("noto_cjk_sans_otc") is not None,
    }


def _need() -> int:
    from ipclab.measure.session import SHARED_MEMORY_SLACK, Request

    points = Request().points()
    return SHARED_MEMORY_SLACK + max(each.shared_memory(point) for each, found in points for point in found)


def _run(paths: Paths, machine: str) -> tuple[RunFolder | None, str]:
    mine = folder.newest(paths.runs, lambda run: run.finished and run.about["machine"]["digest"] == machine)
    if mine:
        return mine, f"run {mine.id}"
    if not paths.reference.is_file():
        return None, "no run"
    return opened(paths, paths.reference), "the reference run, another machine"


def _facts(run: RunFolder | None) -> Mapping[str, Fact]:
    file = run.path / FACTS if run else None
    if file is None or not file.is_file():
        return {}
    told = json.loads(file.read_text(encoding="utf-8"))
    return {name: Fact(**fact) for name, fact in told.items() if name.startswith("limit.")}


def lines(found: Sequence[Finding]) -> Iterator[str]:
    """Yield the findings as text: the state, what was seen, and for all but fit the effect, its source and the fix."""
    for each in found:
        yield f"{each.state:<12} {each.name:<16} {each.seen}"
        if each.state != FIT:
            yield f"{'':<12} {'effect':<16} {each.effect} [{each.source}]"
            yield f"{'':<12} {'fix':<16} {each.fix}"


def judge(found: Sequence[Finding], state: str) -> None:
    """Raise `LabError` that names every finding of `state`, when there is one."""
    names = [each.name for each in found if each.state == state]
    if names:
        count = "one reservation" if len(names) == 1 else f"{len(names)} reservations"
        raise LabError(count, ", ".join(names), "each stands above with its effect and its fix")
