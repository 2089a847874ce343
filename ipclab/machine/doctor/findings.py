"""What each observation means: when it is wrong; what is then said stands in `findings.toml`."""

import tomllib
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ipclab.machine import Value
from ipclab.machine.conditions import QUEUE_SHARE, STEAL_SHARE
from ipclab.machine.doctor.noise import Noise

FIT, NOTE, RESERVATION = "fit", "note", "reservation"
INTERRUPT_US, INTERRUPT_SHARE = 2.0, 0.01
US, MIB, GIB = 1_000, 1 << 20, 1 << 30
LEAST_FILES, LEAST_LOCKED, LEAST_MEMORY, LEAST_ROOM = 1_024, 8 * MIB, 2 * GIB, GIB


@dataclass(frozen=True)
class Finding:
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
    """

    facts: Mapping[str, Value]
    noise: Noise
    present: Mapping[str, bool]
    need: int = 0
    shm_fault: str = ""
    alone: bool | None = None
    times: Mapping[str, float] = field(default_factory=dict)
    measured_on: str = "no run"


Judge = Callable[[Observed], object]


def _fact(name: str, wrong: Callable[[Any], object]) -> Judge:
    """Return what judges a fact, where there is one."""
    return lambda seen: None if seen.facts.get(name) is None else wrong(seen.facts[name])


def _noise(name: str, most: float) -> Judge:
    """Return what judges a kind of noise, where it is told."""
    return lambda seen: None if getattr(seen.noise, name) is None else getattr(seen.noise, name) > most


def _lacks(name: str) -> Judge:
    return lambda seen: not seen.present[name] if name in seen.present else None


def _halts(seen: Observed) -> object:
    kind = seen.facts.get("virtualisation")
    return None if kind is None else kind != "none" and seen.facts.get("idle_governor") != "haltpoll"


def _other_clock(seen: Observed) -> object:
    known = seen.facts.get("clocksources")
    return _fact("clocksource", lambda name: name != "tsc" and isinstance(known, list) and "tsc" in known)(seen)


def _cramped(seen: Observed) -> object:
    return bool(seen.shm_fault) or _fact("shm_free", lambda free: free < seen.need)(seen)


# Whether it is wrong; None where the machine does not tell: then there is no finding.
JUDGES: dict[str, Judge] = {
    "steal": _noise("steal", STEAL_SHARE),
    "run queue": _noise("queue", QUEUE_SHARE),
    "interrupts": _noise("interrupts", INTERRUPT_SHARE * 1e6 / INTERRUPT_US),
    "governor": _fact("frequency_governor", lambda name: name != "performance"),
    "turbo": _fact("boost", bool),
    "SMT": _fact("threads_per_core", lambda threads: threads > 1),
    "CPUs": _fact("cpus_allowed", str.isdigit),
    "virtual machine": _halts,
    "clock": _other_clock,
    "CPU quota": lambda seen: seen.facts.get("cpu_quota") is not None,
    "memory limit": lambda seen: bool(_fact("memory_limit", lambda most: most < LEAST_MEMORY)(seen)),
    "/dev/shm": _cramped,
    "data folder": _fact("scratch_free", lambda free: free < LEAST_ROOM),
    "open files": _fact("open_files_soft", lambda most: most < LEAST_FILES),
    "locked memory": _fact("locked_memory", lambda most: most < LEAST_LOCKED),
    "container": _fact("container", lambda kind: kind != "none"),
    "io_uring": _fact("io_uring", lambda allowed: not allowed),
    "MPI network": lambda seen: None if seen.alone is None or not seen.present.get("MPI") else not seen.alone,
    **{name: _lacks(name) for name in ("native", "MPI", "Go", "fonts")},
}


def examine(seen: Observed) -> list[Finding]:
    """Return every finding, in the order of `findings.toml`; what the machine does not tell gives none."""
    texts = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    words, found = _words(seen), []
    for name, text in texts.items():
        wrong = JUDGES[name](seen)
        if wrong is not None:
            said = {key: text[key].format(**words) for key in ("effect", "source", "fix") if wrong}
            state = text.get("severity", RESERVATION) if wrong else FIT
            found.append(Finding(name, state, text["seen"].format(**words), **said))
    return found


def _words(seen: Observed) -> dict[str, Any]:
    """Return what the texts may name."""
    facts, noise = defaultdict[str, Any](lambda: None, seen.facts), seen.noise
    low, high, quota, limit = (facts[f] for f in ("frequency_min", "frequency_max", "cpu_quota", "memory_limit"))
    took = {name: f"{ns / US:.1f} us" if ns >= US else f"{ns:.0f} ns" for name, ns in seen.times.items()}
    return {
        **{"STEAL_SHARE": STEAL_SHARE, "QUEUE_SHARE": QUEUE_SHARE, "INTERRUPT_US": INTERRUPT_US},
        **{"facts": facts, "noise": noise, "measured_on": seen.measured_on, "need": seen.need / MIB},
        "took": defaultdict(lambda: "an unknown time", took),
        "present": {name: "ready" if there else "absent" for name, there in seen.present.items()},
        "used": "" if noise.busy is None else f", {noise.busy:.0%} of the CPUs' time used",
        "interrupted": (noise.interrupts or 0) * INTERRUPT_US / 1e6,
        "slower": f"{high / low:.1f} times" if low and high else "several times",
        "boost": "on" if facts["boost"] else "off",
        "quota": "none" if quota is None else f"{quota:g} CPUs, held back {noise.throttled or 0:.1%} of the time",
        "memory": "none" if limit is None else f"{limit / GIB:.1f} GiB",
        "shm": seen.shm_fault or f"{(facts['shm_free'] or 0) / MIB:,.0f} MiB free",
        "room": (facts["scratch_free"] or 0) / GIB,
        "locked": (facts["locked_memory"] or 0) / MIB,
        "io_uring": "allowed" if facts["io_uring"] else "forbidden",
        "network": "of its own" if seen.alone else "the host's",
    }
