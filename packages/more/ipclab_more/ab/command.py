"""The command `ab`: two arms in interleaved launches. What is asked is checked first."""

import math
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ipclab.commands.completed import (
    complete_backend,
    complete_level,
    complete_placement,
    complete_study,
)
from ipclab.console import PATH, SIZE, Words, say
from ipclab.errors import LabError, UsageError, blamed
from ipclab.paths import checkout

if TYPE_CHECKING:
    from ipclab_more.ab.arms import Arm

FORMATS = ("line", "markdown", "junit", "bmf")  # each a method of `TrialReport`
SECONDS = click.IntRange(1, 24 * 3600)


def _share(_ctx: click.Context, _param: click.Parameter, value: str) -> float:
    """Return a bound given as 5% or 0.05."""
    try:
        share = float(value.removesuffix("%"))
    except ValueError:
        share = math.nan
    if value.endswith("%"):
        share /= 100
    if not 0 < share < 1:
        raise click.BadParameter(f"{value} is no share above 0 and below 1, such as 5%")
    return share


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="A [B]")
@click.option("--before", help="B is A after this command, such as 'sysctl -w ...'; give A alone.")
@click.option("--undo", help="The command that takes --before back, after each launch.")
@click.option("--command", default="", help="What to run, with an interpreter or checkout for {}.")
@click.option("--printed", is_flag=True, help="Compare the last number printed, not the time.")
@click.option("--more-is-better", "more", is_flag=True, help="Of the printed number, that is.")
@click.option(
    "--study",
    default="round_trip",
    help="Study of the point that is measured.",
    shell_complete=complete_study,
)
@click.option(
    "--backend",
    default="unix",
    help="Mechanism that checkouts, interpreters measure.",
    shell_complete=complete_backend,
)
@click.option("--size", type=SIZE, help="Payload, such as 64KiB [the study's smallest].")
@click.option(
    "--placement",
    help="same, cross or free [same; of commands free].",
    shell_complete=complete_placement,
)
@click.option(
    "--level",
    "levels",
    multiple=True,
    help="Of another factor, such as wait=spin.",
    shell_complete=complete_level,
)
@click.option("--bound", default="5%", callback=_share, help="How much counts as the same.")
@click.option("--seconds", type=SECONDS, default=120, help="After which no round begins.")
@click.option("--deadline", type=SECONDS, default=60, help="Seconds that one launch may take.")
@click.option("--format", "formats", multiple=True, type=click.Choice(FORMATS), help="[line]")
@click.option("--output", "outputs", multiple=True, type=PATH, help="A file for each --format.")
def ab(names: Words, outputs: tuple[Path, ...], formats: Words, **given: Any) -> None:
    """Compare two arms in interleaved launches.

    Commands, interpreters, checkouts, mechanisms, or a setting.

    Exit code 0: B is the same or faster, 1: slower, 2: wrong use, 3: undecided. See docs/ci.md.
    """
    formats = formats or ("line",)
    _check_arms(names, given)
    _check_outputs(formats, outputs)
    from ipclab.session.alone import alone
    from ipclab.session.progress import Progress
    from ipclab.spawn.launcher import Launcher
    from ipclab.stats.compare import UNDECIDED
    from ipclab.store.files import write_whole
    from ipclab_more.ab.report import TrialReport
    from ipclab_more.ab.trial import EXIT, tried

    # A setting is undone, unless nohup says to go on.
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)
    allowed = {name: given[name] for name in ("deadline", "seconds", "bound")}
    placement = given["placement"] or "same"
    try:
        arms = _arms(names, given)
        progress = Progress(shown=True)
        with alone(progress.say), Launcher(checkout().ledger) as launcher:
            answer = tried(arms, launcher, placement, progress=progress, **allowed)
        first, second = arms
        report = TrialReport(answer, first.label, second.label, first.unit)
        for name, file in zip(formats, outputs, strict=False):
            text = getattr(report, name)()
            write_whole(file, f"{text}\n".encode())
    except UsageError:
        raise
    except LabError as error:
        error.exit_code = EXIT[UNDECIDED]  # 1 is slower
        raise
    shown = report.line if outputs else getattr(report, formats[0])
    say([shown()])
    sys.exit(EXIT[answer.verdict])


def _check_arms(names: Sequence[str], given: dict[str, Any]) -> None:
    """Raise `UsageError` for what does not go together."""
    if len(names) != (1 if given["before"] else 2):
        fix = "give A and B, or A alone with --before and --undo"
        raise UsageError(f"{len(names)} arms are given", "", fix)
    if bool(given["before"]) != bool(given["undo"]):
        fix = "say how each launch begins and how it is undone"
        raise UsageError("a setting needs both --before and --undo", "", fix)
    if given["more"] and not given["printed"]:
        raise UsageError("--more-is-better is of a printed number", "", "give --printed too")


def _check_outputs(formats: Sequence[str], outputs: Sequence[Path]) -> None:
    """Raise `UsageError` unless there is a file that can be written for each format."""
    is_paired = len(outputs) == len(formats)
    is_printed = not outputs and len(formats) == 1
    if not (is_paired or is_printed):
        what = f"{len(formats)} formats and {len(outputs)} outputs"
        raise UsageError(what, "", "give an --output for each --format")
    for file in outputs:
        with blamed(f"cannot write {file}", "choose another --output", UsageError):
            file.parent.mkdir(parents=True, exist_ok=True)
            taken = file.exists() and not file.is_file()
            if taken or not os.access(file.parent, os.W_OK | os.X_OK):
                raise PermissionError("it is no file, or its folder cannot be written")


def _arms(names: Sequence[str], given: dict[str, Any]) -> "list[Arm]":
    from ipclab.machine import Source, Topology
    from ipclab.machine.placement import placements
    from ipclab.plugins import chosen
    from ipclab.session.request import levels
    from ipclab_more.ab.arms import Asked

    possible = placements(Topology.read(Source()))
    placement = chosen("placement", given["placement"] or "free", possible)
    wanted = {name: given[name] for name in ("study", "backend", "size")}
    wanted["placement"] = given["placement"] or "same"
    wanted["levels"] = {name: level for name, (level, *_) in levels(given["levels"]).items()}
    asked = Asked(wanted, placement.role(0), given["command"], given["printed"], given["more"])
    arms = asked.arms(names)
    if before := given["before"]:
        arms.append(asked.with_setting(arms[0], before, given["undo"]))
    return arms
