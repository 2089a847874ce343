"""The command `choose`: it checks what is asked, and then loads what answers it."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ipclab.commands.completed import complete_placement, complete_run
from ipclab.commands.options import profile_option
from ipclab.console import PATH, say
from ipclab.errors import UsageError
from ipclab.paths import checkout
from ipclab.report.rendering import Rendering, rendering

if TYPE_CHECKING:
    from ipclab.store.run import RunFolder
    from ipclab_more.choose.need import Need

UNSURE = 1  # the exit code of an answer that is undecided


@click.command()
@click.option(
    "--need", "file", type=PATH, help="TOML file of the need; flags replace what it says."
)
@click.option("--size", help="Bytes, such as 64KiB, or a mix: 64:9,1MiB:1 (of state: entries).")
@click.option("--way", help="one-way (default), round-trip or state.")
@click.option("--rate", type=float, help="Messages a second; a closed loop when not given.")
@click.option("--gap", help="Of round trips: from an answer to the next question, such as 50us.")
@click.option("--producers", type=int, help="How many send.")
@click.option("--consumers", type=int, help="How many receive.")
@click.option("--sharing", help="Who gets a message: each consumer (default) or one of them.")
@click.option(
    "--placement", help="same, cross (default) or free.", shell_complete=complete_placement
)
@click.option("--work-us", type=float, help="What a consumer does with each message, us.")
@click.option("--deadline-us", type=float, help="By when a message must be there, us.")
@click.option("--quantile", type=float, help="Of so many: 0.5, 0.9, 0.99 (default), 0.999.")
@click.option("--cpus", "--cpu-budget", type=float, help="CPUs that both ends may keep busy.")
@click.option("--must", multiple=True, help="no-loss, survives-writer-crash, no-daemon ...")
@click.option(
    "--run",
    type=PATH,
    help="Folder of a run [default: the best that tells of it].",
    shell_complete=complete_run,
)
@click.option("--measure", "measuring", is_flag=True, help="Measure the points of this need first.")
@profile_option
@click.option("--report", "reporting", is_flag=True, help="Render it; the exit code is then 0.")
@rendering("choose", table=False)
def choose(
    file: Path | None,
    run: Path | None,
    measuring: bool,
    profile: str | None,
    reporting: bool,
    to: Rendering,
    **sides: Any,
) -> None:
    """Say which mechanism fits a need, by what a run measured.

    Exit code 0: answered, 1: undecided.
    """
    need = _need(file, sides)
    if measuring and run:
        fix = "give --measure or --run, not both"
        raise UsageError("a need is measured in a run of its own", "", fix)
    from ipclab.bounds import suspects
    from ipclab.frames import derived
    from ipclab.lab.lab import Lab
    from ipclab.lab.runs import runs_called
    from ipclab.machine.origin import origin_lines
    from ipclab.words.catalogue import SOURCE
    from ipclab_more.choose import asked, shown
    from ipclab_more.choose.answer import UNDECIDED
    from ipclab_more.choose.runs import runs_for

    paths = checkout()
    if reporting:
        to.check()  # before anything is measured
    runs = [_measured(need, profile)] if measuring else runs_for(paths, need, str(run or ""))
    chosen = runs[0]
    bearing = need.study, asked.LIMITS, asked.FAULTS
    studies = [name for name in derived.studies_measured(chosen) if name in bearing]
    suspects.check_limits(chosen, studies)  # and that what is read is what was measured
    beaten = suspects.limits_beaten(chosen, studies)
    say(origin_lines([chosen]))
    answer = asked.tell(paths, chosen, need)
    say([f"{shown.text(Lab.of(chosen, paths, SOURCE), answer)}\n"])
    say([*beaten, f"run {runs_called(runs)}"])
    if reporting:
        parameters = {"run": str(chosen.path), "need": json.dumps(need.plain())}
        say(to.render([chosen], [paths.notebooks / "choose.ipynb"], parameters))
    elif answer.state == UNDECIDED:
        sys.exit(UNSURE)


def _measured(need: "Need", profile: str | None) -> "RunFolder":
    """Measure the points of a need in a run of its own."""
    from ipclab.session.alone import alone
    from ipclab.session.progress import Progress
    from ipclab.session.session import measure_run
    from ipclab_more.choose import asked

    progress = Progress(shown=True)
    with alone(progress.say):
        return measure_run(checkout(), asked.request(need, profile or "quick"), progress)


def _need(file: Path | None, sides: dict[str, Any]) -> "Need":
    from ipclab_more.choose import need

    plain = need.read_need(file).plain() if file else {}
    if sides["gap"]:  # both replace what the file says
        plain.pop("rate", None)
    for name, value in sides.items():
        if value not in (None, ()):
            plain[name] = value
    return need.need_of(plain)
