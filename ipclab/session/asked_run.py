"""The run that a request goes into: one that it continues, or a new one."""

import datetime as dt
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ipclab.errors import LabError, UsageError
from ipclab.machine import Machine
from ipclab.paths import Paths
from ipclab.session.request import Request
from ipclab.store import run as folder
from ipclab.store.files import LOCK
from ipclab.store.record import Record, create, reopened
from ipclab.store.run import INDEX, RunFolder
from ipclab.store.schema import RUN_NAME, STAMP
from ipclab.studies.profile import profile
from ipclab.studies.questions import questions_of, questions_plain

CLOCKS = dt.timedelta(minutes=1)  # by which those of two machines with one folder may differ
SEED_BITS = 31
# Facts by which two runs of one machine were measured by the same
MEASURED_BY = "code_digest", "native_digest", "lock_digest", "python", "kernel_release"


def continued(paths: Paths, request: Request, machine: str) -> Record | None:
    """Return the run that `request` continues on `machine`, or None; raises `UsageError`."""

    def fits(run: RunFolder) -> bool:
        return _is_of(request, machine, run) and request.seed in (None, run.about["seed"])

    def lacks(run: RunFolder) -> bool:
        return not run.complete or run.last_session < request.sessions

    if request.run is None:
        found = folder.newest(paths.runs, lambda run: lacks(run) and fits(run))
        return reopened(found.path) if found else None
    run = reopened(request.run)
    if not fits(run):
        why = "it was begun with other parameters or on another machine"
        raise UsageError(f"{run.id} cannot be continued", why, "leave RUN out to begin a new one")
    return run


def _is_of(request: Request, machine: str, run: RunFolder) -> bool:
    about = run.about
    return bool(
        (about["parameters"], about["machine"]["digest"]) == (request.parameters(), machine)
    )


def measured_before(paths: Paths, request: Request, machine: Machine) -> RunFolder | None:
    """Return the newest complete run of the same request, by the same code on the same machine."""

    def same(run: RunFolder) -> bool:
        by_same = all(run.facts.get(name) == machine.facts.get(name) for name in MEASURED_BY)
        return run.complete and by_same and _is_of(request, machine.digest, run)

    return folder.newest(paths.runs, same)


def new_run(paths: Paths, request: Request, machine: Machine) -> Record:
    """Make the folder of a new run; raises `LabError` where the clock was set back."""
    about = {
        "parameters": request.parameters(),
        "questions": questions_plain(questions_of(profile(request.profile))),
        "seed": request.seed if request.seed is not None else secrets.randbits(SEED_BITS),
        "machine": {"digest": machine.digest, "facts": machine.facts, "reasons": machine.reasons},
    }
    now = dt.datetime.now(dt.UTC)
    newest = folder.newest(paths.runs, lambda run: bool(re.fullmatch(RUN_NAME, run.id)))
    if newest and newest.id > f"{now + CLOCKS:{STAMP}}":
        why = f"it is {now:%Y-%m-%d %H:%M} UTC, and the run {newest.id} is newer"
        fix = "set it, or remove that run: the newest one is found by its time"
        raise LabError("the clock was set back", why, fix)
    return create(paths.runs, machine.digest, about, now)


@contextmanager
def nothing_empty(run: RunFolder) -> Iterator[None]:
    """Remove a run that fails before anything is stored in it, such as on a full disk."""
    try:
        yield
    except BaseException:
        files = [path for path in run.path.rglob("*") if path.is_file() and path.name != LOCK]
        if files == [run.path / INDEX]:
            shutil.rmtree(run.path)
            with suppress(OSError):  # there are other runs of this machine
                run.path.parent.rmdir()
        raise
