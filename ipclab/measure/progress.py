"""Progress of long work: what, how many of how many, time left; in a terminal and in a notebook."""

import os
import sys
from typing import Any

TEXT = "IPCLAB_PROGRESS"  # set where a kernel's progress goes to a terminal: the seconds between two lines


class Progress:
    """Is told how the work goes, and shows nothing of it."""

    def start(self, what: str, total: int) -> None:
        """Begin `what`, of `total` steps."""

    def step(self, count: int = 1) -> None:
        """Say that `count` more steps are done (or no longer needed)."""

    def say(self, line: str) -> None:
        """Show a line beside the progress."""

    def end(self) -> None:
        """End the present work."""


class Bar(Progress):
    """A tqdm bar: a widget in a notebook, a line in a terminal, a line every ten seconds in a log."""

    bar: Any = None

    def start(self, what: str, total: int) -> None:
        """Show a new bar."""
        watched = sys.stderr.isatty() or "ipykernel" in sys.modules
        interval = float(os.environ.get(TEXT) or (0.2 if watched else 10.0))
        self.bar = _tqdm()(total=total, desc=what, unit="launch", mininterval=interval, file=sys.stderr)

    def step(self, count: int = 1) -> None:
        """Move the bar."""
        self.bar.update(count)

    def say(self, line: str) -> None:
        """Print `line` above the bar."""
        _tqdm().write(line, file=sys.stderr)

    def end(self) -> None:
        """Close the bar."""
        if self.bar is not None:
            self.bar.close()


def _tqdm() -> Any:
    if os.environ.get(TEXT):
        from tqdm import tqdm

        return tqdm
    from tqdm.auto import tqdm as tqdm_auto

    return tqdm_auto
