"""What all runs of a machine showed of the judge: one file beside them, of counts alone.

Runs that were deleted since still count. A bundle carries the file as it was then, and lies with
the run that was imported: nobody else's runs change what is said of this machine.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ipclab.calibrated.twins import STUDY, Counted, counted
from ipclab.errors import LabError, blamed
from ipclab.frames.derived import read_frame as frame_of
from ipclab.frames.stamps import stamp
from ipclab.store.archive import CALIBRATION, RUN_NAME, HostileError
from ipclab.store.files import dump_json, locked, whole
from ipclab.store.run import INDEX, RunFolder, read_run
from ipclab.store.schema import Digest, StudyName

FORMAT = 2  # the first one had medians of a calibration that was no part of a run
MOST_BYTES = 1 << 20
MOST_RUNS = 1_000  # of which the newest are kept
MOST_PLACEMENTS = 16
PATIENCE = 30.0  # seconds for another process to write
FIX = "remove it: what runs here show is counted again"
Placements = Annotated[dict[StudyName, Counted], Meta(max_length=MOST_PLACEMENTS)]


class KnownRun(Struct, frozen=True, forbid_unknown_fields=True):
    """What one run showed: by placement, with what counted as the `same` (a share).

    `stamp` is the digest of the samples and of the code that it follows from.
    """

    stamp: Digest
    same: Annotated[float, Meta(ge=0, le=1)]
    placements: Placements


RunName = Annotated[str, Meta(pattern=rf"\A{RUN_NAME}\Z")]
Runs = Annotated[dict[RunName, KnownRun], Meta(max_length=MOST_RUNS)]


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    format: int
    runs: Runs


def calibration_file(run: RunFolder) -> Path:
    """Return the file for `run`: the one it was bundled with, or that of the runs beside it."""
    carried = run.path / CALIBRATION
    return carried if carried.is_file() else run.path.parent / CALIBRATION


def check_calibration(folder: Path) -> None:
    """Raise `HostileError` where the file of a run from elsewhere is not what `count_new_runs` writes."""
    try:
        known(folder / CALIBRATION)
    except LabError as error:
        raise HostileError(f"{CALIBRATION} cannot be read ({error.why})") from error


def known(file: Path) -> dict[str, KnownRun]:
    """Return what runs showed, by name; nothing of an absent file or of an older version's.

    Raises `LabError` for one that cannot be read.
    """
    if not file.is_file():
        return {}
    named = f"{file} cannot be read"
    with blamed(named, FIX), file.open("rb") as opened:
        text = opened.read(MOST_BYTES + 1)
    try:
        if len(text) > MOST_BYTES:
            raise ValueError(f"it has more than {MOST_BYTES:,} bytes")
        about = msgspec.json.decode(text, type=dict[str, Any])
        return msgspec.convert(about, _File).runs if "format" in about else {}
    except (ValueError, RecursionError) as error:
        raise LabError(named, str(error), FIX) from error


def count_new_runs(run: RunFolder, say: Callable[[str], None]) -> None:
    """Count what the finished runs beside `run` show that is not counted yet.

    What hinders it is said: the run is measured all the same.
    """
    home = run.path.parent
    try:
        with locked(home, LabError(f"{home} is held by another process"), patience=PATIENCE):
            _gather(home)
    except (LabError, OSError) as error:
        say(f"the calibration of this machine is not kept: {error}")


def _gather(home: Path) -> None:
    file = home / CALIBRATION
    before = known(file)
    runs = dict(before)
    for index in home.glob(f"*/{INDEX}"):
        with suppress(LabError):
            run = read_run(index.parent)
            if run.finished and run.points(STUDY) and re.fullmatch(RUN_NAME, run.id):
                runs[run.id] = _of(run, before.get(run.id))
    newest = sorted(runs)[-MOST_RUNS:]
    if newest and runs != before:
        kept = _File(FORMAT, {name: runs[name] for name in newest})
        with whole(file, 0o600) as part:
            part.write_bytes(dump_json(msgspec.to_builtins(kept)))


def _of(run: RunFolder, before: KnownRun | None) -> KnownRun:
    """Return what `run` shows, as `before` unless its samples or the judge have changed."""
    now = stamp(run, STUDY)
    if before and before.stamp == now:
        return before
    return KnownRun(now, run.questions.same, counted_in_run(run))


def counted_in_run(run: RunFolder) -> dict[str, Counted]:
    """Return what `run` itself shows, by placement."""
    return counted(frame_of(run, STUDY, "contests"))


def judged_alike(run: RunFolder) -> Mapping[str, Mapping[str, Counted]]:
    """Return by run what is known of the judge on the machine of `run`, its own included.

    Another run counts where it was judged with the same bound, and tested anything.
    """
    same = run.questions.same
    every = known(calibration_file(run)).items()
    found = {name: one.placements for name, one in every if one.same == same} | {
        run.id: counted_in_run(run)
    }
    return {name: parts for name, parts in found.items() if _tested(parts)}


def _tested(parts: Mapping[str, Counted]) -> bool:
    return any(part.twins or part.planted for part in parts.values())
