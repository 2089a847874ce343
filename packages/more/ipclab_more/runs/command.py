"""The command `runs`: list, label and delete them."""

import click

from ipclab.commands.completed import complete_run
from ipclab.console import Words, aligned, say
from ipclab.paths import checkout


@click.group(invoke_without_command=True)
@click.pass_context
def runs(ctx: click.Context) -> None:
    """List the runs made or imported here, the newest first; label or delete them."""
    if ctx.invoked_subcommand is None:
        from ipclab_more.runs.folders import COLUMNS, runs_listed

        rows = [row.values() for row in runs_listed(checkout())]
        say(aligned([COLUMNS, *rows]))


@runs.command()
@click.argument("run", shell_complete=complete_run)
@click.argument("name")
def label(run: str, name: str) -> None:
    """Give a RUN the label NAME, that of its node; '' takes it away."""
    from ipclab_more.runs import folders

    folders.label(folders.mine(checkout(), run), name)
    say([f"{run} is of {name}" if name else f"{run} has no label"])


@runs.command()
@click.argument("names", metavar="RUN ...", nargs=-1, required=True, shell_complete=complete_run)
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(names: Words, yes: bool) -> None:
    """Delete runs made or imported here; one that is being measured is refused."""
    from ipclab.errors import UsageError
    from ipclab_more.runs import folders

    chosen = [folders.mine(checkout(), name) for name in names]
    if not yes:
        every = ", ".join(run.id for run in chosen)
        try:
            click.confirm(f"delete {every}?", abort=True)
        except click.Abort as error:
            raise UsageError("nothing is deleted", "", "say yes, or --yes") from error
    for run in chosen:
        folders.delete(checkout(), run)
        say([f"deleted {run.path}"])
