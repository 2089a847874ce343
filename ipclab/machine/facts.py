"""What is known of a machine: `facts.csv` has a line for each fact, and what its names stand for is here."""

import csv
import os
import platform
import sys
import sysconfig
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from ipclab import __version__
from ipclab.machine import cgroup, hardware, parse, software, storage
from ipclab.machine.source import AbsentError, Source, scrub

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

FUNCTIONS = (
    cgroup.cpu_quota, cgroup.memory_limit, hardware.boost, hardware.container, hardware.cpuinfo,
    hardware.frequency_now, hardware.idle_states, hardware.init_manages, hardware.meminfo, hardware.model,
    hardware.topology, hardware.vendor, hardware.virtualisation, software.condition, software.config,
    software.io_uring, software.limit, software.lock_digest, software.mitigations, software.options,
    software.packages, software.preemption, software.tickless, software.tool, storage.disk, storage.filesystem,
    storage.mount_options, storage.scheduler, storage.space,
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


def _table() -> tuple[Fact, ...]:
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        return tuple(Fact(**{**row, "affects": AFFECTS[row["affects"]]}) for row in csv.DictReader(file))


FACTS = _table()
