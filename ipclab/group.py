"""Which commands there are: ours, and those that other packages add by entry points."""

import click

from ipclab.errors import UsageError
from ipclab.plugins import names, one

GROUP = "ipclab.commands"  # of the entry points that add a command


class Commands(click.Group):
    """Our commands, and those that other packages add by entry points, loaded when called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all of them, sorted."""
        return sorted({*super().list_commands(ctx), *names(GROUP)})

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return the command called `name`, an added one before ours; None when there is none."""
        own = super().get_command(ctx, name)
        if name not in names(GROUP):
            return own
        try:
            return one(GROUP, "command", name, click.Command)
        except UsageError as error:
            return own or _broken(name, error)


def _broken(name: str, error: UsageError) -> click.Command:
    """Return a command that says, where it is called, why it cannot be loaded; the others work."""

    def called() -> None:
        raise error

    taken = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(name, context_settings=taken, callback=called, help=str(error))
