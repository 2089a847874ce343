"""`ipclab ab`: what is asked becomes two arms, which are tried and told."""

import math
import os
import secrets
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ipclab.commands import PATH, Words
from ipclab.errors import LabError, UsageError
from ipclab.paths import checkout

if TYPE_CHECKING:
    from ipclab.ab.arms import Arm

FORMATS = ("line", "markdown", "junit", "bmf")
SEED_BITS = 31
SECONDS = click.IntRange(1, 24 * 3600)


def _share(_ctx: click.Context, _param: click.Parameter, value: str) -> float:
    """Return a bound given as 5% or 0.05."""
    try:
        found = float(value.removesuffix("%")) / (100 if value.endswith("%") else 1)
    except ValueError:
        found = math.nan
    if not 0 < found < 1:
        raise click.BadParameter(f"{value} is no share above 0 and below 1, such as 5%")
    return found


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="A [B]")
@click.option("--before", help="B is A after this command, such as 'sysctl -w ...'; give A alone.")
@click.option("--undo", help="The command that takes --before back, after each launch.")
@click.option("--command", default="", help="What to run with the arm in place of {}: an interpreter, a checkout.")
@click.option(
    "--printed", is_flag=True, help="Compare the last number that a command prints, not its time; less is better."
)
@click.option("--more-is-better", "more", is_flag=True, help="Of the printed number more is better.")
@click.option("--study", default="round_trip", help="Study of the point that is measured.")
@click.option("--backend", default="unix", help="Mechanism of the point where checkouts or interpreters are compared.")
@click.option("--size", type=click.IntRange(1), help="Its payload in bytes [the study's smallest].")
@click.option("--placement", help="same, cross or free [same; of commands free].")
@click.option("--level", "levels", multiple=True, help="A level of another factor, such as wait=spin.")
@click.option("--bound", default="5%", callback=_share, help="How much counts as the same.")
@click.option("--seconds", type=SECONDS, default=120, help="After how long no further round begins.")
@click.option("--deadline", type=SECONDS, default=60, help="Seconds that one launch may take.")
@click.option("--seed", type=int, help="Seed of the launches' order.")
@click.option("--format", "formats", multiple=True, type=click.Choice(FORMATS), help="Of the answer [line].")
@click.option("--output", "outputs", multiple=True, type=PATH, help="A file for each --format.")
def ab(names: Words, outputs: tuple[Path, ...], formats: Words, **given: Any) -> None:
    """Compare two arms in interleaved launches: commands, interpreters, checkouts, mechanisms, or a setting.

    Exit code 0: B is the same or faster, 1: slower, 2: wrong use, 3: undecided. See docs/ci.md.
    """
    from ipclab.ab.arms import tried
    from ipclab.ab.told import WRITERS, Told
    from ipclab.ab.trial import AGAIN, EXIT, A, B
    from ipclab.measure.progress import Bar
    from ipclab.spawn.launcher import Launcher
    from ipclab.stats.compare import UNDECIDED
    from ipclab.store.files import write_whole

    formats = formats or ("line",)
    _check(names, formats, outputs, given)
    for number in (signal.SIGTERM, signal.SIGHUP):  # so that a setting is undone, unless nohup says to go on
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)
    how = {name: given[name] for name in ("seconds", "bound", "seed")} | {"progress": Bar()}
    how["seed"] = secrets.randbits(SEED_BITS) if how["seed"] is None else how["seed"]
    try:
        arms = _arms(names, given)
        with Launcher(checkout().ledger) as launcher:
            answer = tried(arms, launcher, given["placement"] or "same", given["deadline"], **how)
        told = Told(answer, {A: arms[0].label, B: arms[1].label, AGAIN: arms[0].label}, arms[0].unit)
        for name, file in zip(formats, outputs, strict=False):
            write_whole(file, WRITERS[name](told).encode())
    except LabError as error:
        error.exit_code = error.exit_code if isinstance(error, UsageError) else EXIT[UNDECIDED]  # 1 is slower
        raise
    click.echo(told.line() if outputs else WRITERS[formats[0]](told).rstrip("\n"))
    sys.exit(answer.exit_code)


def _check(names: Sequence[str], formats: Sequence[str], outputs: Sequence[Path], given: dict[str, Any]) -> None:
    """Raise `UsageError` for what does not go together, and for files that cannot be written."""
    count = 1 if given["before"] else 2
    if len(names) != count:
        raise UsageError(f"{len(names)} arms are given", "", "give A and B, or A alone with --before and --undo")
    if bool(given["before"]) != bool(given["undo"]):
        fix = "say how each launch begins and how it is undone"
        raise UsageError("a setting needs both --before and --undo", "", fix)
    if given["more"] and not given["printed"]:
        raise UsageError("--more-is-better is of a printed number", "", "give --printed too")
    if len(outputs) not in (0, len(formats)) or (not outputs and len(formats) > 1):
        raise UsageError(f"{len(formats)} formats and {len(outputs)} outputs", "", "give an --output for each --format")
    for file in outputs:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            if file.is_dir() or not os.access(file.parent, os.W_OK | os.X_OK):
                raise PermissionError("it is a folder, or lies in one that cannot be written")
        except OSError as error:
            raise UsageError(f"cannot write {file}", error.strerror or str(error), "choose another --output") from error


def _arms(names: Sequence[str], given: dict[str, Any]) -> "list[Arm]":
    from ipclab.ab.arms import Asked
    from ipclab.ab.point import Wanted
    from ipclab.machine import Source, Topology
    from ipclab.machine.placement import placements
    from ipclab.measure.request import levels
    from ipclab.plugins import chosen

    placed = chosen("placement", given["placement"] or "free", placements(Topology.read(Source())))
    swept = {name: values[0] for name, values in levels(given["levels"]).items()}
    wanted = Wanted(given["study"], given["backend"], given["size"], given["placement"] or "same", swept)
    asked = Asked(wanted, placed.role(0), given["command"], given["printed"], given["more"])
    arms = asked.arms(names)
    if given["before"]:
        arms.append(asked.with_setting(arms[0], given["before"], given["undo"]))
    return arms
