"""The command `values`: the numbers of a run, to stdout."""

import sys
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
from ipclab.errors import LabError, UsageError
from ipclab.paths import checkout
from ipclab.quantile import checked_quantile

FORMATS = ("csv", "json", "table")


@click.command()
@click.argument(
    "named", metavar="RUN ...", nargs=-1, required=True, type=PATH, shell_complete=complete_run
)
@study_option
@click.option("--backend", multiple=True, help="Mechanism.", shell_complete=complete_backend)
@click.option("--size", "size_bytes", type=SIZE, multiple=True, help="Such as 64KiB.")
@click.option(
    "--placement", multiple=True, help="same, cross, free ...", shell_complete=complete_placement
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
    named: tuple[Path, ...],
    studies: Words,
    levels: Words,
    quantile: float | None,
    form: str,
    **asked: Any,
) -> None:
    """Print the numbers of RUNs (a folder, a bundle, an id or part of one, or 'newest'; a folder of
    bundles is each of them) with units and intervals.

    One row for each op and metric of each point. Exit code 1: not all could be taken.
    """
    from ipclab.bounds import suspects
    from ipclab.session.request import levels as levels_of
    from ipclab_more.values import rows

    if quantile is not None:
        checked_quantile(quantile)
        if asked["metric"]:
            fix = "leave --quantile or --metric out"
            raise UsageError("a quantile is a metric of its own", "", fix)
    wanted = {column: words for column, words in asked.items() if words} | levels_of(levels)
    found = rows.sources(named)
    is_array = form == "json" and len(found) > 1
    taken = 0
    for source in found:
        try:
            with rows.run_given(checkout(), source) as run:
                table = rows.rows(run, studies, wanted, quantile)
                say(suspects.checked(run, studies), err=True)
                text = rows.FORMS[form](run, table).removesuffix("\n")
        except LabError as error:
            if len(found) == 1:
                raise
            say([f"{source}: {error}"], err=True)
            continue
        if is_array:
            text = f"{',' if taken else '['}{text}"
        elif form == "csv" and taken:
            text = text.partition("\n")[2]
        taken += 1
        say([text])
        if few := int(table.value.isna().sum()):
            say([f"{few} of {len(table)} values have too few samples"], err=True)
    if is_array:
        say(["]" if taken else "[]"])
    if taken < len(found):
        say([f"{taken} of {len(found)} runs taken"], err=True)
        sys.exit(1)
