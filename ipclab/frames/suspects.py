"""Results of a run that cannot be, and results that beat the limit of the hardware, which shows
that it is none.
"""

from collections.abc import Iterable

from ipclab.errors import LabError
from ipclab.frames import derived, limits
from ipclab.store.run import RunFolder

LIMITS = "limits"


def checked(run: RunFolder, studies: Iterable[str] = ()) -> list[str]:
    """Return what `beaten` does, once every file's digest was checked and the frames of `studies`
    were derived anew.

    Raises `LabError` for what was altered, and for results that cannot be.
    """
    run.checked()
    derived.verify(run, studies)
    check(run, studies)
    return beaten(run, studies)


def beaten(run: RunFolder, studies: Iterable[str] = ()) -> list[str]:
    """Return a line for each median of `studies` (of all when there is none) below its limit, under
    a head; or none.
    """
    bounds = derived.read(run, LIMITS, "launches")
    lines = list[str]()
    for study in list(studies) or derived.measured(run):
        points = derived.read(run, study, "points")
        medians = points[points.metric == "p50"]
        if len(medians):
            lines += limits.lines(limits.beaten(limits.with_limits(medians, bounds)))
    head = (
        f"{run.id}: {len(lines)} results lie below {limits.LEAST} of their limit, or below it with"
        " their interval"
    )
    return [head, *lines] if lines else []


def check(run: RunFolder, studies: Iterable[str] = ()) -> None:
    """Raise `LabError` for results of `studies` (of all when there is none) that are faster than
    memcpy can be.
    """
    bounds = derived.read(run, LIMITS, "launches")
    wanted = list(studies) or derived.measured(run)
    wrong = [
        line
        for study in wanted
        for line in limits.impossible(derived.read(run, study, "points"), bounds)
    ]
    if wrong:
        fix = "it measured something else than it says: look at that backend"
        raise LabError(f"{len(wrong)} results of {run.id} are physically impossible", wrong[0], fix)
