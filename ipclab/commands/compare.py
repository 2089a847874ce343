"""The command `compare`."""

from pathlib import Path

import click

from ipclab.commands.completed import complete_run
from ipclab.commands.options import die_with_make
from ipclab.console import PATH, Words, one_of, say, shown_path, words
from ipclab.errors import LabError, UsageError
from ipclab.paths import checkout
from ipclab.quantile import quantile_option
from ipclab.report.compare import FAIL_ON, UNKNOWN
from ipclab.report.rendering import Rendering, rendering


@click.command()
@click.argument("runs", nargs=-1, type=PATH, shell_complete=complete_run)
@rendering("machines")
@click.option(
    "--fail-on",
    type=words,
    default="",
    help="Exit code 1: slower, faster; 3: undecided, missing, limits.",
    callback=one_of("verdict to fail on", lambda: FAIL_ON),
)
@quantile_option
def compare(runs: tuple[Path, ...], fail_on: Words, quantile: float, to: Rendering) -> None:
    """Compare runs of two or more machines, each with the first: RUN RUN ... (by default the two
    committed ones).
    """
    from ipclab.bounds import suspects
    from ipclab.machine.origin import origin_lines
    from ipclab.report.compare import shared
    from ipclab.report.compare.held import compared_run, runs_to_compare
    from ipclab.report.pages.report import notebooks_of

    die_with_make()
    compared = runs_to_compare(checkout(), [str(run) for run in runs])
    to.check()
    say(origin_lines(compared))
    try:
        beaten = [line for run in compared for line in suspects.checked(run)]
        points = shared.shared_points([compared_run(run, quantile) for run in compared])
        parameters = {"runs": [str(run.path) for run in compared], "quantile": quantile}
        table = "comparison.csv", shared.points_listed(points)
        files = to.render(compared, notebooks_of(checkout(), "runs"), parameters, table)
    except LabError as error:
        if fail_on and not isinstance(error, UsageError):
            error.exit_code = UNKNOWN  # 1 is a verdict
        raise
    say([*beaten, *shared.pair_lines(points), shared.APART, *map(shown_path, files)])
    shared.fail(points, fail_on)
