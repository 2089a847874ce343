"""What an arm is: what makes one launch of it and reads its number; and the trial of two by one launcher."""

import math
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ipclab.ab import point
from ipclab.ab.point import Wanted
from ipclab.ab.trial import AGAIN, A, Answer, B, trial
from ipclab.backends.native_shm import missing
from ipclab.errors import LabError, UsageError, nearest
from ipclab.paths import checkout
from ipclab.spawn.launcher import Launcher, Role
from ipclab.studies.installed import study

RUN, ARM = "run.json", "arm"
LIMIT = "echo-pipe"  # of the scheduler and the CPU alone; its mean, since a busy neighbour lengthens a few round trips


@dataclass(frozen=True)
class Program:
    """A command as an arm: its time as a whole in ns, or if `printed` the number on the last line that is one."""

    role: Role
    printed: bool = False
    inverse: bool = False
    clock: Callable[[], float] = time.perf_counter

    def __call__(self, launcher: Launcher, seconds: float) -> float:
        """Run it once within `seconds`; raises `LabError` when it fails, or prints no number."""
        start = self.clock()
        outcomes = launcher.launch([self.role], seconds)
        if not self.printed:
            return (self.clock() - start) * 1e9
        for line in reversed(str(outcomes[ARM].facts["said"]).splitlines()):
            with suppress(ValueError):
                value = float(line)
                return 1 / value if self.inverse and value else value
        raise LabError("the command printed no number", "", "have it print one on a line of its own, or time it")


@dataclass(frozen=True)
class Arm:
    """An arm: what makes a launch within so many seconds and returns its number, of which less is better.

    `unit` is ns, nothing for a number that a command prints, 1/ for its inverse. `setting` is run before a launch,
    `undo` after it, whatever happens.
    """

    label: str
    launched: Callable[[Launcher, float], float]
    unit: str = "ns"
    setting: Sequence[Role] = ()
    undo: Sequence[Role] = ()

    def launch(self, launcher: Launcher, seconds: float) -> float:
        """Make one launch and return its number; raises `LabError` when it failed, or the number is not above 0."""
        with self._set(launcher, seconds):
            value = self.launched(launcher, seconds)
        if not (math.isfinite(value) and value > 0):
            raise LabError(f"{self.label} gave {value:g}", "", "a number above 0 is needed")
        return value

    @contextmanager
    def _set(self, launcher: Launcher, seconds: float) -> Iterator[None]:
        """Have the setting during the block; one that cannot be undone is told beside what failed before."""
        failed = ""
        try:
            if self.setting:
                launcher.launch(self.setting, seconds)
            yield
        except LabError as error:
            failed = f"; before that: {error}"
            raise
        finally:
            if self.undo:
                with uninterrupted():
                    try:
                        launcher.launch(self.undo, seconds)
                    except LabError as error:
                        fix = "take the setting back by hand"
                        raise LabError(f"{self.label} was not undone", f"{error}{failed}", fix) from error


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Put Ctrl-C and its like off until the block ends; what is ignored stays so."""
    came: list[int] = []
    heard = [n for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if signal.getsignal(n) != signal.SIG_IGN]
    held = {number: signal.signal(number, lambda number, _: came.append(number)) for number in heard}
    try:
        yield
    finally:
        for number, handler in held.items():
            signal.signal(number, handler)
    if came:
        raise KeyboardInterrupt


@dataclass(frozen=True)
class Asked:
    """What the two arms are to be: `wanted` is the point where mechanisms, checkouts or environments are compared.

    `command` is what to run instead, with the arm in place of `{}`; `printed` reads the number that a command prints,
    of which less is better unless `more` says otherwise. Commands run on `cpus`.
    """

    wanted: Wanted
    cpus: frozenset[int]
    command: str = ""
    printed: bool = False
    more: bool = False

    def arms(self, names: Sequence[str]) -> list[Arm]:
        """Return the arms that `names` mean together; raises `UsageError` for names that mean nothing."""
        if all(Path(name, RUN).is_file() or name.endswith(".ipclab") for name in names):
            why = "a run is over: its launches share no rounds, and two sessions have luck of their own"
            raise UsageError("runs cannot be interleaved", why, f"ipclab compare {' '.join(names)} --fail-on slower")
        if self.command:
            return [self._program(name, self.command.replace("{}", shlex.quote(name))) for name in names]
        points = self._points(names)
        if points and self.printed:
            raise UsageError("--printed is of commands", f"{points[0].label} is measured at a point", "leave it out")
        return points or [self._program(name, name) for name in names]

    def _points(self, names: Sequence[str]) -> list[Arm]:
        if all(name in study(self.wanted.study).backends() for name in names):
            return [Arm(name, replace(self.wanted, backend=name).made()) for name in names]
        if all(Path(name, "ipclab", "__init__.py").is_file() for name in names):
            return [self._elsewhere(name, *_checkout(Path(name).resolve())) for name in names]
        if all(Path(name).name.startswith("python") and shutil.which(name) for name in names):
            env = {"PYTHONPATH": None, "IPCLAB_ROOT": str(checkout().root)}
            return [self._elsewhere(name, name, env) for name in names]
        return []

    def with_setting(self, arm: Arm, before: str, undo: str) -> Arm:
        """Return `arm` after the command `before`, which `undo` takes back."""
        change, back = self._role(before, "before"), self._role(undo, "undo")
        return replace(arm, label=f"{arm.label} after {printable(before)}", setting=[change], undo=[back])

    def _elsewhere(self, name: str, python: str, env: Mapping[str, str | None]) -> Arm:
        role = self._role(shlex.join([python, point.__file__, self.wanted.told()]))
        # Its fork server is a module that is run: without this it would import the ipclab of the present folder.
        return Arm(printable(name), Program(replace(role, env={**env, "PYTHONSAFEPATH": "1"}), printed=True))

    def _program(self, name: str, line: str) -> Arm:
        unit = "ns" if not self.printed else "1/" if self.more else ""
        return Arm(printable(name), Program(self._role(line), self.printed, self.more), unit)

    def _role(self, line: str, name: str = ARM) -> Role:
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise UsageError(f"{printable(line)!r} is no command", str(error), "close its quotes") from error
        program = shutil.which(words[0]) if words else None
        if program is None:
            near = nearest(line, study(self.wanted.study).backends())
            raise UsageError(f"{printable(line)!r}: there is no such program", "", f"a mechanism is called {near!r}")
        return Role(name, "", {}, self.cpus, command=(str(Path(program).absolute()), *words[1:]))


def tried(arms: Sequence[Arm], launcher: Launcher, placement: str, deadline: float, **how: Any) -> Answer:
    """Return the answer of a `trial` of two `arms` that is made so; every launch ends within `deadline` seconds.

    Raises `UsageError` for an arm that cannot be launched at all; the launch that shows this warms it up.
    """
    for arm in arms:
        try:
            arm.launch(launcher, deadline)
        except LabError as error:
            raise UsageError(f"{arm.label} cannot be launched", str(error), "see that it works by itself") from error
    named = dict(zip((A, B, AGAIN), (*arms, arms[0]), strict=True))
    limit = None
    if not missing():
        native = Wanted("limits", LIMIT, placement=placement if placement == "cross" else "same").made(np.mean)
        limit = partial(native, launcher, deadline)
    return trial(lambda name: named[name].launch(launcher, deadline), limit, launcher.renew, time.monotonic, **how)


def _checkout(root: Path) -> tuple[str, Mapping[str, str | None]]:
    own = root / ".venv" / "bin" / "python"
    return str(own) if own.exists() else sys.executable, {"PYTHONPATH": str(root), "IPCLAB_ROOT": str(root)}


def printable(text: str) -> str:
    """Return `text` without what a terminal or XML takes for a command."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
