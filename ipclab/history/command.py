"""`ipclab history`: when did this machine, or a mechanism on it, change; and blessing a run whose step is accepted."""

import datetime as dt
from typing import Any

import click

from ipclab.commands import HISTORY, Rendering, rendering, say


@click.command()
@click.argument("runs", nargs=-1)
@click.option("--bless", "accepted", metavar="RUN", help="Accept what steps at this run; needs --reason.")
@click.option("--reason", default="", help="Why it is accepted.")
@rendering(HISTORY)
def history(runs: tuple[str, ...], accepted: str | None, reason: str, **given: Any) -> None:
    """Say when this machine or a mechanism changed, and beside what, over all its runs or the RUNS given."""
    from ipclab.compare.held import held
    from ipclab.history.runs import bless, blessed, chosen
    from ipclab.history.steps import History, lines, listed
    from ipclab.lab.runs import choose
    from ipclab.paths import checkout
    from ipclab.render.report import notebooks_of

    if accepted:
        click.echo(bless(choose(checkout(), accepted), reason, dt.datetime.now(dt.UTC)))
        return
    to = Rendering(HISTORY, **given)
    to.check()
    of = chosen(checkout(), runs)
    found = History.of([held(run) for run in of])
    rows = listed(found, blessed(of))
    told = {"history": [str(run.path) for run in of]}
    files = to.render(of, notebooks_of(checkout(), "history"), told, ("steps.csv", rows))
    say([*lines(found, rows), *files])
