"""The command `calibrate`: many twins at once, so that alarms are bounded on this machine."""

from typing import TYPE_CHECKING

import click

from ipclab.commands.options import die_with_make, profile_option
from ipclab.console import say, shown_path
from ipclab.paths import checkout
from ipclab.session.progress import Progress

if TYPE_CHECKING:
    from ipclab.session.request import Request

# 59 without alarm bound alarms by 5 %; contests in which the slowed one looks fastest compare none
TWINS = 64
MOST_TWINS = 1_000


@click.command()
@profile_option
@click.option(
    "--twins", type=click.IntRange(1, MOST_TWINS), default=TWINS, help="So many pairs, at least."
)
@click.option("--beside", is_flag=True, help="Do not wait for a session that measures here.")
def calibrate(profile: str | None, twins: int, beside: bool) -> None:
    """Show how often identical code is called different here, and which slow-downs are found.

    It takes some minutes and makes a run of its own. Reports tell it of all runs of this machine
    that are judged with the same bound.
    """
    from ipclab.calibrated import judged_alike, total_counted
    from ipclab.session.alone import alone
    from ipclab.session.session import measure_run

    die_with_make()
    progress = Progress(shown=True)
    with alone(progress.say, beside):
        run = measure_run(checkout(), asked_of(profile or "quick", twins), progress)
    runs = judged_alike(run)
    every = total_counted(part for parts in runs.values() for part in parts.values())
    found = ", ".join(
        f"{float(share):.0%} {every.found.get(share, 0)} of {count}"
        for share, count in every.planted.items()
    )
    say([f"{shown_path(run.path)}; {len(runs)} runs of this machine are counted"])
    say([f"identical code called different: {every.alarms} of {every.twins}"])
    say([f"of such pairs at most {every.upper:.1%}, with 95 % confidence"])
    say([f"planted slow-downs that were found: {found or 'none was tested'}"])


def asked_of(profile_name: str, twins: int) -> "Request":
    """Return what measures so many twins: they are judged as those of any run of the profile."""
    from ipclab.session.request import Request
    from ipclab.studies.calibration import CalibrationStudy
    from ipclab.studies.profile import profile

    study = CalibrationStudy()
    of_study = study.effort(profile(profile_name))
    points = study.pairs(-(-twins // len(of_study.pinned)), of_study.pinned)
    given = {study.name: (of_study, points)}
    return Request((), profile_name, purpose={"twins": twins}, given=given)
