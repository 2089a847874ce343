"""Options of commands that measure, and their end with the make that started them."""

import os
import signal
import sys

import click

from ipclab.commands.completed import complete_profile, complete_study, profiles
from ipclab.console import one_of
from ipclab.plugins import names

profile_option = click.option(
    "--profile",
    help="smoke, quick (default), standard, full, or published: what the texts ran.",
    callback=one_of("profile", profiles),
    shell_complete=complete_profile,
)
study_option = click.option(
    "--study",
    "studies",
    multiple=True,
    help="Study; all when not given.",
    callback=one_of("study", lambda: names("ipclab.studies")),
    shell_complete=complete_study,
)


def agree_before(before: str) -> None:
    """Ask at a terminal whether what is told `before` shall be done; raises `click.Abort` for no."""
    if before and sys.stdin.isatty():
        click.confirm(f"{before} Go on?", default=True, abort=True, err=True)


def die_with_make() -> None:
    """End with the make that started this command: a killed make must not leave it running."""
    from ipclab.spawn.exits import die_with_parent

    if os.environ.get("IPCLAB_UNDER_MAKE") and sys.platform == "linux":
        die_with_parent(os.getppid(), signal.SIGTERM)
