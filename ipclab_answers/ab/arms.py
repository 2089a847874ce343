"""What an arm is: what makes one launch of it and reads its number; and the trial of two."""

import math
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from ipclab.backends.native_shm import missing
from ipclab.errors import LabError, UsageError, hint
from ipclab.frames import tails
from ipclab.paths import checkout
from ipclab.quantile import MEDIAN
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.started import Role
from ipclab.studies.installed import study
from ipclab_answers.ab import point
from ipclab_answers.ab.point import AtPoint, Wanted, in_turns
from ipclab_answers.ab.trial import AGAIN, LIMITS, A, Answer, B, Round, one_by_one, trial

RUN, ARM = "run.json", "arm"
# Of the scheduler and the CPU alone; its mean, since a busy neighbour lengthens a few round trips.
LIMIT = "echo-pipe"


@dataclass(frozen=True)
class Program:
    """A command as an arm: its time in ns, or if `printed` the last number that it prints."""

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


@dataclass(frozen=True)
class Asked:
    """What the two arms are to be.

    `wanted` is the point where mechanisms, checkouts or environments are compared. `command` is
    what to run instead, with the arm in place of `{}`; `printed` reads the number that a command
    prints, of which less is better unless `more` says otherwise. Commands run on `cpus`.
    """

    wanted: Wanted
    cpus: frozenset[int]
    command: str = ""
    printed: bool = False
    more: bool = False

    def arms(self, names: Sequence[str]) -> list[Arm]:
        """Return the arms that `names` mean together.

        Raises `UsageError` for names that mean nothing.
        """
        if all(Path(name, RUN).is_file() or name.endswith(".ipclab") for name in names):
            why = "its launches share no rounds, and two sessions have luck of their own"
            fix = f"ipclab compare {' '.join(names)} --fail-on slower"
            raise UsageError("runs cannot be interleaved", f"a run is over: {why}", fix)
        mechanisms = study(self.wanted.study).backends()
        strange = [name for name in names if name not in mechanisms]
        if self.wanted.quantile != MEDIAN and (strange or self.command):
            why = "a command or a checkout gives one number for each launch"
            fix = "name mechanisms, or leave --quantile out"
            raise UsageError("--quantile is of mechanisms", why, fix)
        if self.command:
            quoted = map(shlex.quote, names)
            lines = [self.command.replace("{}", name) for name in quoted]
            return list(map(self._program, names, lines))
        arms = self._elsewhere(names) if strange else list(map(self._mechanism, names))
        if strange and not arms and len(strange) < len(names):
            what = f"{printable(strange[0])!r} is no mechanism"
            raise UsageError(what, "the other one is", hint(strange[0], mechanisms))
        if arms and self.printed:
            why = f"{arms[0].label} is measured at a point"
            raise UsageError("--printed is of commands", why, "leave it out")
        return arms or list(map(self._program, names, names))

    def with_setting(self, arm: Arm, before: str, undo: str) -> Arm:
        """Return `arm` after the command `before`, which `undo` takes back."""
        label = f"{arm.label} after {printable(before)}"
        setting = self._role(before, "before")
        taken_back = self._role(undo, "undo")
        return replace(arm, label=label, setting=setting, undo=taken_back)

    def _mechanism(self, name: str) -> Arm:
        wanted = replace(self.wanted, backend=name)
        return Arm(wanted.label, wanted.prepared())

    def _elsewhere(self, names: Sequence[str]) -> list[Arm]:
        """Return the checkouts or the interpreters that `names` are; none for other names."""
        if all(Path(name, "ipclab", "__init__.py").is_file() for name in names):
            return list(map(self._checkout, names))
        if all(Path(name).name.startswith("python") and shutil.which(name) for name in names):
            env = {"PYTHONPATH": None, "IPCLAB_ROOT": str(checkout().root)}
            env["IPCLAB_DATA"] = str(checkout().data)
            return [self._measured_by(name, name, env) for name in names]
        return []

    def _checkout(self, name: str) -> Arm:
        root = Path(name).resolve()
        own = root / ".venv" / "bin" / "python"
        env = {"PYTHONPATH": str(root), "IPCLAB_ROOT": str(root)}
        return self._measured_by(name, str(own) if own.exists() else sys.executable, env)

    def _measured_by(self, name: str, python: str, env: Mapping[str, str | None]) -> Arm:
        role = self._role(shlex.join([python, point.__file__, self.wanted.plain()]))
        # Its fork server is a module that is run: else it would import the present folder's ipclab.
        role = replace(role, env={**env, "PYTHONSAFEPATH": "1"})
        return Arm(printable(name), Program(role, printed=True))

    def _program(self, name: str, line: str) -> Arm:
        unit = "ns"
        if self.printed:
            unit = "1/" if self.more else ""
        return Arm(printable(name), Program(self._role(line), self.printed, self.more), unit)

    def _role(self, line: str, name: str = ARM) -> Role:
        try:
            words = shlex.split(line)
        except ValueError as error:
            what = f"{printable(line)!r} is no command"
            raise UsageError(what, str(error), "close its quotes") from error
        program = shutil.which(words[0]) if words else None
        if program is None:
            fix = hint(line, study(self.wanted.study).backends())
            what = f"{printable(line)!r} is no program and no mechanism"
            raise UsageError(what, "", fix)
        command = str(Path(program).absolute()), *words[1:]
        return Role(name, "", {}, self.cpus, command=command)


def tried(
    arms: Sequence[Arm],
    launcher: Launcher,
    placement: str,
    deadline: float,
    seed: int | None,
    **effort: Any,
) -> Answer:
    """Return the answer of a `trial` of two `arms`; every launch ends within `deadline` seconds.

    `seed` is of the order of launches that take no turns, `effort` what `trial` is given. Raises
    `UsageError` for an arm that cannot be launched at all; the launch that shows this warms it up.
    """
    for arm in arms:
        try:
            arm.launch(launcher, deadline)
        except tails.FewSamplesError:
            raise
        except LabError as error:
            what = f"{arm.label} cannot be launched"
            raise UsageError(what, str(error), "see that it works by itself") from error
    first, second = arms
    by_name = {A: first, B: second, AGAIN: first}
    if not missing():
        placed = "cross" if placement == "cross" else "same"
        limit = Wanted("limits", LIMIT, placement=placed).prepared()
        by_name[LIMITS] = Arm(LIMIT, replace(limit, mean=True))
    measured = _taking_turns(by_name, launcher, deadline)
    if measured is None:

        def launch(name: str) -> float:
            return by_name[name].launch(launcher, deadline)

        measured = one_by_one(launch, LIMITS in by_name, seed)
    return trial(measured, launcher.renew_old, time.monotonic, **effort)


def _taking_turns(
    by_name: Mapping[str, Arm], launcher: Launcher, deadline: float
) -> Callable[[], Round] | None:
    """Return what measures all arms, and the limit if there is one, in turns.

    None where an arm is a program, or has a setting of the machine, which all would share.
    """
    points = {}
    for name, arm in by_name.items():
        if not isinstance(arm.launched, AtPoint) or arm.setting:
            return None
        points[name] = arm.launched
    contestants = {name: point.contestant for name, point in points.items()}

    def measured() -> Round:
        launches = in_turns(contestants, launcher, deadline)
        turns = {name: points[name].turns(launch) for name, launch in launches.items()}
        if LIMITS in turns:
            turns[LIMITS] = [median(turns[LIMITS])]
        return turns

    return measured


def printable(text: str) -> str:
    """Return `text` without what a terminal or XML takes for a command."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
