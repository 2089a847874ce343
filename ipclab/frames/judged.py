"""A ratio of two medians that are in one contest is what the contest found: tables, sentences and claims agree."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from math import inf, isclose
from pathlib import Path
from statistics import median

from ipclab.frames import derived
from ipclab.frames.contests import fields, races
from ipclab.stats.compare import Side, compare
from ipclab.stats.quantity import Quantity
from ipclab.store.run import RunFolder, read


def judged(run: RunFolder, found: Quantity) -> Quantity:
    """Return a ratio of two launch medians with the interval of their largest contest in `run`; others as they are."""
    match [source.split("/") for source in found.sources]:
        case _ if not found or found.unit not in ("1", "share"):
            return found
        case [[study, over, op, "p50"], [other, under, of, "p50"]] if (study, op) == (other, of) and over != under:
            contests = _sides(run.path, study, derived.stamp(run, study)).get(op, [])
        case _:
            return found
    held = [sides for sides in contests if {over, under} <= sides.keys()]
    if not held:
        return found
    sides = max(held, key=len)
    known = compare(sides[under], sides[over], len(sides), derived.bound(run))
    same = isclose(median(sides[over].medians) / median(sides[under].medians), found.value, rel_tol=1e-9)
    if not same or known.ratio is None:  # something else was made of the two
        return found
    low, high = (-inf, inf) if known.low is None or known.high is None else (known.low, known.high)
    return replace(found, value=known.ratio, low=low, high=high)


@lru_cache(maxsize=16)
def _sides(folder: Path, study: str, _stamp_of: str) -> dict[str, list[Mapping[str, Side]]]:
    """Return the entrants of each contest of a study, by op and by point."""
    launches = derived.read(read(folder), study, "launches")
    found: dict[str, list[Mapping[str, Side]]] = {}
    for race in races(study) if len(launches) else ():
        for head, sides in fields(race, launches):
            found.setdefault(head["op"], []).append({point: side for (_, point), side in sides.items()})
    return found
