"""Which CPUs share a core, a cache, a node."""

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ipclab.machine.parse import size
from ipclab.machine.source import Source
from ipclab.store.identity import cpus_listed

CPUS = "/sys/devices/system/cpu"
NODES = "/sys/devices/system/node"
CpuSet = frozenset[int]
NONE: CpuSet = frozenset()


class Cache(NamedTuple):
    """One cache: level, type (`Data`, `Instruction`, `Unified`), bytes, line (or 0), CPUs."""

    level: int
    type: str
    size: int
    line: int
    cpus: CpuSet


@dataclass(frozen=True)
class Topology:
    """The CPUs online, those allowed here, and sets that share core, cache, node or package."""

    online: CpuSet
    allowed: tuple[int, ...]
    cores: tuple[CpuSet, ...]
    caches: tuple[Cache, ...]
    nodes: tuple[CpuSet, ...]
    packages: tuple[CpuSet, ...]

    @classmethod
    def read(cls, source: Source) -> "Topology":
        """Read it from /sys and the affinity; a CPU without files stands alone."""
        affinity = frozenset(source.system.affinity())
        online = source.parsed(f"{CPUS}/online", cpus_listed, affinity) or affinity
        return cls(
            online, tuple(sorted(affinity & online or affinity)),
            cores=_sets(source, online, ("core_cpus_list", "thread_siblings_list")),
            caches=_caches(source, online), nodes=_nodes(source, online),
            packages=_sets(source, online, ("package_cpus_list", "core_siblings_list")),
        )  # fmt: skip

    @cached_property
    def _near(self) -> dict[str, dict[int, CpuSet]]:
        """Relation -> CPU -> the CPUs that are so near to it, nearest first."""
        shared = defaultdict[int, list[CpuSet]](list)
        for cache in self.caches:
            if cache.type != "Instruction":
                shared[cache.level].append(cache.cpus)
        sets = {"smt": self.cores, "l2": shared[2], "l3": shared[3], "numa": self.nodes}
        return {name: {cpu: near for near in each for cpu in near} for name, each in sets.items()}

    def siblings(self, cpu: int) -> CpuSet:
        """Return the CPUs of `cpu`'s core, itself among them."""
        return self._near["smt"].get(cpu, frozenset({cpu}))

    def relation(self, a: int, b: int) -> str:
        """Return the nearest level that CPUs `a` and `b` share, one of `store.questions.RELATIONS`."""
        if a == b:
            return "same"
        return next((name for name, near in self._near.items() if b in near.get(a, NONE)), "remote")


def _sets(source: Source, online: CpuSet, names: tuple[str, ...]) -> tuple[CpuSet, ...]:
    """Split the CPUs by the first topology file that is there (older kernels: the second)."""
    done: dict[int, CpuSet] = {}
    for cpu in sorted(online):
        if cpu not in done:
            files = (
                source.parsed(f"{CPUS}/cpu{cpu}/topology/{name}", cpus_listed, NONE)
                for name in names
            )
            members = (next(filter(None, files), NONE) & online) | {cpu}
            for member in members:
                done.setdefault(member, members)
    return tuple(dict.fromkeys(done.values()))


def _caches(source: Source, online: CpuSet) -> tuple[Cache, ...]:
    caches: list[Cache] = []
    for index in range(10):  # index0 is the innermost; the kernel numbers them without gaps
        seen: set[int] = set()
        for cpu in sorted(online):
            if cpu not in seen and (
                cache := _cache(source, f"{CPUS}/cpu{cpu}/cache/index{index}", online)
            ):
                caches.append(cache)
                seen |= cache.cpus
        if not seen:
            break
    return tuple(sorted(caches, key=lambda cache: (cache.level, cache.type, min(cache.cpus))))


def _cache(source: Source, folder: str, online: CpuSet) -> Cache | None:
    level = source.parsed(f"{folder}/level", int, 0)
    kind = source.parsed(f"{folder}/type", str, "")
    cpus = source.parsed(f"{folder}/shared_cpu_list", cpus_listed, NONE) & online
    # Virtual ARM machines tell the level but not the size.
    size_bytes = source.parsed(f"{folder}/size", size, 0)
    line = source.parsed(f"{folder}/coherency_line_size", size, 0)
    return Cache(level, kind, size_bytes, line, cpus) if level and kind and cpus else None


def _nodes(source: Source, online: CpuSet) -> tuple[CpuSet, ...]:
    names = [name for name in source.names(NODES) if name.startswith("node") and name[4:].isdigit()]
    nodes = [source.parsed(f"{NODES}/{name}/cpulist", cpus_listed, NONE) & online for name in names]
    return tuple(sorted(filter(None, nodes), key=min)) or (online,)
