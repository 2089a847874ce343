"""One call that measures: finds or makes the run, and measures what is missing."""

from ipclab.calibrated import count_new_runs
from ipclab.machine import Machine, Source, collect
from ipclab.paths import Paths
from ipclab.session.asked_run import continued, new_run, nothing_empty
from ipclab.session.measuring import Measuring
from ipclab.session.progress import Progress
from ipclab.session.request import Request
from ipclab.session.room import check_shared_memory, told_before
from ipclab.spawn import ledger, scratch
from ipclab.store.record import Record, reopened
from ipclab.store.referees import keep_referees


def measure_run(paths: Paths, request: Request, progress: Progress) -> Record:
    """Measure all that `request` asks for and that is not on disk yet; return the finished run.

    A run that was killed, or of which points failed, is continued: by name when `request.run` is
    given, else the newest such one with the same parameters on this machine. Raises `UsageError`
    for a request that cannot mean anything and `LabError` when the work cannot be done; a point
    that fails is noted in the run and does not end it.
    """
    wanted = request.points_wanted()
    files = (request.scratch or paths.data / "scratch").resolve()
    if request.scratch is not None:
        scratch.check_writable(files)
    ledger.close_dead_sessions(paths.ledger)
    if before := told_before(request, files):
        progress.say(before)
    check_shared_memory(
        max(study.shared_memory(point) for study, points in wanted for point in points)
    )
    machine = collect(Source(paths=paths))
    run = continued(paths, request, machine.digest) or new_run(paths, request, machine)
    with run.held(), nothing_empty(run):
        run = reopened(run.path)  # another process may have added to it before we held it
        run.remove_parts()
        _keep_machine(run, machine)
        number = run.last_session
        measuring = Measuring(run, request, files, progress)
        possible = [(study, measuring.possible(study, points)) for study, points in wanted]
        # A list: every point is asked, since each altered file is told of.
        there = [run.has(point, progress.say) for _, points in possible for point in points]
        if all(there) and run.finished:
            number += 1
        for session in range(number, max(request.sessions, run.last_session) + 1):
            which = f" (session {session})" if session > 1 else ""
            progress.say(f"{', '.join(request.names_asked())} is being prepared{which}")
            keep_referees(run)
            try:
                measuring.measure(session, possible, paths.ledger)
            except KeyboardInterrupt:
                progress.say(f"{run.id} keeps what is measured: the same command continues it")
                raise
            count_new_runs(run, progress.say)
    return run


def _keep_machine(run: Record, machine: Machine) -> None:
    """Keep what the machine's facts were read from, unless it is there."""
    if any(name.startswith("machine/") for name in run.about["files"]):
        return
    raw = {name.strip("/").replace("/", "-"): text for name, text in machine.raw.items()}
    run.place((f"machine/{name}", text.encode()) for name, text in raw.items())
