"""An arm: what makes one launch of it and reads its number."""

import math
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from time import perf_counter

from ipclab.errors import LabError
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.started import Role

ARM = "arm"  # the name of a command's process


@dataclass(frozen=True)
class CommandArm:
    """A command as an arm: its time in ns, or if `printed` the last number that it prints."""

    role: Role
    printed: bool = False
    inverse: bool = False

    def __call__(self, launcher: Launcher, seconds: float) -> float:
        """Run it once within `seconds`; raises `LabError` when it fails, or prints no number."""
        start = perf_counter()
        outcomes = launcher.launch([self.role], seconds)
        if not self.printed:
            return (perf_counter() - start) * 1e9
        said = str(outcomes[ARM].facts["said"])
        for line in reversed(said.splitlines()):
            with suppress(ValueError):
                value = float(line)
                return 1 / value if self.inverse and value else value
        fix = "have it print one on a line of its own, or time it"
        raise LabError("the command printed no number", "", fix)


@dataclass(frozen=True)
class Arm:
    """An arm: what makes a launch within so many seconds and returns its number, less is better.

    `unit` is ns, nothing for a number that a command prints, 1/ for its inverse. `setting` is run
    before a launch, `undo` after it, whatever happens.
    """

    label: str
    launched: Callable[[Launcher, float], float]
    unit: str = "ns"
    setting: Role | None = None
    undo: Role | None = None

    def launch(self, launcher: Launcher, seconds: float) -> float:
        """Make one launch and return its number; raises `LabError` when it is not above 0.

        A setting that cannot be undone is told beside what failed before.
        """
        before = ""
        try:
            if self.setting:
                launcher.launch([self.setting], seconds)
            value = self.launched(launcher, seconds)
        except LabError as error:
            before = f"; before that: {error}"
            raise
        finally:
            if self.undo:
                self._take_back(self.undo, launcher, seconds, before)
        if not (math.isfinite(value) and value > 0):
            raise LabError(f"{self.label} gave {value:g}", "", "a number above 0 is needed")
        return value

    def _take_back(self, undo: Role, launcher: Launcher, seconds: float, before: str) -> None:
        try:
            with uninterrupted():
                launcher.launch([undo], seconds)
        except LabError as error:
            what = f"{self.label} was not undone"
            fix = "take the setting back by hand"
            raise LabError(what, f"{error}{before}", fix) from error


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Put Ctrl-C and its like off until the block ends; what is ignored stays so."""
    came = list[int]()
    handlers = {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            handlers[number] = signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if came:
        raise KeyboardInterrupt
