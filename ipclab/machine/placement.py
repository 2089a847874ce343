"""Placement as a factor: which CPUs each role of a launch may use."""

from dataclasses import dataclass

from ipclab.errors import UsageError
from ipclab.machine.topology import RELATIONS, Topology, pairs


@dataclass(frozen=True)
class Placement:
    """A level of the factor: its name, one set of CPUs for each role, and how near the first two CPUs are.

    `relation` is one of `ipclab.machine.topology.RELATIONS`, or `free` when the scheduler decides.
    """

    name: str
    cpus: tuple[frozenset[int], ...]
    relation: str

    def role(self, index: int) -> frozenset[int]:
        """Return the CPUs of role `index` (from 0); with more roles than sets they start over."""
        if index < 0:
            raise UsageError(f"role {index}", "roles are counted from 0", "give 0 or more")
        return self.cpus[index % len(self.cpus)]


def placements(topology: Topology) -> dict[str, Placement]:
    """Return `same`, `cross`, the further `cross-*` there are, and `free`; `missing` says what is not there.

    `cross` lists one CPU of every core, nearest first, so that any number of roles spreads over cores;
    the others have the CPUs of their pair only.
    """
    result = {}
    for name, pair in pairs(topology).items():
        cpus = _spread(topology, pair) if name == "cross" else tuple(dict.fromkeys(pair))
        result[name] = Placement(name, tuple(frozenset({cpu}) for cpu in cpus), topology.relation(*pair))
    result["free"] = Placement("free", (frozenset(topology.allowed),), "free")
    return result


def missing(topology: Topology) -> dict[str, str]:
    """Return why a placement that every study asks for is not there: {} or `cross` with its reason."""
    if len(topology.allowed) > 1:
        return {}
    others = len(topology.online) - 1
    cause = f"{others} more are online but not allowed" if others > 0 else "the machine has no other"
    return {"cross": f"this process may use one CPU only; {cause}"}


def _spread(topology: Topology, pair: tuple[int, int]) -> tuple[int, ...]:
    """Return the pair, then the first allowed CPU of each core that is not in use yet, nearest first."""
    taken = list(pair)
    used = topology.siblings(pair[0]) | topology.siblings(pair[1])
    order = sorted(topology.allowed, key=lambda cpu: (RELATIONS.index(topology.relation(pair[0], cpu)), cpu))
    for cpu in order:
        if cpu not in used:
            taken.append(cpu)
            used |= topology.siblings(cpu)
    return tuple(taken)
