"""The command `values`: the numbers of a run, to stdout."""

from pathlib import Path
from typing import Any

import click

from ipclab.commands.completed import (
    complete_backend,
    complete_level,
    complete_placement,
    complete_run,
)
from ipclab.commands.options import study_option
from ipclab.console import PATH, SIZE, Words, say
from ipclab.errors import UsageError
from ipclab.paths import checkout
from ipclab.quantile import checked_quantile

FORMATS = ("csv", "json", "table")


@click.command()
@click.argument("name", metavar="RUN", type=PATH, shell_complete=complete_run)
@study_option
@click.option("--backend", multiple=True, help="Mechanism.", shell_complete=complete_backend)
@click.option("--size", "size_bytes", type=SIZE, multiple=True, help="Such as 64KiB.")
@click.option(
    "--placement",
    multiple=True,
    help="same, cross, free ...",
    shell_complete=complete_placement,
)
@click.option("--op", multiple=True, help="What was timed, such as round-trip.")
@click.option("--metric", multiple=True, help="p50, p99, bandwidth, cpu_ns ...")
@click.option(
    "--level",
    "levels",
    multiple=True,
    help="Of a factor: wait=spin,block.",
    shell_complete=complete_level,
)
@click.option("--quantile", type=float, help="This one alone, such as 0.99.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="csv")
def values(
    name: Path,
    studies: Words,
    levels: Words,
    quantile: float | None,
    form: str,
    **asked: Any,
) -> None:
    """Print the numbers of a RUN (a folder, a bundle, an id or part of one, or 'newest') with units and intervals.

    One row for each op and metric of each point.
    """
    from ipclab.bounds import suspects
    from ipclab.lab.named import run_named
    from ipclab.session.request import levels as levels_of
    from ipclab_more.values import rows

    if quantile is not None:
        checked_quantile(quantile)
        if asked["metric"]:
            fix = "leave --quantile or --metric out"
            raise UsageError("a quantile is a metric of its own", "", fix)
    run = run_named(checkout(), str(name))
    for line in suspects.checked(run, studies):
        say([line], err=True)
    wanted = {column: words for column, words in asked.items() if words}
    table = rows.rows(run, studies, wanted | levels_of(levels), quantile)
    few = int(table.value.isna().sum())
    if few:
        say([f"{few} of {len(table)} values have too few samples"], err=True)
    writers = {"csv": rows.as_csv, "json": rows.as_json, "table": rows.as_table}
    say([writers[form](run, table).removesuffix("\n")])
