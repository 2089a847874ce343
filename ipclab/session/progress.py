"""Progress of long work: what, how many of how many, time left; in a terminal and in a notebook."""

import os
import sys
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ipclab.errors import plain

# set where a kernel's progress goes to a terminal: the seconds between two lines
TEXT = "IPCLAB_PROGRESS"


@dataclass
class Progress:
    """Is told how the work goes, and shows it only where `shown`.

    That is by a tqdm bar: a widget in a notebook, a line in a terminal, a line every ten seconds in
    a log.
    """

    shown: bool = False
    bar: Any = None

    def start(self, what: str, total: int, unit: str = "launch") -> None:
        """Begin `what`, of `total` steps, each a `unit`."""
        if not self.shown:
            return
        watched = sys.stderr.isatty() or "ipykernel" in sys.modules
        interval = float(os.environ.get(TEXT) or (0.2 if watched else 10.0))
        self.bar = _tqdm()(total=total, desc=what, unit=unit, mininterval=interval, file=sys.stderr)

    def step(self, of: str = "") -> None:
        """Say that one more step is done (or no longer needed), and `of` what it was."""
        if self.bar is not None:
            self.bar.set_postfix_str(of, refresh=False)
            self.bar.update()

    def say(self, line: str) -> None:
        """Show a line beside the progress."""
        if self.shown:
            _tqdm().write(plain(line), file=sys.stderr)

    def end(self) -> None:
        """End the present work."""
        if self.bar is not None:
            self.bar.close()


def _tqdm() -> Any:
    return import_module("tqdm" if os.environ.get(TEXT) else "tqdm.auto").tqdm
