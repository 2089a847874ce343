"""`ipclab history`: when did this machine, or a mechanism on it, change; and blessing a run whose step is accepted."""

import datetime as dt
from pathlib import Path

import click

from ipclab.commands import PATH, Words, format_option, lang_option


@click.command()
@click.argument("runs", nargs=-1)
@click.option("--bless", "accepted", metavar="RUN", help="Accept what steps at this run; needs --reason.")
@click.option("--reason", default="", help="Why it is accepted.")
@lang_option
@format_option
@click.option("--table-only", is_flag=True, help="Write the table, and render no report.")
@click.option("--out", type=PATH, help="Folder of the report [default: reports/history].")
def history(
    runs: tuple[str, ...], accepted: str | None, reason: str, langs: Words, formats: Words, table_only: bool,
    out: Path | None,
) -> None:  # fmt: skip
    """Say when this machine or a mechanism changed, and beside what, over all its runs or the RUNS given."""
    from ipclab.history.reporting import FOLDER, report
    from ipclab.history.runs import bless, chosen
    from ipclab.lab.runs import choose
    from ipclab.measure.progress import Bar
    from ipclab.paths import checkout
    from ipclab.render.report import check_names, check_words

    if accepted:
        click.echo(bless(choose(checkout(), accepted), reason, dt.datetime.now(dt.UTC)))
        return
    check_names(langs, formats)
    found = chosen(checkout(), runs)
    check_words(langs)
    said, files = report(
        checkout(), found, () if table_only else langs, formats, (out or checkout().reports / FOLDER).resolve(), Bar()
    )
    for line in (*said, *map(str, files)):
        click.echo(line)
