"""What is known of a machine: a line of `facts.csv` for each fact, what its names stand for, and a digest of all."""

import builtins
import csv
import hashlib
import json
import platform
import sys
import time
import tomllib
from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TypeAlias

import msgspec

from ipclab import __version__
from ipclab.machine import answers, cgroup, parse
from ipclab.machine.source import AbsentError, Source, scrub
from ipclab.machine.topology import Topology

Value: TypeAlias = bool | int | float | str | list["Value"] | dict[str, "Value"] | None

SAID = tomllib.loads(Path(__file__).with_name("labels.toml").read_text(encoding="utf-8"))
REASONS: dict[str, str] = SAID["reasons"]
TOPICS = tuple(SAID["affects"].values())
ELSE = " else "  # between a source and the next, which is asked where the one before has nothing

# What is asked of a source, with the words behind the colon; a name that begins with a slash is a file.
SOURCES: ChainMap[str, Any] = ChainMap(
    {
        "system": lambda source, method, *words: getattr(source.system, method)(*words),
        "call": lambda _, name, *words: resolve_name(name)(*words),
        "clock_resolution": lambda _: round(time.clock_getres(time.CLOCK_MONOTONIC) * 1e9),
        "libc": lambda _: " ".join(platform.libc_ver()).strip() or "unknown",
        "gil": lambda _: getattr(sys, "_is_gil_enabled", lambda: True)(),
        "version": lambda _: __version__,
        "topology": lambda source: source.once("topology", lambda: Topology.read(source)),
        "init_manages": lambda source: source.read("/proc/1/comm").strip() in parse.KNOWN["inits"],
        "config": lambda source, option: answers.config(source)[option],
        "space": lambda source, place: source.system.space(answers.folder(source, place)),
        "filesystem": lambda source, place: answers.mount(source, place).filesystem,
    },
    *map(vars, (answers, cgroup)),
)
# What becomes of the answer.
PARSERS: ChainMap[str, Any] = ChainMap(
    {
        "blanks": lambda text: " ".join(text.split()),
        "count": lambda topology, part: len(getattr(topology, part)),
        "cpus": lambda topology, part: parse.cpu_list(getattr(topology, part)),
        "features": lambda flags: [name for name in parse.KNOWN["features"] if name in flags.split()],
        "first_line": lambda text: text.splitlines()[0].strip(),
        "go_version": lambda text: text.split()[2].removeprefix("go"),
        "holds": lambda text, word: word in (text or ""),
        "is": lambda value, word: str(value) == word,
        "item": lambda values, index: values[int(index)],
        "kilo": lambda text: int(text) * 1000,
        "mega": lambda text: round(float(text) * 1e6),
        "number": lambda text: int(text, 0),
        "numbers": lambda text: [int(word) for word in text.split()],
        "sharing": lambda topology, part: [parse.cpu_list(cpus) for cpus in getattr(topology, part)],
        "threads_per_core": lambda topology: max(map(len, topology.cores)),
        "uptime": lambda text: round(float(text.split()[0]) * 1e9),
        "without_null": lambda text: text.replace("(null)", ""),
        "word": lambda text, index: text.split()[int(index)],
        "words": str.split,
    },
    *map(vars, (answers, parse, builtins)),
)


@dataclass(frozen=True)
class Fact:
    """One line of the table: whether the machine's digest holds it and reports list it; `group`, `label` are msgids."""

    group: str
    name: str
    source: str
    parser: str
    unit: str
    identifies: bool
    shown: bool
    affects: str
    label: str

    def take(self, source: Source) -> tuple[Value, str]:
        """Return the value and "", or None and the reason why there is none; never raises for bad input."""
        reason = ""
        for asked, parser in zip(self.source.split(ELSE), self.parser.split(ELSE), strict=True):
            try:
                told = source.text(asked).strip() if asked.startswith("/") else _call(SOURCES, asked, source)
                value = _call(PARSERS, parser, told)
            except AbsentError as absent:
                reason = absent.reason
            except (ValueError, KeyError, IndexError, OSError, ArithmeticError):
                return None, "unparsable"
            else:
                # An owner may have put his name into free text, such as the product's.
                return scrub(value, source.system.uname()[0]) if isinstance(value, str) else value, ""
        return None, reason


def _call(named: Mapping[str, Callable[..., Any]], text: str, subject: object) -> Any:
    name, _, words = text.partition(":")
    return named[name](subject, *filter(None, words.split("|")))


with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as _file:
    _topics = {"": "", **SAID["affects"]}
    _rows = [{**row, "affects": _topics[row["affects"]]} for row in csv.DictReader(_file)]
FACTS = msgspec.convert(_rows, tuple[Fact, ...], strict=False)


@dataclass(frozen=True)
class Machine:
    """Facts by name (None where there is none: `reasons` says why), raw files by path, the short digest."""

    facts: dict[str, Value]
    reasons: dict[str, str]
    raw: dict[str, str]
    digest: str


def collect(source: Source | None = None, *, root: Path | None = None) -> Machine:
    """Read every fact from this machine or `source`, under 0.5 s, without exceptions; `root` is the checkout."""
    fresh = replace(source or Source(), raw={}, _memo={})
    fresh = replace(fresh, paths=replace(fresh.paths, root=root)) if root else fresh
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
