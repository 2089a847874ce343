"""How the facts of a machine are read: by the kind of text of a file, or by `readers`."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from ipclab.machine.answers import field, memory_sold
from ipclab.machine.parse import choice, size
from ipclab.machine.readers import READERS
from ipclab.machine.source import AbsentError, Source, scrub
from ipclab.machine.table import FACTS, Fact, Value
from ipclab.store.identity import digest_of

# What the text of a fact's file is.
KINDS: dict[str, Callable[[str], Value]] = {
    "text": str,
    "choice": choice,
    "cpus": lambda text: text.replace("(null)", ""),
    "size": size,
    "installed": memory_sold,
    "number": lambda text: int(text, 0),
    "kHz": lambda text: int(text) * 1000,
    "MHz": lambda text: round(float(text) * 1e6),
    "numbers": lambda text: [int(word) for word in text.split()],
    "words": lambda text: [*text.split()],
}


def take_fact(fact: Fact, source: Source) -> tuple[Value, str]:
    """Return the value and "", or None and the reason; never raises for bad input."""
    try:
        if fact.key:
            value = KINDS[fact.kind](field(source, fact.file, *fact.key.split("|")))
        elif fact.file:
            value = KINDS[fact.kind](source.text(fact.file).strip())
        else:
            value = READERS[fact.name](source)
    except AbsentError as absent:
        return None, absent.reason
    except (ValueError, KeyError, IndexError, OSError, ArithmeticError):
        return None, "unparsable"
    # An owner may have put his name into free text, such as the product's.
    return scrub(value, source.system.uname()[0]) if isinstance(value, str) else value, ""


class Machine(NamedTuple):
    """Facts by name (None: see `reasons`), raw files by path, the short digest."""

    facts: dict[str, Value]
    reasons: dict[str, str]
    raw: dict[str, str]
    digest: str


def collect(source: Source | None = None) -> Machine:
    """Read every fact from this machine or `source` in 0.5 s; it raises no exceptions."""
    fresh = replace(source or Source(), raw={}, _memo={})
    taken = {fact.name: take_fact(fact, fresh) for fact in FACTS}
    facts = {name: value for name, (value, _) in taken.items()}
    reasons = {name: reason for name, (_, reason) in taken.items() if reason}
    return Machine(facts, reasons, dict(sorted(fresh.raw.items())), digest_of(facts))
