"""`ipclab choose`: reads the need, answers it from a run, measures or renders where asked."""

import json
import sys
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ipclab.commands import PATH, Rendering, Words, rendering, say

if TYPE_CHECKING:
    from ipclab.choose.need import Need

UNSURE = 1  # the exit code of an answer that is undecided
SIDES = (
    click.option("--size", help="Bytes, such as 64KiB, or a mix with weights: 64:9,1MiB:1 (of state: entries)."),
    click.option("--way", help="one-way (default), round-trip or state."),
    click.option("--rate", type=float, help="Messages a second; a closed loop when not given."),
    click.option("--producers", type=int, help="How many send."),
    click.option("--consumers", type=int, help="How many receive."),
    click.option("--sharing", help="Who gets a message: each consumer (default) or one of them."),
    click.option("--placement", help="same, cross (default) or free."),
    click.option("--work-us", type=float, help="What a consumer does with each message, us."),
    click.option("--deadline-us", type=float, help="By when a message must be there, us."),
    click.option("--quantile", type=float, help="Of so many of them: 0.5, 0.9, 0.99 (default), 0.999."),
    click.option("--cpus", type=float, help="CPUs that both ends may keep busy."),
    click.option("--must", multiple=True, help="What must hold: no-loss, survives-writer-crash, no-daemon ..."),
)


def sides(command: Any) -> Any:
    """Give a command an option for each side of a need."""
    return reduce(lambda made, option: option(made), reversed(SIDES), command)


@click.command()
@click.option("--need", type=PATH, help="TOML file of the need; flags replace what it says.")
@sides
@click.option("--run", default="", help="Folder of a run [default: the newest that tells of the need].")
@click.option("--measure", "measuring", is_flag=True, help="Measure the points of this need first.")
@click.option("--profile", default="quick", help="Effort of --measure.")
@click.option("--report", "reporting", is_flag=True, help="Render the answer; the exit code is then 0.")
@rendering("choose", table=False)
def choose(  # a need has many sides
    need: Path | None, run: str, measuring: bool, profile: str, reporting: bool, langs: Words, formats: Words,
    out: Path | None, **given: Any,
) -> None:  # fmt: skip
    """Say which mechanism fits a need, by what a run measured. Exit code 0: answered, 1: undecided."""
    from ipclab.choose import asked, shown
    from ipclab.choose.answer import UNDECIDED
    from ipclab.errors import UsageError
    from ipclab.lab.lab import Lab
    from ipclab.measure.progress import Bar
    from ipclab.measure.session import measure
    from ipclab.paths import checkout

    paths, wanted, to = checkout(), _need(need, given), Rendering("choose", langs, formats, out)
    if reporting:
        to.check()  # before anything is measured
    if measuring and run:
        raise UsageError("a need is measured in a run of its own", "", "give --measure or --run, not both")
    request = asked.Asked.of(wanted, profile) if measuring else None
    found = measure(paths, request, Bar()) if request else asked.run_for(paths, wanted, run)
    found.checked()
    told = asked.tell(paths, found, wanted)
    click.echo(f"{shown.text(Lab.of(found, paths, 'en'), told)}\n\nrun {found.id}")
    if reporting:
        parameters = {"run": str(found.path), "need": json.dumps(wanted.told())}
        say(to.render([found], [paths.notebooks / "choose.ipynb"], parameters))
    elif told.state == UNDECIDED:
        sys.exit(UNSURE)


def _need(file: Path | None, given: dict[str, Any]) -> "Need":
    from ipclab.choose import need

    flags = {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
    flags = {name: value for name, value in flags.items() if value not in (None, [])}
    return need.of((need.read(file).told() if file else {}) | flags)
