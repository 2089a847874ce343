"""The arms that are asked for: commands, interpreters, checkouts or mechanisms, by their names."""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ipclab.errors import UsageError, hint, plain
from ipclab.paths import checkout
from ipclab.quantile import MEDIAN
from ipclab.spawn.started import Role
from ipclab.store.run import INDEX
from ipclab.studies.installed import study
from ipclab_more.ab import point
from ipclab_more.ab.arms import ARM, Arm, CommandArm
from ipclab_more.ab.point import Wanted


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
        if all(map(_is_run, names)):
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
            lines = [self.command.replace("{}", shlex.quote(name)) for name in names]
            return list(map(self._program, names, lines))
        if strange:
            arms = self._elsewhere(names)
            if not arms and len(strange) < len(names):
                what = f"{plain(strange[0])!r} is no mechanism"
                raise UsageError(what, "the other one is", hint(strange[0], mechanisms))
        else:
            arms = [self._mechanism(name) for name in names]
        if arms and self.printed:
            why = f"{arms[0].label} is measured at a point"
            raise UsageError("--printed is of commands", why, "leave it out")
        return arms or list(map(self._program, names, names))

    def with_setting(self, arm: Arm, before: str, undo: str) -> Arm:
        """Return `arm` after the command `before`, which `undo` takes back."""
        label = f"{arm.label} after {plain(before)}"
        setting = self._role(before, "before")
        taken_back = self._role(undo, "undo")
        return replace(arm, label=label, setting=setting, undo=taken_back)

    def _mechanism(self, name: str) -> Arm:
        wanted = replace(self.wanted, backend=name)
        return Arm(wanted.label, wanted.prepared())

    def _elsewhere(self, names: Sequence[str]) -> list[Arm]:
        """Return the checkouts or the interpreters that `names` are; none for other names."""
        if all(map(_is_checkout, names)):
            return [self._checkout(name) for name in names]
        if all(map(_is_interpreter, names)):
            paths = checkout()
            env = {"PYTHONPATH": None, "IPCLAB_ROOT": str(paths.root)}
            env["IPCLAB_DATA"] = str(paths.data)
            return [self._measured_by(name, name, env) for name in names]
        return []

    def _checkout(self, name: str) -> Arm:
        root = Path(name).resolve()
        own_python = root / ".venv" / "bin" / "python"
        python = str(own_python) if own_python.exists() else sys.executable
        packages = [root, *sorted(root.glob("packages/*"))]
        env = {"PYTHONPATH": os.pathsep.join(map(str, packages)), "IPCLAB_ROOT": str(root)}
        return self._measured_by(name, python, env)

    def _measured_by(self, name: str, python: str, env: Mapping[str, str | None]) -> Arm:
        command = [python, point.__file__, self.wanted.plain()]
        role = self._role(shlex.join(command))
        # Its fork server is a module that is run: else it would import the present folder's ipclab.
        role = replace(role, env={**env, "PYTHONSAFEPATH": "1"})
        return Arm(plain(name), CommandArm(role, printed=True))

    def _program(self, name: str, line: str) -> Arm:
        unit = "ns"
        if self.printed:
            unit = "1/" if self.more else ""
        program = CommandArm(self._role(line), self.printed, self.more)
        return Arm(plain(name), program, unit)

    def _role(self, line: str, name: str = ARM) -> Role:
        try:
            words = shlex.split(line)
        except ValueError as error:
            what = f"{plain(line)!r} is no command"
            raise UsageError(what, str(error), "close its quotes") from error
        program = shutil.which(words[0]) if words else None
        if program is None:
            fix = hint(line, study(self.wanted.study).backends())
            what = f"{plain(line)!r} is no program and no mechanism"
            raise UsageError(what, "", fix)
        command = str(Path(program).absolute()), *words[1:]
        return Role(name, "", {}, self.cpus, command=command)


def _is_run(name: str) -> bool:
    return Path(name, INDEX).is_file() or name.endswith(".ipclab")


def _is_checkout(name: str) -> bool:
    return Path(name, "ipclab", "__init__.py").is_file()


def _is_interpreter(name: str) -> bool:
    return Path(name).name.startswith("python") and shutil.which(name) is not None
