"""`ipclab compare`: runs of two or more machines, each with the first, and an exit code for what was found."""

from pathlib import Path
from typing import Any

import click

from ipclab.commands import MACHINES, PATH, Rendering, Words, die_with_make, rendering, say, shown, words


@click.command()
@click.argument("runs", nargs=-1, type=PATH)
@rendering(MACHINES)
@click.option("--fail-on", type=words, default="", help="Exit code 1: slower, faster; 3: undecided, missing, limits.")
def compare(runs: tuple[Path, ...], fail_on: Words, **given: Any) -> None:
    """Compare runs of two or more machines, each with the first: RUN RUN ... (by default the two committed ones)."""
    from ipclab.compare import shared
    from ipclab.compare.held import chosen, held
    from ipclab.errors import LabError, UsageError
    from ipclab.paths import checkout
    from ipclab.plugins import chosen as named
    from ipclab.render.report import notebooks_of

    die_with_make()
    to = Rendering(MACHINES, **given)
    to.check()
    for word in fail_on:
        named("verdict to fail on", word, shared.FAIL_ON)
    compared = chosen(checkout(), [str(run) for run in runs])
    try:
        found = shared.points([held(run) for run in compared])
        told = {"runs": [str(run.path) for run in compared]}
        table = "comparison.csv", shared.listed(found)
        files = to.render(compared, notebooks_of(checkout(), "runs"), told, table)
    except LabError as error:
        if fail_on and not isinstance(error, UsageError):
            error.exit_code = shared.UNKNOWN  # 1 is a verdict
        raise
    say([*shared.summary(found), shared.APART, *map(shown, files)])
    shared.fail(found, fail_on)
