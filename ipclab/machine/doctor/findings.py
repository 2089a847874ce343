"""What each observation means: `findings.toml` says when it is wrong, and what is then said."""

import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment

from ipclab.errors import LabError
from ipclab.machine import Value
from ipclab.machine.conditions import QUEUE_SHARE, STEAL_SHARE

FIT, NOTE, RESERVATION = "fit", "note", "reservation"
LANGUAGE = Environment(autoescape=False)
US = 1_000
CONSTANTS = {"STEAL_SHARE": STEAL_SHARE, "QUEUE_SHARE": QUEUE_SHARE, "MIB": 1 << 20, "GIB": 1 << 30}


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


def examine(seen: Observed) -> list[Finding]:
    """Return every finding, in the order of `findings.toml`; what the machine does not tell gives none."""
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
    names = [each.name for each in found if each.state == state]
    if names:
        count = "one reservation" if len(names) == 1 else f"{len(names)} reservations"
        raise LabError(count, ", ".join(names), "each stands above with its effect and its fix")
