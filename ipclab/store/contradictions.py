"""Can a run have been measured as it tells? What it says is checked against itself.

A forger who makes all digests fit can still scale every time by a little: that no check finds, and
`ipclab bundle --sign` is for it. What contradicts itself is refused: docs/runs.md lists it.
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from ipclab.errors import LabError
from ipclab.store.archive import CALIBRATION
from ipclab.store.calibration import known_runs
from ipclab.store.files import bounded
from ipclab.store.identity import amounts_wrong, digest_of, identity_of
from ipclab.store.launch import samples_of
from ipclab.store.questions import RUN_PROFILES
from ipclab.store.referees import KEPT, referees_told
from ipclab.store.run import RunFolder
from ipclab.store.samples import Measured
from ipclab.store.schema import RUN_NAME, STAMP
from ipclab.store.sequence import Sequence

EARLIEST = dt.datetime(2026, 11, 1, tzinfo=dt.UTC)  # before which there was no ipclab
CLOCKS = dt.timedelta(days=1)  # by which the clocks of two machines may differ
FIX = "get it again from who measured it, or measure anew"

# Of all points in a byte that tells them: equal times shrink to a twentieth of one, and a thinned
# run in a bundle takes 13 for a value.
SAMPLES_PER_BYTE, MORE_SAMPLES = 50, 1 << 22
VALUES_PER_BYTE, MORE_VALUES = 1 / 8, 1 << 16
OF_LAUNCH, OF_POINT = 4, 9  # rows that frames have of an op

MOST_BYTES = 4 << 20  # of a file of the machine; the raw text of one of /proc has 64 KiB at most
# facts of /proc/cpuinfo, by their names there
CPUINFO = {
    "cpu_vendor": "vendor_id",
    "cpu_model": "model name",
    "cpu_family": "cpu family",
    "cpu_model_number": "model",
    "cpu_stepping": "stepping",
}
# facts that are the text of one file
FILES = {
    "kernel_release": "proc-sys-kernel-osrelease",
    "maker": "sys-class-dmi-id-sys_vendor",
    "product": "sys-class-dmi-id-product_name",
}


def refuse_contradictions(run: RunFolder, points: Iterable[Measured], size: int) -> None:
    """Raise `LabError` for what contradicts itself in `run` and its `points`, all of them.

    Raises it for more than the `size` bytes that tell them can hold, too: it would take memory
    without bound.
    """
    for why in _wrong(run, points, size):
        raise LabError(f"{run.id} contradicts itself", why, FIX)


def _wrong(run: RunFolder, points: Iterable[Measured], size: int) -> Iterator[str]:
    yield from _of_machine(run)
    yield from _of_profile(run)
    yield from _of_dates(run)
    measured = {name.rpartition("/")[2].removesuffix(".parquet") for name in run.points()}
    for kind, told in (("given up", "failures"), ("not measurable", "points")):
        if both := measured & run.about[told].keys():
            yield f"{min(both)} is there, and {kind}"
    sequence = Sequence(run)
    samples = values = 0
    for point in points:
        first = point.launches[0]
        ops, counters = len(first.samples), sum(map(len, first.counters.values()))
        samples += sum(map(samples_of, point.launches))
        values += len(point.launches) * (OF_LAUNCH * ops + counters)
        values += OF_POINT * ops + counters + len(first.facts)
        if samples > SAMPLES_PER_BYTE * size + MORE_SAMPLES:
            yield f"its points hold {samples:,} samples in {size:,} bytes"
        if values > VALUES_PER_BYTE * size + MORE_VALUES:
            yield f"its points hold {values:,} values in {size:,} bytes"
        yield from sequence.wrong(point)
    yield from sequence.wrong_together()
    yield from _beside(run)


def _of_machine(run: RunFolder) -> Iterator[str]:
    try:
        yield from identity_of(run.facts).wrong()
    except ValueError as error:
        yield str(error)
    if digest_of(run.facts) != run.machine:
        yield f"its machine's facts have the digest {digest_of(run.facts)}, not {run.machine}"
    yield from amounts_wrong(run.facts)


def _of_profile(run: RunFolder) -> Iterator[str]:
    profile = RUN_PROFILES.get(run.profile)
    if profile is None:
        yield f"there is no profile {run.profile!r}"
    elif run.questions.same != profile.same:
        yield f"it is called {run.profile}, and asks with the bound of another profile"


def _of_dates(run: RunFolder) -> Iterator[str]:
    about = run.about
    sessions = about["sessions"]
    numbers = [0, *(session.get("number", 1) for session in sessions)]
    if any(not before <= after <= before + 1 for before, after in pairwise(numbers)):
        yield f"its sessions have the numbers {numbers[1:]}"
    if run.finished and sessions and not sessions[-1].get("ended"):
        yield "it is finished, and its last session goes on"
    if re.match(RUN_NAME, run.id) and not run.id.startswith(run.date.strftime(STAMP)):
        yield f"its name has another time than {about['begun']}, when it was begun"
    times = [("begun", about["begun"])]
    for session in sessions:
        times += [("a session's begin", session["begun"])]
        times += [("a session's end", session["ended"])] if session.get("ended") else []
    times += [("finished", about["finished"])] if run.finished else []
    dates = [(name, dt.datetime.fromisoformat(text)) for name, text in times]
    if dates[0][1] < EARLIEST or dates[-1][1] > dt.datetime.now(dt.UTC) + CLOCKS:
        yield f"it was measured from {dates[0][1]:%Y-%m-%d} to {dates[-1][1]:%Y-%m-%d}"
    for (before, first), (after, second) in pairwise(dates):
        if second < first:
            yield f"{after} ({second.isoformat()}) is before {before} ({first.isoformat()})"


def _beside(run: RunFolder) -> Iterator[str]:
    """Yield what cannot be of the files beside the points: of machine, referees, calibration."""
    lines = re.findall(r"^([^:\n]+?)\s*:\s*(.*?)\s*$", _raw(run, "proc-cpuinfo"), re.MULTILINE)
    cpuinfo = dict(lines[::-1])  # the first of equal names counts
    told = {}
    for fact, key in CPUINFO.items():
        told[fact] = "proc-cpuinfo", " ".join(cpuinfo.get(key, "").split())
    for fact, name in FILES.items():
        told[fact] = name, _raw(run, name).strip()
    for fact, (name, text) in told.items():
        known = run.facts.get(fact)
        if text and known is not None and str(known) != text:
            yield f"its {fact} is {known!r}, and machine/{name} has {text[:80]!r}"
    try:
        if KEPT in run.about["files"]:
            referees_told(run.path / KEPT)
        known_runs(run.path / CALIBRATION)
    except LabError as error:
        yield f"{error.what.replace(f'{run.path}/', '')} ({error.why})"


def _raw(run: RunFolder, name: str) -> str:
    """Return the text of a file that facts were read from, "" where it was not kept."""
    name = f"machine/{name}"
    if name not in run.about["files"]:
        return ""
    return bounded(run.path / name, MOST_BYTES).decode(errors="replace")
