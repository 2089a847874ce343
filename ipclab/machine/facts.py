"""What is known of a machine: a line of `facts.csv` for each fact, what its names stand for, and a digest of all."""

import csv
import hashlib
import json
import os
import platform
import sys
import sysconfig
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from ipclab import __version__
from ipclab.machine import cgroup, hardware, parse, software, storage
from ipclab.machine.source import AbsentError, Source, scrub
from ipclab.machine.topology import Topology
from ipclab.paths import Paths

Value: TypeAlias = bool | int | float | str | list["Value"] | dict[str, "Value"] | None

# What a difference in a fact affects (msgids); nothing where it merely varies or is far above use.
AFFECTS = {
    "": "",
    "code": "all code: the processor and its clock",
    "copying": "copying: caches, memory and pages",
    "waking": "waking another process: idling, scheduling, host",
    "entering": "entering the kernel: its release, mitigations, clock",
    "pipes": "sockets and pipes: their buffers",
    "files": "files: file systems and disks",
    "allowed": "what this process may use",
    "software": "software: system, interpreter, packages",
}
TOPICS = tuple(filter(None, AFFECTS.values()))
# Why a fact has no value, as a report says it (msgids).
REASONS = {"absent": "not offered by this machine", "denied": "may not be read", "unlimited": "no limit"}

FUNCTIONS = (
    cgroup.cpu_quota, cgroup.memory_limit, hardware.boost, hardware.container, hardware.cpuinfo,
    hardware.frequency_now, hardware.idle_states, hardware.meminfo, hardware.model, hardware.vendor,
    hardware.virtualisation, software.condition, software.io_uring, software.limit, software.lock_digest,
    software.mitigations, software.options, software.packages, software.preemption, software.tool, storage.disk,
    storage.mount_options, storage.scheduler,
)  # fmt: skip
# What is asked of a source, with the words behind the colon; a name that begins with a slash is a file.
SOURCES: dict[str, Callable[..., Any]] = {
    "system": lambda source, method, *words: getattr(source.system, method)(*words),
    "clock_resolution": lambda _: round(time.clock_getres(time.CLOCK_MONOTONIC) * 1e9),
    "superuser": lambda _: os.geteuid() == 0,
    "libc": lambda _: " ".join(platform.libc_ver()).strip() or "unknown",
    "python": lambda _, part: getattr(platform, f"python_{part}")(),
    "debug": lambda _: sysconfig.get_config_var("Py_DEBUG"),
    "built": lambda _, option: option in (sysconfig.get_config_var("CONFIG_ARGS") or ""),
    "gil": lambda _: getattr(sys, "_is_gil_enabled", lambda: True)(),
    "version": lambda _: __version__,
    "topology": lambda source: source.once("topology", lambda: Topology.read(source)),
    "init_manages": lambda source: source.read("/proc/1/comm").strip() in parse.KNOWN["inits"],
    "config": lambda source, option: software.config(source)[option],
    "tickless": lambda source: software.built_in(source, "tickless"),
    "space": lambda source, place: source.system.space(storage.folder(source, place)),
    "filesystem": lambda source, place: storage.mount(source, place).filesystem,
    **{function.__name__: function for function in FUNCTIONS},
}
# What becomes of the answer.
PARSERS: dict[str, Callable[..., Any]] = {
    "bounded": parse.bounded,
    "cache": hardware.cache,
    "cache_sharing": hardware.cache_sharing,
    "chosen": parse.chosen,
    "count": lambda topology, part: len(getattr(topology, part)),
    "cpus": lambda topology, part: parse.cpu_list(getattr(topology, part)),
    "features": lambda flags: [name for name in parse.KNOWN["features"] if name in flags.split()],
    "first_line": lambda text: text.splitlines()[0].strip(),
    "go_version": lambda text: text.split()[2].removeprefix("go"),
    "installed": hardware.installed,
    "item": lambda values, index: values[int(index)],
    "kilo": lambda text: int(text) * 1000,
    "number": lambda text: int(text, 0),
    "numbers": lambda text: [int(word) for word in text.split()],
    "os_name": software.os_name,
    "sharing": lambda topology, part: [parse.cpu_list(cpus) for cpus in getattr(topology, part)],
    "size": parse.size,
    "threads_per_core": lambda topology: max(map(len, topology.cores)),
    "uptime": lambda text: round(float(text.split()[0]) * 1e9),
    "without_null": lambda text: text.replace("(null)", ""),
    "word": lambda text, index: text.split()[int(index)],
    "words": str.split,
    **{kind.__name__: kind for kind in (bool, dict, float, int, list, str)},
}


class Fact(NamedTuple):
    """One line of the table: marks are `i` (identifies the machine), `s` (shown in reports); group and label msgids."""

    group: str
    name: str
    source: str
    parser: str
    unit: str
    marks: str
    affects: str
    label: str

    @property
    def identifies(self) -> bool:
        """Tell whether the machine's digest holds it."""
        return "i" in self.marks

    @property
    def shown(self) -> bool:
        """Tell whether reports list it."""
        return "s" in self.marks

    def take(self, source: Source) -> tuple[Value, str]:
        """Return the value and "", or None and the reason why there is none; never raises for bad input."""
        try:
            is_file = self.source.startswith("/")
            told = source.text(self.source).strip() if is_file else _call(SOURCES, self.source, source)
            value = _call(PARSERS, self.parser, told)
        except AbsentError as absent:
            return None, absent.reason
        except (ValueError, KeyError, IndexError, OSError, ArithmeticError):
            return None, "unparsable"
        # An owner may have put his name into free text, such as the product's.
        return scrub(value, source.system.uname()[0]) if isinstance(value, str) else value, ""


def _call(named: Mapping[str, Callable[..., Any]], text: str, subject: object) -> Any:
    name, _, words = text.partition(":")
    return named[name](subject, *filter(None, words.split("|")))


with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as _file:
    FACTS = tuple(Fact(**{**row, "affects": AFFECTS[row["affects"]]}) for row in csv.DictReader(_file))


@dataclass(frozen=True)
class Machine:
    """Facts by name (None where there is none: `reasons` says why), raw files by path, the short digest."""

    facts: dict[str, Value]
    reasons: dict[str, str]
    raw: dict[str, str]
    digest: str


def collect(source: Source | None = None, *, root: Path | None = None) -> Machine:
    """Read every fact from this machine or `source`, under 0.5 s, without exceptions; `root` is the checkout."""
    fresh = (source or Source()).fresh(Paths(root) if root else None)
    taken = {fact.name: fact.take(fresh) for fact in FACTS}
    facts = {name: value for name, (value, _) in taken.items()}
    reasons = {name: reason for name, (_, reason) in taken.items() if reason}
    return Machine(facts, reasons, dict(sorted(fresh.raw.items())), digest_of(facts))


def digest_of(facts: Mapping[str, Value]) -> str:
    """Return the first 12 hex digits of the SHA-256 of the identifying facts' canonical JSON."""
    stable = {fact.name: facts.get(fact.name) for fact in FACTS if fact.identifies}
    text = json.dumps(stable, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def shown(facts: Mapping[str, Value], reasons: Mapping[str, str]) -> list[tuple[Fact, Value, str]]:
    """Return each fact that reports list, its value in what a run stored, and else why there is none (msgid)."""

    def reason(name: str) -> str:
        return "" if facts.get(name) is not None else REASONS.get(reasons.get(name, ""), REASONS["absent"])

    return [(fact, facts.get(fact.name), reason(fact.name)) for fact in FACTS if fact.shown]


def affects() -> dict[str, tuple[str, ...]]:
    """Return what differences between machines affect (msgids) -> the names of the facts that matter for it."""
    return {topic: tuple(fact.name for fact in FACTS if fact.affects == topic) for topic in TOPICS}
