"""The Go toolchain that came as a package, and compiling the benchmarks with it."""

import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
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


MODULE = Path(__file__).parents[2] / "native" / "multiplexer"  # in Go


@dataclass(frozen=True)
class Toolchain:
    """A Go command and what it says of itself, such as `go1.24.2`."""

    command: Path
    version: str


@cache
def go_toolchain() -> Toolchain | str:
    """Return the Go that came as a package, beside this interpreter, or why there is none."""
    command = Path(sys.executable).with_name("go")
    asked, env = [str(command), "env", "GOVERSION"], go_environment(Path("/"))
    try:
        done = subprocess.run(
            asked, env=env, stdin=DEVNULL, capture_output=True, timeout=ASK_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        why = "none is installed" if not command.exists() else _line(str(error))
    else:
        if not done.returncode:
            return Toolchain(command, done.stdout.decode().strip())
        why = _line(done.stderr.decode(errors="replace"))
    return f"no Go toolchain: {why}; run {typed('setup')}"


def _line(said: str) -> str:
    return " ".join(said.split())[:REASON_LENGTH]


def go_environment(folder: Path) -> dict[str, str]:
    """Return a Go command's environment: the person's with our settings; caches if no home."""
    # The cache is the person's; anything else of theirs would make the build, or what is measured,
    # another one.
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GO") or name == "GOCACHE"
    }
    made = kept | SETTINGS
    if not os.access(kept.get("HOME", ""), os.W_OK):
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
    found = go_toolchain()
    if isinstance(found, str):
        return found
    try:
        with Launcher(checkout().ledger, "gc:collect") as launcher:
            build(found, MODULE, launcher)
    except LabError as error:
        return str(error)
    return None
