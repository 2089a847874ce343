"""What calibrations have shown of the judge: its errors on identical code, and slow-downs it found.

A run shows it by its contests. What all runs of a machine showed is one file of counts beside them:
runs that were deleted since still count. A bundle carries the file as it was then, and lies with
the run that was imported: nobody else's runs change what is said of this machine.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec
import pandas as pd

from ipclab.errors import LabError
from ipclab.frames.derived import read_frame
from ipclab.frames.digests import frames_digest
from ipclab.stats.compare import NOT_TESTED, SLOWER
from ipclab.store.archive import CALIBRATION
from ipclab.store.calibration import FORMAT, MOST_RUNS, Calibration, Counted, KnownRun, known_runs
from ipclab.store.files import dump_json, locked_folder, whole
from ipclab.store.run import INDEX, RunFolder, read_run
from ipclab.store.schema import RUN_NAME

STUDY = "calibration"
EXCHANGES = 10  # of an operation without a planted slow-down
PATIENCE = 30.0  # seconds for another process to write


def total_counted(parts: Iterable[Counted]) -> Counted:
    """Return what was counted in all parts."""
    twins, alarms = 0, 0
    planted, found = Counter[str](), Counter[str]()
    for part in parts:
        twins, alarms = twins + part.twins, alarms + part.alarms
        planted.update(part.planted)
        found.update(part.found)
    return Counted(twins, alarms, dict(sorted(planted.items())), dict(sorted(found.items())))


def counted(contests: pd.DataFrame) -> dict[str, Counted]:
    """Return what the contest frame of the study `calibration` shows, by placement.

    A contest in which the slowed one looks fastest compares no twins and misses what was planted.
    """
    # a mechanism alone in its contest is compared with none, and what is not tested says nothing
    compared = contests[(contests.other != "") & (contests.verdict != NOT_TESTED)]
    return {str(name): _counted(part) for name, part in compared.groupby("placement")}


def _counted(part: pd.DataFrame) -> Counted:
    of_fastest, of_other = _planted(part.fastest), _planted(part.other)
    slower = part.verdict.eq(SLOWER)
    twins = (of_fastest == 0) & (of_other == 0)
    # who looks fastest stands in each row of its contest
    planted = _by_share(pd.concat([of_other, of_fastest[~part.question.duplicated()]]))
    return Counted(
        int(twins.sum()), int((twins & slower).sum()), planted, _by_share(of_other[slower])
    )


def _by_share(planted: pd.Series) -> dict[str, int]:
    """Return how many slow-downs of each share were planted, in the order of shares."""
    shares = planted[planted > 0].map("{:.2f}".format)
    return {str(share): int(count) for share, count in shares.value_counts().sort_index().items()}


def _planted(names: pd.Series) -> pd.Series:
    """Return the planted share of entrants, each a mechanism and its exchanges."""
    return names.str.split().str[-1].astype(int) / EXCHANGES - 1


def calibration_file(run: RunFolder) -> Path:
    """Return the file for `run`: the one it was bundled with, or that of the runs beside it."""
    carried = run.path / CALIBRATION
    return carried if carried.is_file() else run.path.parent / CALIBRATION


def count_new_runs(run: RunFolder, say: Callable[[str], None]) -> None:
    """Count what the finished runs beside `run` show that is not counted yet.

    What hinders it is said: the run is measured all the same.
    """
    home = run.path.parent
    try:
        with locked_folder(home, LabError(f"{home} is held by another process"), PATIENCE):
            _gather(home)
    except (LabError, OSError) as error:
        say(f"the calibration of this machine is not kept: {error}")


def _gather(home: Path) -> None:
    file = home / CALIBRATION
    before = known_runs(file)
    runs = dict(before)
    for index in home.glob(f"*/{INDEX}"):
        with suppress(LabError):
            run = read_run(index.parent)
            if run.finished and run.points(STUDY) and re.fullmatch(RUN_NAME, run.id):
                runs[run.id] = _of(run, before.get(run.id))
    newest = sorted(runs)[-MOST_RUNS:]
    if newest and runs != before:
        kept = Calibration(FORMAT, {name: runs[name] for name in newest})
        with whole(file, 0o600) as part:
            part.write_bytes(dump_json(msgspec.to_builtins(kept)))


def _of(run: RunFolder, before: KnownRun | None) -> KnownRun:
    """Return what `run` shows, as `before` unless its samples or the judge have changed."""
    now = frames_digest(run, STUDY)
    if before and before.stamp == now:
        return before
    return KnownRun(now, run.questions.same, dict(counted_in_run(run)))


def counted_in_run(run: RunFolder) -> dict[str, Counted]:
    """Return what `run` itself shows, by placement."""
    return counted(read_frame(run, STUDY, "contests"))


def judged_alike(run: RunFolder) -> Mapping[str, Mapping[str, Counted]]:
    """Return by run what is known of the judge on the machine of `run`, its own included.

    Another run counts where it was judged with the same bound, and tested anything.
    """
    same = run.questions.same
    every = known_runs(calibration_file(run)).items()
    found = {name: one.placements for name, one in every if one.same == same}
    found[run.id] = counted_in_run(run)
    return {
        name: parts
        for name, parts in found.items()
        if any(part.twins or part.planted for part in parts.values())
    }
