"""The facts that identify a machine: each has a kind and a range, and all of them are there.

Their digest names the machine. A fact that could not be read is `None`, which its reason explains.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ipclab.errors import plain

MOST_CPUS = 1 << 16
Line = Annotated[str, Meta(max_length=300, pattern=r"\A[^\r\n]*\Z")]
Cpus = Annotated[str, Meta(max_length=1 << 16, pattern=r"\A[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*\Z")]
CpuSets = Annotated[list[Cpus], Meta(min_length=1, max_length=MOST_CPUS)]
Number = Annotated[int, Meta(ge=0, le=1 << 32)]
Several = Annotated[int, Meta(ge=1, le=MOST_CPUS)]
Bytes = Annotated[int, Meta(ge=1, le=1 << 60)]


class Identity(Struct, frozen=True, kw_only=True):
    """What tells one machine from another; sizes in bytes, CPUs as the kernel lists them."""

    cpu_vendor: Line | None
    cpu_model: Line | None
    cpu_family: Number | None
    cpu_model_number: Number | None
    cpu_stepping: Number | None
    sockets: Several | None
    cores: Several | None
    threads: Several | None
    threads_per_core: Several | None
    numa_nodes: Several | None
    core_sharing: CpuSets | None
    node_sharing: CpuSets | None
    cache_sharing: dict[Line, Line] | None
    cache_l1d: Bytes | None
    cache_l1i: Bytes | None
    cache_l2: Bytes | None
    cache_l3: Bytes | None
    cache_line: Bytes | None
    memory_installed: Bytes | None
    page_size: Bytes | None
    kernel_release: Line | None
    architecture: Line | None
    virtualisation: Line | None
    maker: Line | None
    product: Line | None

    def wrong(self) -> Iterator[str]:
        """Yield what of it cannot be together: numbers of CPUs, and the lists that count them."""
        counts = self.sockets, self.cores, self.threads
        if None not in counts and list(counts) != sorted(counts):  # type: ignore[type-var]
            told = ", ".join(map(str, counts))
            yield f"sockets, cores and threads of its machine are {told}"
        for name, count, listed in (
            ("cores", self.cores, self.core_sharing),
            ("memory nodes", self.numa_nodes, self.node_sharing),
            ("threads", self.threads, self.cpus()),
        ):
            if count is not None and listed is not None and len(listed) != count:
                yield f"its machine has {count} {name}, and lists {len(listed)}"

    def cpus(self) -> frozenset[int] | None:
        """Return the CPUs of the machine, None where they are not known.

        Raises `ValueError` for more than a kernel has.
        """
        if self.core_sharing is None:
            return None
        return frozenset[int]().union(*map(cpus_listed, self.core_sharing))


NAMES = Identity.__struct_fields__


def cpus_listed(text: str) -> frozenset[int]:
    """Return the CPUs of a kernel list such as `0-3,8`.

    Raises `ValueError` for anything else, and for one above `MOST_CPUS`.
    """
    found: set[int] = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        if max(int(first), int(last or first)) >= MOST_CPUS:
            raise ValueError(f"there is no CPU {last or first}")
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)


def identity_of(facts: Mapping[str, Any]) -> Identity:
    """Return what of `facts` identifies a machine.

    Raises `ValueError` for a fact that is missing, of another kind, or out of its range.
    """
    if lacking := [name for name in NAMES if name not in facts]:
        raise ValueError(f"its machine's facts lack {lacking[0]}")
    try:
        return msgspec.convert({name: facts[name] for name in NAMES}, Identity)
    except msgspec.ValidationError as error:
        raise ValueError(f"a fact of its machine cannot be: {plain(str(error))}") from error


def digest_of(facts: Mapping[str, Any]) -> str:
    """Return the first 12 hex digits of the SHA-256 of the identifying facts' canonical JSON."""
    stable = {name: facts.get(name) for name in NAMES}
    text = json.dumps(stable, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


# Amounts among the facts that only vary: numbers, or lists of them, with their unit
AMOUNTS = (
    "frequency_min", "frequency_max", "frequency_seen", "swap_total", "fault_around", "dirty_ratio",
    "timer_frequency", "clock_resolution", "halt_polling_guest", "halt_polling_host", "shm_size",
    "shm_free", "scratch_free", "socket_receive_default", "socket_receive_max",
    "socket_send_default", "socket_send_max", "tcp_receive", "tcp_send", "loopback_mtu",
    "locked_memory", "pipe_size_max", "memory_limit",
)  # fmt: skip


def amounts_wrong(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield which of the amounts among `facts` are none: texts, or numbers below zero."""
    for name in AMOUNTS:
        value = facts.get(name)
        values = value if isinstance(value, list) else [] if value is None else [value]
        if not all(type(each) in (int, float) and 0 <= each < 1 << 63 for each in values):
            yield f"its machine's {name} is {plain(str(value))[:40]!r}"
