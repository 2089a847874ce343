"""Can a run have been measured as it tells? What it says is checked against itself.

A forger who makes all digests fit can still scale every time by a little: that no check finds, and
`ipclab bundle --sign` is for it. What contradicts itself is refused: docs/runs.md lists it.
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from ipclab.errors import LabError
from ipclab.store.archive import RUN_NAME
from ipclab.store.identity import amounts_wrong, digest_of, identity_of
from ipclab.store.launch import samples_of
from ipclab.store.questions import EFFORTS
from ipclab.store.run import RunFolder
from ipclab.store.samples import Measured
from ipclab.store.sequence import Sequence

EARLIEST = dt.datetime(2026, 11, 1, tzinfo=dt.UTC)  # before which there was no ipclab
CLOCKS = dt.timedelta(days=1)  # by which the clocks of two machines may differ
STAMP = "%Y%m%dT%H%M%SZ"  # how a run's name begins
FIX = "get it again from who measured it, or measure anew"

# Of all points in a byte that tells them: equal times shrink to a twentieth of one, and a thinned
# run in a bundle takes 13 for a value.
SAMPLES_PER_BYTE, MORE_SAMPLES = 50, 1 << 22
VALUES_PER_BYTE, MORE_VALUES = 1 / 8, 1 << 16
OF_LAUNCH, OF_POINT = 4, 9  # rows that frames have of an op


def refuse_contradictions(run: RunFolder, points: Iterable[Measured], size: int) -> None:
    """Raise `LabError` for what contradicts itself in `run` and its `points`, all of them.

    Raises it for more than the `size` bytes that tell them can hold, too: it would take memory
    without bound.
    """
    contradict(run, next(of_index(run), ""))
    sequence = Sequence(run)
    samples = values = 0
    for point in points:
        samples += sum(map(samples_of, point.launches))
        values += _values(point)
        contradict(run, more_than(size, samples, values) or next(sequence.wrong(point), ""))
    contradict(run, next(sequence.wrong_together(), ""))


def contradict(run: RunFolder, why: str) -> None:
    """Raise `LabError` where there is a reason `why` that `run` cannot be."""
    if why:
        raise LabError(f"{run.id} contradicts itself", why, FIX)


def more_than(size: int, samples: int, values: int = 0) -> str:
    """Return in which respect `size` bytes cannot hold so many samples and values, if they cannot."""
    if samples > SAMPLES_PER_BYTE * size + MORE_SAMPLES:
        return f"its points hold {samples:,} samples in {size:,} bytes"
    if values > VALUES_PER_BYTE * size + MORE_VALUES:
        return f"its points hold {values:,} values in {size:,} bytes"
    return ""


def _values(point: Measured) -> int:
    """Return how many rows of frames a point makes with its launches, at most."""
    first = point.launches[0]
    ops, counters = len(first.samples), sum(map(len, first.counters.values()))
    of_launches = len(point.launches) * (OF_LAUNCH * ops + counters)
    return of_launches + OF_POINT * ops + counters + len(first.facts)


def of_index(run: RunFolder) -> Iterator[str]:
    """Yield what of `run.json` cannot be."""
    yield from _of_machine(run)
    yield from _of_profile(run)
    yield from _of_sessions(run)
    yield from _of_dates(run)
    measured = {name.rpartition("/")[2].removesuffix(".parquet") for name in run.points()}
    for kind, told in (("given up", "failures"), ("not measurable", "points")):
        if both := measured & run.about[told].keys():
            yield f"{min(both)} is there, and {kind}"


def _of_machine(run: RunFolder) -> Iterator[str]:
    try:
        identity = identity_of(run.facts)
        yield from identity.wrong()
    except ValueError as error:
        yield str(error)
        return
    if digest_of(run.facts) != run.machine:
        yield f"its machine's facts have the digest {digest_of(run.facts)}, not {run.machine}"
    yield from amounts_wrong(run.facts)


def _of_profile(run: RunFolder) -> Iterator[str]:
    effort = EFFORTS.get(run.profile)
    if effort is None:
        yield f"there is no profile {run.profile!r}"
    elif run.questions.same != effort.same:
        yield f"it is called {run.profile}, and asks with the bound of another profile"


def _of_sessions(run: RunFolder) -> Iterator[str]:
    sessions = run.about["sessions"]
    numbers = [0, *(session.get("number", 1) for session in sessions)]
    if any(not before <= after <= before + 1 for before, after in pairwise(numbers)):
        yield f"its sessions have the numbers {numbers[1:]}"
    if run.finished and sessions and not sessions[-1].get("ended"):
        yield "it is finished, and its last session goes on"


def _of_dates(run: RunFolder) -> Iterator[str]:
    about = run.about
    if re.match(RUN_NAME, run.id) and not run.id.startswith(run.date.strftime(STAMP)):
        yield f"its name has another time than {about['begun']}, when it was begun"
    times = [("begun", about["begun"])]
    for session in about["sessions"]:
        times += [("a session's begin", session["begun"])]
        times += [("a session's end", session["ended"])] if session.get("ended") else []
    times += [("finished", about["finished"])] if run.finished else []
    dates = [(name, dt.datetime.fromisoformat(text)) for name, text in times]
    if dates[0][1] < EARLIEST or dates[-1][1] > dt.datetime.now(dt.UTC) + CLOCKS:
        yield f"it was measured from {dates[0][1]:%Y-%m-%d} to {dates[-1][1]:%Y-%m-%d}"
    for (before, first), (after, second) in pairwise(dates):
        if second < first:
            yield f"{after} ({second.isoformat()}) is before {before} ({first.isoformat()})"
