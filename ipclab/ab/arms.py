"""What an arm is: the processes of one launch, and the number that is read of it."""

import math
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from ipclab.ab import point
from ipclab.ab.point import Wanted
from ipclab.errors import LabError, UsageError, nearest
from ipclab.paths import checkout
from ipclab.spawn.launcher import Role
from ipclab.spawn.worker import Outcome
from ipclab.studies.installed import study

RUN, ARM = "run.json", "arm"
Read = Callable[[dict[str, Outcome], float], float]


class Launching(Protocol):
    """What launches processes, and returns each one's outcome or raises `LabError` at the deadline."""

    def launch(self, roles: Sequence[Role], seconds: float) -> dict[str, Outcome]:
        """Run one launch of `roles` within `seconds`."""


@dataclass(frozen=True)
class Arm:
    """An arm: its processes, and what reads a number of their outcomes and the seconds that they took.

    `unit` is ns, nothing for a number that a command prints, 1/ for its inverse. `before` is run before a launch,
    `undo` after it, whatever happens.
    """

    label: str
    roles: Sequence[Role]
    read: Read
    unit: str = "ns"
    before: Role | None = None
    undo: Role | None = None

    def launch(self, launcher: Launching, seconds: float, clock: Callable[[], float] = time.perf_counter) -> float:
        """Make one launch and return its number; raises `LabError` when it failed, or the number is not above 0."""
        try:
            if self.before:
                launcher.launch([self.before], seconds)
            start = clock()
            outcomes = launcher.launch(self.roles, seconds)
            value = self.read(outcomes, clock() - start)
        finally:
            if self.undo:
                launcher.launch([self.undo], seconds)
        if not (math.isfinite(value) and value > 0):
            raise LabError(f"{self.label} gave {value:g}", "", "a number above 0 is needed")
        return value


@dataclass(frozen=True)
class Asked:
    """What the two arms are to be: `wanted` is the point where mechanisms, checkouts or environments are compared.

    `command` is what to run instead, with the arm in place of `{}`; `printed` reads the last number that a command
    prints, of which less is better unless `more` says otherwise; else its whole time is taken. Its processes run on
    `cpus`.
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
        if all(name in study(self.wanted.study).backends() for name in names):
            return [self._mechanism(name) for name in names]
        if all(Path(name, "ipclab", "__init__.py").is_file() for name in names):
            return [self._elsewhere(name, *_checkout(Path(name).resolve())) for name in names]
        if all(Path(name).name.startswith("python") and shutil.which(name) for name in names):
            return [self._elsewhere(name, name, {"PYTHONPATH": None}) for name in names]
        return [self._program(name, name) for name in names]

    def with_setting(self, arm: Arm, before: str, undo: str) -> Arm:
        """Return `arm` after the command `before`, which `undo` takes back."""
        change, back = self._role(before, "before"), self._role(undo, "undo")
        return replace(arm, label=f"{arm.label} after {_printable(before)}", before=change, undo=back)

    def _mechanism(self, name: str) -> Arm:
        roles, read = replace(self.wanted, backend=name).made()
        return Arm(name, roles, lambda outcomes, _: read(outcomes))

    def _elsewhere(self, name: str, python: str, env: Mapping[str, str | None]) -> Arm:
        words = [python, "-P", point.__file__, self.wanted.told()]
        role = replace(self._role(shlex.join(words)), env={"IPCLAB_ROOT": str(checkout().root), **env})
        return Arm(_printable(name), [role], lambda outcomes, _: _last(outcomes))

    def _program(self, name: str, line: str) -> Arm:
        if not self.printed:
            return Arm(_printable(name), [self._role(line)], lambda _, seconds: seconds * 1e9)
        turned: Callable[[float], float] = (lambda value: 1 / value if value else math.inf) if self.more else float
        return Arm(
            _printable(name), [self._role(line)], lambda outcomes, _: turned(_last(outcomes)), "1/" if self.more else ""
        )

    def _role(self, line: str, name: str = ARM) -> Role:
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise UsageError(f"{_printable(line)!r} is no command", str(error), "close its quotes") from error
        program = shutil.which(words[0]) if words else None
        if program is None:
            known = study(self.wanted.study).backends()
            near = f"a mechanism has a name like {nearest(line, known)!r}" if known else ""
            raise UsageError(f"{_printable(line)!r}: there is no such program", "", near)
        return Role(name, "", {}, self.cpus, command=(str(Path(program).absolute()), *words[1:]))


def _checkout(root: Path) -> tuple[str, Mapping[str, str]]:
    own = root / ".venv" / "bin" / "python"
    return str(own) if own.exists() else sys.executable, {"PYTHONPATH": str(root), "IPCLAB_ROOT": str(root)}


def _last(outcomes: Mapping[str, Outcome]) -> float:
    """Return the number on the last line that is one."""
    for line in reversed(str(outcomes[ARM].facts["said"]).splitlines()):
        try:
            return float(line)
        except ValueError:
            continue
    raise LabError("the command printed no number", "", "have it print one on a line of its own, or time it as a whole")


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)
