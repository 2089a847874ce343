"""Sweeps scaled to the machine: how many threads, in which roles, and files in flight."""

import math
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

from ipclab.machine.cgroup import cpu_quota
from ipclab.machine.source import AbsentError, Source
from ipclab.studies.arms import table
from ipclab.studies.file_io.sets import ARMS, FileSet
from ipclab.studies.interface import Levels, Point, Sweep
from ipclab.words.labels import SIZED

COLD = "cold"
MOST_IN_FLIGHT = 896  # files open at once; the usual limit of a process is 1,024
MOST_THREADS = 1024
# threads and work of the text's comparison of serial with overlapped reading
REFERENCE, SHORT_NS = 4, 800_000
FAULT_FROM = 4096
SMALL = 65_536  # bytes; files up to here are summed as often as the text's small ones
# What a thread of a mix such as `1R+3C` does: only reads; only computes; reads a file and computes
# it, one after the other; makes all the read calls it can before it computes; computes what is
# there before it reads more.
KINDS = {
    "R": "read",
    "C": "compute",
    "SYNC": "both",
    "RnC": "read-then-compute",
    "CnR": "compute-then-read",
}


def cores() -> int:
    """Return how many CPUs this process may use, as its affinity and its control group allow."""
    allowed = len(os.sched_getaffinity(0))
    with suppress(AbsentError):
        return max(1, min(allowed, math.ceil(cpu_quota(Source()))))
    return allowed


def _threads(
    own: Sequence[int], multiples: Sequence[str], how: Mapping[str, Any], most: float
) -> list[int]:
    """Return the thread counts of a sweep.

    They are `own` unless it is fixed, else those of its entry `how` in `arms.toml`: of its
    `multiples` of the cores, and published ones up to `most`.
    """
    if own and not how.get("fixed"):
        return [min(count, MOST_THREADS) for count in own]
    times = chain.from_iterable(how.get(part, ()) for part in multiples)
    scaled = [min(each * cores(), MOST_THREADS) for each in times]
    fitting = [count for count in how.get("published", ()) if count <= most]
    return sorted({*scaled, *fitting})


def _reference() -> int:
    """Return the threads that compare serial with overlapped reading: the text's, if they fit."""
    return min(REFERENCE, 2 * cores())


def levels_known(
    multiples: Sequence[str], sets: Mapping[str, FileSet], sweep: Sweep, as_texts: bool = False
) -> dict[str, Sequence[Any]]:
    """Return the levels that follow from machine, `multiples`, `sets` of files, or `sweep`.

    Those of a run `as_texts` are the text's, however many threads these are for each core.
    """
    arms = table(ARMS)
    own = sweep.numbers("threads", ())
    most = math.inf if as_texts else 2 * cores()
    reference = REFERENCE if as_texts else _reference()
    files = _files_for(sets, own=sweep.sizes is not None)
    large = sets[files["large"][0]].count
    usual_depths = [n for n in (1, 2, 4, 8, 16, 40) if n <= min(large, 16) or n == large]
    depths = sweep.numbers("depth", usual_depths)
    levels: dict[str, Sequence[Any]] = {**files}
    for name, how in arms["threads"].items():
        levels[name] = _threads(own, multiples, how, most)
    for name, mixes in arms["text_mixes"].items():
        levels[name] = mixes.split() if as_texts else []
    return levels | {
        "serial": [count for count in levels["serial"] if count > 1],
        "longest": [count for count in levels["longest"] if count > reference],
        "reference": [reference],
        "mixes": [mix for mix in arms["mixes"].split() if len(roles_of_mix(mix)) <= most],
        "caches": (COLD, "warm"),
        "depths": depths,
        "ends_of_depths": [depths[0], depths[-1]],
        "flight_depths": sweep.numbers("depth", (1, 16, 256)),
    }


def _files_for(sets: Mapping[str, FileSet], own: bool) -> dict[str, list[str]]:
    """Return by purpose which of `sets` are read: the text's, or `own`, those of sizes asked for.

    What takes one set reads the smallest files; what is overlapped, the largest.
    """
    mean = {name: each.size.mean for name, each in sets.items() if name.startswith(SIZED)}
    sized = [*mean]
    every = {"sized": sized, "of_pages": [name for name in sized if mean[name] >= FAULT_FROM]}
    text: dict[str, str] = table(ARMS)["sets"]
    if not own:
        return every | {name: [of_text] for name, of_text in text.items()}
    smallest = dict.fromkeys(("mixed", "calls", "by_roles"), sized[:1])
    return {
        **{name: [] for name in text},
        **every,
        **smallest,
        "large": sized[-1:],
        "mixed_big": sized[1:][-1:],
        "few_sums": [name for name in sized if mean[name] > SMALL],
        "many_sums": [name for name in sized if mean[name] <= SMALL],
    }


def whole_levels(sets: Mapping[str, FileSet], levels: Levels) -> Levels:
    """Return a point's levels with what follows from its backend, cache, threads and set."""
    count = levels.pop("n")
    readers = max(1, int(count * levels.pop("share")))
    mapped = levels["backend"] == "mmap"
    roles = levels["roles"].format(n=count, r=readers, c=count - readers).replace("+0C", "")
    usual = {
        "direct": "yes" if levels["cache"] == COLD and not mapped else "no",
        "depth": 256 if levels["backend"] == "overlapped" else 1,
        "buffer": "none" if mapped else "fresh",
    }
    levels |= {name: level for name, level in usual.items() if levels[name] == "usual"}
    levels |= {"roles": roles, "threads": len(roles_of_mix(roles))}
    return levels | {"size": sets[levels["set"]].bytes}


def roles_of_mix(text: str) -> list[str]:
    """Return the role of each thread of mix `text`; the engine refuses one without both jobs."""
    parts = re.findall(r"(\d+)([A-Za-z]+)", text)
    return [KINDS[kind] for count, kind in parts for _ in range(int(count))]


def in_timeline(point: Point) -> bool:
    """Tell whether `point` is drawn as a timeline of spans."""
    levels = point.levels
    some = min(2 * cores(), MOST_THREADS)
    half = max(1, some // 2)
    wanted = {
        "serial": levels["threads"] == _reference() and levels["compute_ns"] == SHORT_NS,
        "roles": levels["roles"] in (f"{some}RnC", f"{half}RnC+{some - half}C"),
        "map": point.backend == "mmap" and levels["threads"] == some and levels["advice"] == "none",
    }
    plain = point.placement == "free" and levels["cache"] == COLD and levels["set"] != "mixed-big"
    return plain and wanted.get(str(levels["arm"]), False)


def in_flight(point: Point) -> int:
    """Return how many files may be open and not computed yet, all threads together."""
    roles = roles_of_mix(str(point.levels["roles"]))
    reads = len(roles) - roles.count("compute")
    computes = len(roles) - roles.count("read")
    return min(MOST_IN_FLIGHT, max(reads + computes, reads * int(point.levels["depth"])))
