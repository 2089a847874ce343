"""Is this machine fit to measure? One visit observes it; `doctor.toml` says what is wrong, its effect and its fix."""

import time
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any, NamedTuple

import numpy as np
from jinja2 import Environment

from ipclab.errors import LabError
from ipclab.machine import AbsentError, Conditions, Machine, Source, Value, collect, conditions
from ipclab.machine.conditions import QUEUE_SHARE, STEAL_SHARE, grown
from ipclab.machine.storage import SHM
from ipclab.paths import Paths
from ipclab.stats.intervals import rank
from ipclab.store import run as folder
from ipclab.store.bundle import opened
from ipclab.store.point import Point
from ipclab.store.run import RunFolder
from ipclab.store.samples import decode

FIT, NOTE, RESERVATION = "fit", "note", "reservation"
LANGUAGE = Environment(autoescape=False)
US = 1_000
CONSTANTS = {"STEAL_SHARE": STEAL_SHARE, "QUEUE_SHARE": QUEUE_SHARE, "MIB": 1 << 20, "GIB": 1 << 30}
NEIGHBOURS = "neighbours"
TIMES = (("futex-wake", "same"), ("futex-wake", "cross"), ("clock", "same"), ("syscall", "same"))
PROBE_SECONDS = 5.0
SECONDS = 5.0  # of doing nothing, watched
STEPS = 50


Noise = dict[str, float | None]


class Finding(NamedTuple):
    """One observation: its `state`, what was `seen`; for all but fit the `effect` with its `source`, and the `fix`."""

    name: str
    state: str
    seen: str
    effect: str = ""
    source: str = ""
    fix: str = ""


@dataclass(frozen=True)
class Observed:
    """What a finding may look at.

    `facts` are the machine's, `present` tells which parts of the software are there, `need` is the shared memory
    (bytes) of the largest point, `shm_fault` why /dev/shm cannot be used, `alone` whether MPI's daemon can have a
    network of its own (None: unknown), and `times` (ns) are limits measured in a run, which `measured_on` names.
    `isolation` has median round trips (ns) of unix beside a process that computes, by neighbour and what isolates it.
    """

    facts: Mapping[str, Value]
    noise: Noise
    present: Mapping[str, bool]
    need: int = 0
    shm_fault: str = ""
    alone: bool | None = None
    times: Mapping[str, float] = field(default_factory=dict)
    measured_on: str = "no run"
    isolation: Mapping[str, float] = field(default_factory=dict)


def examine(seen: Observed) -> list[Finding]:
    """Return every finding, in the order of `doctor.toml`; what the machine does not tell gives none."""
    took = {name: f"{ns / US:.1f} us" if ns >= US else f"{ns:.0f} ns" for name, ns in seen.times.items()}
    names = {**CONSTANTS, **vars(seen), "facts": defaultdict[str, Any](lambda: None, seen.facts)}
    names["took"] = defaultdict(lambda: "an unknown time", took)
    texts = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return [found for name, text in texts.items() if (found := _examined(name, text, names))]


def _examined(name: str, text: Mapping[str, Any], names: dict[str, Any]) -> Finding | None:
    value = _asked(text.get("value", "true"), names)
    if value is None:
        return None
    wrong = bool(_asked(text["wrong"], names := {**names, "value": value}))
    names["wrong"] = wrong
    names |= {word: _asked(expression, names) for word, expression in text.get("words", {}).items()}
    said = {key: text[key].format_map(names) for key in ("seen", "effect", "source", "fix")}
    return Finding(name, text.get("severity", RESERVATION), **said) if wrong else Finding(name, FIT, said["seen"])


def _asked(expression: str, names: Mapping[str, Any]) -> Any:
    return LANGUAGE.compile_expression(expression)(names)


def lines(found: Sequence[Finding]) -> Iterator[str]:
    """Yield the findings as text: the state, what was seen, and for all but fit the effect, its source and the fix."""
    for each in found:
        yield f"{each.state:<12} {each.name:<16} {each.seen}"
        if each.state != FIT:
            yield f"{'':<12} {'effect':<16} {each.effect} [{each.source}]"
            yield f"{'':<12} {'fix':<16} {each.fix}"


def judge(found: Sequence[Finding], state: str) -> None:
    """Raise `LabError` that names every finding of `state`, when there is one."""
    if names := [each.name for each in found if each.state == state]:
        count = "one reservation" if len(names) == 1 else f"{len(names)} reservations"
        raise LabError(count, ", ".join(names), "each stands above with its effect and its fix")


def visit(
    paths: Paths,
    source: Source,
    need: int,
    seconds: float = SECONDS,
    clock: Callable[[], int] = time.monotonic_ns,
    sleep: Callable[[float], None] = time.sleep,
) -> list[Finding]:
    """Return what is found on this machine (or behind `source`) in about `seconds`; `need` as in `Observed`.

    Limits are those of a run on this machine, or of the reference run when there is none.
    """
    noise, machine = watch(lambda: reading(source), clock, sleep, seconds), collect(source, root=paths.root)
    run, on = _run(paths, machine.digest)
    times = {f"{name} {place}": ns for name, place in TIMES if run and (ns := _time(run, name, place)) is not None}
    fault = "it cannot be written" if not source.system.writable(SHM) else ""
    fault = fault if source.exists(SHM) else "there is none"
    may, gains = _may_be_alone(source), isolation(paths, machine.digest)
    return examine(Observed(machine.facts, noise, _present(machine), need, fault, may, times, on, gains))


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
    """Return the noise of about `seconds`, None for what is not told; `clock` gives ns.

    `steal`: share of the CPUs' time taken by the host. `queue`: other tasks running or ready, mean a CPU. `busy`:
    share of the CPUs' time used. `interrupts`: a second and CPU. `throttled`: share of the time held back by a quota.
    """
    began, seen = clock(), [read()]
    for _ in range(STEPS):
        sleep(seconds / STEPS)
        seen.append(read())
    first, last, elapsed = seen[0], seen[-1], max(1, clock() - began)
    cpus = float(last.get("cpus") or 1)
    waiting = [max(0.0, running - 1) for each in seen if (running := each.get("running")) is not None]

    def share(key: str, of: float) -> float | None:
        more = grown(first, last, key)
        return None if more is None else more / of

    return {
        "steal": share("steal_ns", elapsed * cpus),
        "queue": sum(waiting) / len(waiting) / cpus if waiting else None,  # beside the task that reads
        "busy": share("busy_ns", elapsed * cpus),
        "interrupts": share("interrupts", elapsed / 1e9 * cpus),
        "throttled": share("throttled_ns", elapsed),
    }


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
    """Return the median time in ns of a limit's best launch; None when the run does not have it."""
    try:
        measured = decode(run.path / run.file(Point("limits", limit, 0, placement)))
    except LabError:
        return None
    times = [np.sort(launch.times(measured.op_names()[0])) for launch in measured.launches]
    return float(min(values[rank(len(values), 0.5)] for values in times))


def isolation(paths: Paths, machine: str) -> dict[str, float]:
    """Return the median in ns of unix round trips beside a CPU hog, by `neighbour/isolation`, of the newest run."""
    folders = f"points/{NEIGHBOURS}/"

    def fits(run: RunFolder) -> bool:
        return run.about["machine"]["digest"] == machine and any(
            name.startswith(folders) for name in run.about["files"]
        )

    if (run := folder.newest(paths.runs, fits)) is None:
        return {}
    found: dict[str, list[float]] = defaultdict(list)
    for point, launches in ((each.point, each.launches) for each in map(decode, run.checked(folders).values())):
        if point.backend == "unix" and point.levels["arm"] == "isolation" and point.levels["neighbour"] != "quiet":
            key = f"{point.levels['neighbour']}/{point.levels['isolation']}"
            found[key] += [float(np.median(launch.times("intended"))) for launch in launches]
    return {key: float(np.median(medians)) for key, medians in found.items()}
