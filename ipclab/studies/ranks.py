"""Which processes launch a point: MPI ranks where its mechanism takes them, else workers."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

from ipclab.backends import installed as registry
from ipclab.spawn.mpi_outer import world
from ipclab.spawn.outer_bench import OuterBench
from ipclab.spawn.rank_bench import RankBench
from ipclab.store.point import Point
from ipclab.studies.interface import Bench, Contestant, HeatOutcomes, Schedule, Site


def on_ranks(site: Site, count: int, preload: str) -> AbstractContextManager[Bench]:
    """Give ranks: those of the launcher around us, else `count` of ours that import `preload`."""
    if here := world():
        nodes = []
        for node in here.nodes:
            name = {"name": node.name} if node.name else {}
            nodes.append({"ranks": node.ranks, **name, **node.machine})
        site.note("nodes", nodes)
        return nullcontext(OuterBench(site.launcher, here))
    return RankBench(site.launcher, count, (preload,))


@contextmanager
def on_ranks_or_workers(site: Site, points: Sequence[Point], preload: str) -> Iterator[Bench]:
    """Give ranks for each of `points` whose backend has its ends there, and workers for all others.

    Two of them, or one for each consumer of a point and one for its producer.
    """
    ranked = {name for name, backend in registry.backends().items() if backend.ranks}
    consumers = [
        int(point.levels.get("consumers", 1)) for point in points if point.backend in ranked
    ]
    if not consumers:
        yield site.workers
        return
    with on_ranks(site, 1 + max(consumers), preload) as bench:

        def run(heat: Mapping[str, Contestant], schedule: Schedule) -> HeatOutcomes:
            """Run the heat of the workers, and next to it, in turn, those that own their ranks."""
            own = {name: one for name, one in heat.items() if one.point.backend in ranked}
            others = {name: one for name, one in heat.items() if name not in own}
            ends = site.workers(others, schedule) if others else {}
            for name, contestant in own.items():
                ends |= bench({name: contestant}, schedule)
            return ends

        yield run
