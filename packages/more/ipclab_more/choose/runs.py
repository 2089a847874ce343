"""Which runs tell of a need: those that were measured for it, those that hold its study."""

import re

from ipclab.backends.codecs import encoded_bytes
from ipclab.errors import UsageError
from ipclab.frames import derived
from ipclab.lab.runs import best, run_named
from ipclab.paths import Paths
from ipclab.store.run import RunFolder
from ipclab_more.choose.need import STATE, Need

WINDOWS = "spin"  # the study of how long to spin before a sleep


def runs_for(paths: Paths, need: Need, name: str = "") -> list[RunFolder]:
    """Return the run called `name`; else those here that tell of `need`, or the reference.

    The best stands first: runs that were measured for the need, else those that hold its study; of
    these one with more of its points of the need's sizes and placement is better. Without any, one
    that tells of windows to spin will do for a need with a gap. Raises `UsageError` when there is
    none.
    """
    telling = {need.study, WINDOWS} if need.gap_ns else {need.study}
    if not name:
        exact = file_names(need)
        runs = best(
            paths, need.study, lambda run: sum(map(bool, map(exact.search, run.points(need.study))))
        )
        of_need, others = (
            [run for run in runs if run.about["parameters"].get("need") == purpose]
            for purpose in (need.plain(), None)
        )
        here = of_need or others or (best(paths, WINDOWS) if need.gap_ns else [])
        if here:
            return here
    named = run_named(paths, name, need.study)
    if telling.isdisjoint(derived.studies_measured(named)):
        what = f"{named.id} holds nothing of {need.study}"
        raise UsageError(what, "", "measure it: ipclab choose --measure")
    return [named]


def beside(paths: Paths, run: RunFolder, study: str) -> RunFolder | None:
    """Return `run`, or the best run of its machine that holds `study`; None without one."""
    if study in derived.studies_measured(run):
        return run
    others = [other for other in best(paths, study) if other.machine == run.machine]
    return next(iter(others), None)


def file_names(need: Need) -> re.Pattern[str]:
    """Return what the names of the files of points of the need's sizes and placement match."""
    sizes: list[int] = list(need.size)
    if need.way == STATE:  # whose points are named by the bytes of their entries
        codec = str(need.levels()["codec"])
        sizes = [encoded_bytes(codec, entries) for entries in sizes]
    any_size = "|".join(map(str, sizes))
    return re.compile(rf"-{need.placement}-({any_size})-[0-9a-f]{{8}}\.parquet")
