"""Placement as a factor: which CPUs each role of a launch may use."""

from dataclasses import dataclass
from itertools import combinations

from ipclab.machine.topology import Topology
from ipclab.store.questions import RELATIONS

# What `cross` stands for, best first: cores with a common L3; SMT siblings if there is nothing else.
CROSS_ORDER = ("l3", "l2", "numa", "remote", "smt")


@dataclass(frozen=True)
class Placement:
    """A level of the factor: its name, CPUs for each role, and how near the first two are.

    `relation` is one of `ipclab.store.questions.RELATIONS`, or `free` when the scheduler decides.
    """

    name: str
    cpus: tuple[frozenset[int], ...]
    relation: str

    def role(self, index: int) -> frozenset[int]:
        """Return the CPUs of role `index` (from 0); with more roles than sets they start over."""
        return self.cpus[index % len(self.cpus)]


def placements(topology: Topology) -> dict[str, Placement]:
    """Return `same`, with two CPUs `cross`, `cross-<relation>` for further ones, and `free`.

    `cross` is two cores with a common L3 if there are such; it lists one CPU of every core, nearest
    first, so that any number of roles spreads over cores. The others have the CPUs of their pair
    only: `cross-numa` shares a node but no cache, `cross-remote` not even that. The lowest CPUs of
    a relation stand for it, so the choice repeats. `cross_missing` says what is not there.
    """
    pairs: dict[str, tuple[int, int]] = {}  # the first two CPUs of each relation
    for pair in combinations(topology.allowed, 2):
        pairs.setdefault(topology.relation(*pair), pair)
        if len(pairs) == len(CROSS_ORDER):
            break
    nearest = next((relation for relation in CROSS_ORDER if relation in pairs), "same")
    cross = pairs.pop(nearest, (topology.allowed[0],) * 2)
    # roles on one CPU each
    single: dict[str, tuple[tuple[int, ...], str]] = {"same": (cross[:1], "same")}
    if nearest != "same":
        single["cross"] = _spread(topology, cross), nearest
    for relation in sorted(pairs, key=RELATIONS.index):
        single[f"cross-{relation}"] = pairs[relation], relation
    placed = {}
    for name, (cpus, relation) in single.items():
        placed[name] = Placement(name, tuple(frozenset({cpu}) for cpu in cpus), relation)
    return placed | {"free": Placement("free", (frozenset(topology.allowed),), "free")}


def cross_missing(topology: Topology) -> dict[str, str]:
    """Return why `cross`, which every study asks for, is not there; {} where it is."""
    if len(topology.allowed) > 1:
        return {}
    others = len(topology.online) - 1
    cause = (
        f"{others} more are online but not allowed" if others > 0 else "the machine has no other"
    )
    return {"cross": f"this process may use one CPU only; {cause}"}


def _spread(topology: Topology, pair: tuple[int, int]) -> tuple[int, ...]:
    """Return the pair, then the first allowed CPU of each unused core, nearest first."""
    taken = list(pair)
    used = topology.siblings(pair[0]) | topology.siblings(pair[1])
    order = sorted(
        topology.allowed, key=lambda cpu: (RELATIONS.index(topology.relation(pair[0], cpu)), cpu)
    )
    for cpu in order:
        if cpu not in used:
            taken.append(cpu)
            used |= topology.siblings(cpu)
    return tuple(taken)
