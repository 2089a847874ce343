"""`ipclab history`: when did this machine, or a mechanism on it, change; and blessing a run whose step is accepted."""

import datetime as dt
from pathlib import Path

import click


@click.command()
@click.argument("runs", nargs=-1)
@click.option("--bless", "accepted", metavar="RUN", help="Accept what steps at this run; needs --reason.")
@click.option("--reason", default="", help="Why it is accepted.")
@click.option("--lang", "langs", default="ko,zh,en", help="Languages.")
@click.option("--format", "formats", default="html,pdf", help="html, pdf, ipynb.")
@click.option("--table-only", is_flag=True, help="Write the table, and render no report.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the report [default: reports/history].")
def history(
    runs: tuple[str, ...], accepted: str | None, reason: str, langs: str, formats: str, table_only: bool,
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
    spoken, shown = ([word.strip() for word in text.split(",") if word.strip()] for text in (langs, formats))
    check_names(spoken, shown)
    found = chosen(checkout(), runs)
    check_words(spoken)
    said, files = report(
        checkout(), found, [] if table_only else spoken, shown, (out or checkout().reports / FOLDER).resolve(), Bar()
    )
    for line in (*said, *map(str, files)):
        click.echo(line)
