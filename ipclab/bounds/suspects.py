"""Results of a run that cannot be, and results that beat the hardware's limit."""

from collections.abc import Iterable, Iterator

import pandas as pd

from ipclab.bounds import busy, limits
from ipclab.errors import LabError
from ipclab.frames import derived
from ipclab.store.run import RunFolder

LIMITS = "limits"


def checked(run: RunFolder, studies: Iterable[str] = ()) -> list[str]:
    """Check all files' digests and `studies` (or all), and return the lines of `limits_beaten`.

    Raises `LabError` for what was altered, and for results that cannot be.
    """
    run.checked()
    check_limits(run, studies)
    return limits_beaten(run, studies)


def limits_beaten(run: RunFolder, studies: Iterable[str] = ()) -> list[str]:
    """Return a head and a line for each median of `studies` (or all) below its limit, or none."""
    lines = list[str]()
    for rows in faster(run, studies):
        lines += limits.lines_below_limit(rows)
    several = "one result takes" if len(lines) == 1 else f"{len(lines)} results take"
    return [f"{run.id}: {several} less time than the limit", *lines] if lines else []


def faster(run: RunFolder, studies: Iterable[str] = ()) -> Iterator[pd.DataFrame]:
    """Yield each study's medians that are faster than their limit: it is none, then."""
    for points, bounds in _bounded(run, studies):
        medians = points[points.metric == "p50"]
        if len(medians):
            yield limits.below_limit(limits.with_limits(medians, bounds, run.questions))


def results_below_copies(run: RunFolder, studies: Iterable[str] = ()) -> list[str]:
    """Return a line for each result that is faster than its copies by memcpy can be."""
    lines = list[str]()
    for points, bounds in _bounded(run, studies):
        lines += limits.below_copies(points, bounds, run.questions)
    return lines


def check_limits(run: RunFolder, studies: Iterable[str] = ()) -> None:
    """Raise `LabError` for results of `studies` (or all) that no hardware gives: faster than memcpy
    can be, or on more CPUs than there are.
    """
    wrong = results_below_copies(run, studies)
    for study in list(studies) or derived.studies_measured(run):
        wrong += busy.beyond_cpus(derived.read_frame(run, study, "points"), run.facts)
    if wrong:
        fix = "it measured something else than it says: look at that backend"
        raise LabError(f"{len(wrong)} results of {run.id} are physically impossible", wrong[0], fix)


def _bounded(run: RunFolder, studies: Iterable[str]) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Yield the points of each of `studies`, with the launches of the limits."""
    bounds = derived.read_frame(run, LIMITS, "launches")
    for study in list(studies) or derived.studies_measured(run):
        if run.questions.of(study).bounds:
            yield derived.read_frame(run, study, "points"), bounds
