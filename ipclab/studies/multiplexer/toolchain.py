"""Finding a Go toolchain that is new enough, and compiling the benchmarks with it."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from subprocess import DEVNULL

from ipclab.errors import LabError
from ipclab.paths import checkout, typed
from ipclab.spawn.failures import LaunchError, LostError
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.started import Role
from ipclab.studies.interface import NotTestableError

ASK_SECONDS = 30.0
COMPILE_SECONDS = 300.0
REASON_LENGTH = 300
# The toolchain and the sources that are there, and no network.
SETTINGS = {
    "GOTOOLCHAIN": "local",
    "GOPROXY": "off",
    "GOFLAGS": "-mod=mod",
    "GOWORK": "off",
    "GOENV": "off",
    "GO111MODULE": "on",
    "CGO_ENABLED": "0",
}


PACKAGE = Path(__file__).parents[2]
SHIPPED = PACKAGE / "shipped" / "multiplexer"  # where a wheel holds the Go module


@dataclass(frozen=True)
class Toolchain:
    """A Go command and what it says of itself, such as `go1.24.2`."""

    command: Path
    version: str


def module() -> Path:
    """Return the folder of the Go module."""
    return SHIPPED if SHIPPED.is_dir() else PACKAGE.parent / "native" / "multiplexer"


def go_commands() -> tuple[Path, ...]:
    """Return where a Go command may be: beside this interpreter (pinned), then on PATH."""
    pinned = Path(sys.executable).with_name("go")
    return tuple(dict.fromkeys([pinned, Path(shutil.which("go") or pinned)]))


@lru_cache(maxsize=8)
def go_toolchain(folder: Path, commands: tuple[Path, ...]) -> Toolchain | str:
    """Return the first of `commands` new enough for the module in `folder`, or why none is."""
    asked = folder / "go.mod"
    least = _number(asked.read_text()) if asked.is_file() else None
    if least is None:
        return (
            f"the Go module is not there: {folder.name}/go.mod is absent; restore it from the"
            " repository"
        )
    seen = []
    for command in commands:
        said = _version(command)
        number = _number(said)
        if number and number >= least:
            return Toolchain(command, said)
        seen.append(f"{said} is older" if number else f"{command.name}: {said or 'no answer'}")
    why = "; ".join(dict.fromkeys(seen)) or "none is installed"
    return (
        f"no Go toolchain: {why}; run {typed('setup')}, or install Go {least[0]}.{least[1]} or"
        " newer"
    )


def _number(text: str) -> tuple[int, int] | None:
    """Return Go's version in the first line of `text` that has one: `go1.24.2`, `go 1.24`."""
    match = re.search(r"^(?:devel )?go ?(\d+)\.(\d+)", text, re.MULTILINE)
    return (int(match[1]), int(match[2])) if match else None


def _version(command: Path) -> str:
    """Return what `go version` says, such as `go1.24.2`, or why it says nothing."""
    if not command.exists():
        return "not there"
    try:
        asked = [str(command), "env", "GOVERSION"]
        env = go_environment(Path("/"))
        done = subprocess.run(
            asked, env=env, stdin=DEVNULL, capture_output=True, timeout=ASK_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return _line(str(error))
    return _line((done.stderr if done.returncode else done.stdout).decode(errors="replace"))


def _line(said: str) -> str:
    return " ".join(said.split())[:REASON_LENGTH]


def go_environment(folder: Path, given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return a Go command's environment: the person's with our settings; caches if no home."""
    # The cache is the person's; anything else of theirs would make the build, or what is measured,
    # another one.
    kept = {
        name: value
        for name, value in given.items()
        if not name.startswith("GO") or name == "GOCACHE"
    }
    made = kept | SETTINGS
    if not os.access(given.get("HOME", ""), os.W_OK):
        made |= {"GOPATH": str(folder / "go-path"), "HOME": str(folder)}
        made.setdefault("GOCACHE", str(folder / "go-cache"))
    return made


def build(
    toolchain: Toolchain, source: Path, launcher: Launcher, seconds: float = COMPILE_SECONDS
) -> Path:
    """Compile the tests of the module in `source` into the session's folder; return the binary.

    Raises `NotTestableError` with the compiler's first complaint, or when it was killed or took longer
    than `seconds`.
    """
    folder = Path(launcher.session.folder)
    binary = folder / "multiplexer.test"
    binary.unlink(missing_ok=True)  # one of a build before would hide that this one fails
    options = ("test", "-c", "-trimpath", "-o", str(binary), ".")
    command = (str(toolchain.command), "-C", str(source), *options)
    env = launcher.changes({**go_environment(folder), "GOTMPDIR": str(folder)})
    cpus = frozenset(os.sched_getaffinity(0))
    compiler = Role("compiler", "", {}, cpus, command=command, env=env)
    try:
        said = launcher.launch([compiler], seconds)["compiler"].facts["said"]
        why = "no message"
    except LostError:
        return build(toolchain, source, launcher, seconds)
    except LaunchError as error:
        said = error.said
        why = error.what
    if not binary.is_file():
        lines = [line for line in said.splitlines() if line.strip() and not line.startswith("#")]
        why = _line(lines[0]) if lines else why
        fix = "see 'go vet' in the module's folder"
        raise NotTestableError("cannot compile the Go benchmarks", why, fix)
    return binary


def warm() -> str | None:
    """Compile once, so that the standard library is compiled before measuring; return why not."""
    found = go_toolchain(module(), go_commands())
    if isinstance(found, str):
        return found
    try:
        with Launcher(checkout().ledger, "gc:collect") as launcher:
            build(found, module(), launcher)
    except LabError as error:
        return str(error)
    return None
