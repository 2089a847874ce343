"""The command line: the commands of all packages that are installed, loaded when called.

An error is one line, with the exit code that belongs to it.
"""

import gc
import sys

import click

from ipclab.commands import told
from ipclab.errors import UsageError, hint, plain
from ipclab.plugins import names, one
from ipclab.version import __version__

GROUP = "ipclab.commands"  # of the entry points that add a command
PLUGIN = "ipclab-more"  # our own
OF_PLUGIN = "ab", "choose", "runs", "values"
OBJECTS = 100_000  # new ones before garbage is looked for: what modules make as they load is none
FIRST = """Begin with 'ipclab measure --study round_trip --size 100', which takes some minutes and ends
with its table. 'ipclab measure --help' names the studies and the levels of each."""
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True}


class Commands(click.Group):
    """The commands that packages add by entry points."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all of them, sorted."""
        return names(GROUP)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name; one that cannot be loaded says why when it is called."""
        known = names(GROUP)
        if cmd_name not in (*known, *OF_PLUGIN):
            raise UsageError(f"No such command {cmd_name!r}", "", hint(cmd_name, known))
        try:
            if cmd_name in known:
                command = one(GROUP, "command", cmd_name, click.Command)
            else:
                why = f"it comes with {PLUGIN}, which is not installed"
                raise UsageError(f"no command {cmd_name!r}", why, f"pip install {PLUGIN}")
        except UsageError as error:
            command = _broken(cmd_name, error)
        # listed with its whole first paragraph
        command.short_help = " ".join((command.help or "").partition("\n\n")[0].split())
        return command


def _broken(name: str, error: UsageError) -> click.Command:
    """Return a command that says, where it is called, why it cannot be loaded."""

    def called() -> None:
        raise error

    taken = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(name, context_settings=taken, callback=called, help=str(error))


@click.group(cls=Commands, context_settings=SETTINGS, epilog=FIRST)
@click.version_option(__version__)
def commands() -> None:
    """A laboratory for the cost of handing data from one process, stream or file to another."""


def main() -> None:
    """Run the command line."""
    told.spell()
    gc.set_threshold(OBJECTS)
    try:
        commands.main(prog_name="ipclab", standalone_mode=False)
    except BaseException as error:
        line, code = told.told_error(error)
        print(f"ipclab: {plain(str(line))}", file=sys.stderr)
        sys.exit(code)
