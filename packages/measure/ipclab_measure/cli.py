"""The command line: the commands of all packages that are installed, loaded when called.

An error is one line, with the exit code that belongs to it.
"""

import errno
import io
import os
import sys

import click

from ipclab import __version__
from ipclab.errors import LabError, UsageError
from ipclab.plugins import names
from ipclab_measure.plugins import one

UNUSABLE, INTERRUPTED = 2, 130
LOOP = "Symlink loop from "  # how pathlib tells one before Python 3.13
GROUP = "ipclab.commands"  # of the entry points that add a command
PACKAGES = {  # which of ours brings a command
    "ipclab-report": ("bundle", "check", "import", "report"),
    "ipclab-answers": ("ab", "choose", "compare", "gather", "history", "runs", "values"),
}
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True}


class Commands(click.Group):
    """The commands that packages add by entry points."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all of them, sorted."""
        return names(GROUP)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name; one that cannot be loaded says why when it is called."""
        if cmd_name in names(GROUP):
            try:
                return one(GROUP, "command", cmd_name, click.Command)
            except UsageError as error:
                return _broken(cmd_name, error)
        for package, brought in PACKAGES.items():
            if cmd_name in brought:
                why = f"it comes with {package}, which is not installed"
                lacking = UsageError(f"no command {cmd_name!r}", why, f"pip install {package}")
                return _broken(cmd_name, lacking)
        return None


def _broken(name: str, error: UsageError) -> click.Command:
    """Return a command that says, where it is called, why it cannot be loaded."""

    def called() -> None:
        raise error

    taken = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(name, context_settings=taken, callback=called, help=str(error))


@click.group(cls=Commands, context_settings=SETTINGS)
@click.version_option(__version__)
def commands() -> None:
    """A laboratory for the cost of handing data from one process, stream or file to another."""


def main() -> None:
    """Run the command line."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # the names of files may be bytes that are no text
        sys.stdout.reconfigure(errors="surrogateescape")
    try:
        commands.main(prog_name="ipclab", standalone_mode=False)
    except BaseException as error:
        line, code = _told(error)
        print(f"ipclab: {line}", file=sys.stderr)
        sys.exit(code)


def _told(error: BaseException) -> tuple[object, int]:
    """Return the line for an error and its exit code; raises the error when it has none."""
    if isinstance(error, RuntimeError) and LOOP in str(error):
        error = OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(error).removeprefix(LOOP))
    match error:
        case LabError():
            return error, error.exit_code
        case KeyboardInterrupt() | click.Abort():  # click makes the one of the other
            return "interrupted; the same command continues a run that it measured", INTERRUPTED
        case OSError():
            return _unusable(error), UNUSABLE
        case click.ClickException():
            return error.format_message(), error.exit_code
    raise error


def _unusable(error: OSError) -> str:
    """Return the line for what the system refuses: a place, or standard output."""
    try:
        sys.stdout.flush()
    except OSError:  # what is left in it would be tried again at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    place = error.filename or "what it reads or writes"
    return (
        f"cannot use {place}: {error.strerror or error}; see that it is there, yours and not full"
    )
