"""Which processes launch a point: MPI ranks where its mechanism takes them, else workers of the fork server."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ipclab.backends import installed as registry
from ipclab.spawn.launcher import Role
from ipclab.spawn.mpi import RankBench
from ipclab.spawn.mpi_outer import OuterBench, world
from ipclab.spawn.worker import Outcome
from ipclab.store.point import Point
from ipclab.studies.interface import Bench, Site


@contextmanager
def on_ranks(site: Site, count: int, preload: str) -> Iterator[Bench]:
    """Give ranks: those of the launcher around us, else `count` of our own, which import module `preload` first."""
    if here := world():
        site.note("nodes", [{"ranks": node.ranks, **node.machine} for node in here.nodes])
        yield OuterBench(site.launcher, here)
        return
    with RankBench(site.launcher, count, (preload,), site.say) as bench:
        yield bench


@contextmanager
def on_ranks_or_workers(site: Site, points: Sequence[Point], preload: str) -> Iterator[Bench]:
    """Give ranks for each of `points` whose backend has its ends there, and workers for all others.

    Two of them, or one for each consumer of a point and one for its producer.
    """
    known = registry.backends()
    theirs = [point for point in points if point.backend in known and known[point.backend].ranks]
    ranked = {point.backend for point in theirs}
    if not ranked:
        yield lambda point, roles, seconds: site.launcher.launch(roles, seconds)
        return
    count = 1 + max(int(point.levels.get("consumers", 1)) for point in theirs)
    with on_ranks(site, count, preload) as bench:

        def launch(point: Point, roles: Sequence[Role], seconds: float) -> dict[str, Outcome]:
            return bench(point, roles, seconds) if point.backend in ranked else site.launcher.launch(roles, seconds)

        yield launch
