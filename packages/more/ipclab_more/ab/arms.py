"""The arms: what makes one launch of each and reads its number, and what their names mean."""

import json
import math
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from ipclab.errors import LabError, UsageError, hint, plain
from ipclab.paths import checkout
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.started import Role
from ipclab.store.run import INDEX
from ipclab.studies.installed import study
from ipclab_more.ab import point

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
                try:
                    with uninterrupted():
                        launcher.launch([self.undo], seconds)
                except LabError as error:
                    what = f"{self.label} was not undone"
                    fix = "take the setting back by hand"
                    raise LabError(what, f"{error}{before}", fix) from error
        if not (math.isfinite(value) and value > 0):
            raise LabError(f"{self.label} gave {value:g}", "", "a number above 0 is needed")
        return value


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

    `wanted` is the point (see `at_point`) of mechanisms, checkouts or environments. `command` is
    what to run instead, with the arm in place of `{}`; `printed` reads the number that a command
    prints, of which less is better unless `more` says otherwise. Commands run on `cpus`; whoever
    measures a point puts its ends where that says.
    """

    wanted: dict[str, Any]
    cpus: frozenset[int]
    command: str = ""
    printed: bool = False
    more: bool = False

    def arms(self, names: Sequence[str]) -> list[Arm]:
        """Return the arms that `names` mean together.

        Raises `UsageError` for names that mean nothing.
        """
        if all(map(_is_run, names)):
            why = "its launches share no rounds, and two sessions have luck of their own"
            fix = f"ipclab compare {' '.join(names)} --fail-on slower"
            raise UsageError("runs cannot be interleaved", f"a run is over: {why}", fix)
        mechanisms = study(self.wanted["study"]).backends()
        strange = [name for name in names if name not in mechanisms]
        if self.command:
            lines = [self.command.replace("{}", shlex.quote(name)) for name in names]
            return list(map(self._program, names, lines))
        if not strange:
            arms = [Arm(name, point.at_point(**self.wanted | {"backend": name})) for name in names]
        elif all(Path(name, "ipclab", "__init__.py").is_file() for name in names):
            arms = [self._checkout(name) for name in names]
        elif all(map(_is_interpreter, names)):
            paths = checkout()
            env = {"PYTHONPATH": None, "IPCLAB_ROOT": str(paths.root)}
            env["IPCLAB_DATA"] = str(paths.data)
            arms = [self._measured_by(name, name, env) for name in names]
        elif len(strange) < len(names):
            what = f"{plain(strange[0])!r} is no mechanism"
            raise UsageError(what, "the other one is", hint(strange[0], mechanisms))
        else:
            return list(map(self._program, names, names))
        if self.printed:
            why = f"{arms[0].label} is measured at a point"
            raise UsageError("--printed is of commands", why, "leave it out")
        return arms

    def with_setting(self, arm: Arm, before: str, undo: str) -> Arm:
        """Return `arm` after the command `before`, which `undo` takes back."""
        setting, taken_back = self._role(before, "before"), self._role(undo, "undo")
        label = f"{arm.label} after {plain(before)}"
        return replace(arm, label=label, setting=setting, undo=taken_back)

    def _checkout(self, name: str) -> Arm:
        root = Path(name).resolve()
        own_python = root / ".venv" / "bin" / "python"
        python = str(own_python) if own_python.exists() else sys.executable
        packages = [root, *sorted(root.glob("packages/*"))]
        env = {"PYTHONPATH": os.pathsep.join(map(str, packages)), "IPCLAB_ROOT": str(root)}
        return self._measured_by(name, python, env)

    def _measured_by(self, name: str, python: str, env: Mapping[str, str | None]) -> Arm:
        command = [python, point.__file__, json.dumps(self.wanted)]
        role = self._role(shlex.join(command))
        # It puts its ends on CPUs itself. Its fork server is a module that is run: else it would import
        # the present folder's ipclab.
        every = frozenset(os.sched_getaffinity(0))
        role = replace(role, cpus=every, env={**env, "PYTHONSAFEPATH": "1"})
        return Arm(plain(name), CommandArm(role, printed=True))

    def _program(self, name: str, line: str) -> Arm:
        unit = "ns"
        if self.printed:
            unit = "1/" if self.more else ""
        return Arm(plain(name), CommandArm(self._role(line), self.printed, self.more), unit)

    def _role(self, line: str, name: str = ARM) -> Role:
        try:
            words = shlex.split(line)
        except ValueError as error:
            what = f"{plain(line)!r} is no command"
            raise UsageError(what, str(error), "close its quotes") from error
        program = shutil.which(words[0]) if words else None
        if program is None:
            what = f"{plain(line)!r} is no program and no mechanism"
            raise UsageError(what, "", hint(line, study(self.wanted["study"]).backends()))
        command = str(Path(program).absolute()), *words[1:]
        return Role(name, "", {}, self.cpus, command=command)


def _is_run(name: str) -> bool:
    return Path(name, INDEX).is_file() or name.endswith(".ipclab")


def _is_interpreter(name: str) -> bool:
    return Path(name).name.startswith("python") and shutil.which(name) is not None
