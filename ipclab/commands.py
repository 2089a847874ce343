"""What the commands share: options, how words and paths are read and shown, and that they end with their make."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import click

UNDER_MAKE = "IPCLAB_UNDER_MAKE"
PATH: Any = click.Path(path_type=Path)
Words = tuple[str, ...]


def words(value: str) -> Words:
    """Return words that are separated by commas."""
    return tuple(word.strip() for word in value.split(",") if word.strip())


def shown(path: Path) -> str:
    """Return `path` as it is told: from the present folder on where it lies in it."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


lang_option = click.option("--lang", "langs", type=words, default="ko,zh,en", help="Languages.")
format_option = click.option("--format", "formats", type=words, default="html,pdf", help="html, pdf, ipynb.")


def die_with_make() -> None:
    """End with the make that started this command: a killed make must not leave a measurement running."""
    from ipclab.spawn.zygote import die_with_parent

    if os.environ.get(UNDER_MAKE) and sys.platform == "linux":
        die_with_parent(os.getppid(), signal.SIGTERM)
