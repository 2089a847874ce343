"""Where facts come from: files below a root, and the few calls that no file answers."""

import importlib.metadata
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which
from typing import TypeVar

from ipclab.paths import Paths, checkout

T = TypeVar("T")

RAW_LIMIT = 64 * 1024  # characters kept of one raw file
WHY = {FileNotFoundError: "absent", NotADirectoryError: "absent", PermissionError: "denied"}
COMMAND_SECONDS = 0.3  # a tool that takes longer to say its version is reported as "timed out"

# What names the host, its owner or its network.
_DROPPED_LINE = re.compile(
    r"^\s*(serial|uuid|machine.?id|hostname)\b[^\n]*(\n|$)", re.IGNORECASE | re.MULTILINE
)
_NAMES = (
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE), "<uuid>"),
    (re.compile(r"(?<![\w:])(?:[0-9a-f]{2}:){5}[0-9a-f]{2}(?![\w:])", re.IGNORECASE), "<mac>"),
    # Not followed by "-", or the kernel release "a.b.c.d-flavour" would be taken for an address.
    (re.compile(r"(?<![\w.-])(?:\d{1,3}\.){3}\d{1,3}(?![\w.-])"), "<ip>"),
)


class AbsentError(Exception):
    """No value: its `reason` is absent, denied, unreadable, unlimited, timed out, or failed."""

    def __init__(self, reason: str = "absent") -> None:
        super().__init__(reason)
        self.reason = reason


def present(value: T) -> T:
    """Return `value`; raise `AbsentError` when it is empty or zero."""
    if value:
        return value
    raise AbsentError


class System:
    """The calls of the operating system that facts need; tests pass a subclass."""

    sysconf: Callable[[str], int] = staticmethod(os.sysconf)
    limit: Callable[[int], tuple[int, int]] = staticmethod(resource.getrlimit)

    def affinity(self) -> set[int]:
        """Return the CPUs that the calling thread may use, cgroup cpusets applied."""
        return os.sched_getaffinity(0)

    def uname(self) -> tuple[str, str]:
        """Return the host name (needed only to hide it) and the architecture."""
        return os.uname().nodename, os.uname().machine

    def space(self, path: str) -> tuple[int, int]:
        """Return size and free bytes of the file system that holds `path`; raise `AbsentError`."""
        try:
            numbers = os.statvfs(path)
        except OSError as error:
            raise AbsentError from error
        return numbers.f_blocks * numbers.f_frsize, numbers.f_bavail * numbers.f_frsize

    def writable(self, folder: str) -> bool:
        """Tell whether files can be made in `folder`; nobody can on a read-only file system."""
        return os.access(folder, os.W_OK | os.X_OK)

    def package(self, name: str) -> str:
        """Return the installed version of a distribution; raise `AbsentError`."""
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError as error:
            raise AbsentError from error

    def run(self, *command: str, cwd: Path | None = None, seconds: float = COMMAND_SECONDS) -> str:
        """Return the output of a tool beside the interpreter or on PATH; raise `AbsentError`."""
        program = which(command[0], path=str(Path(sys.executable).parent)) or which(command[0])
        if program is None:
            raise AbsentError
        # A version must be told, not fetched; git must not take the lock that a commit may hold.
        quiet = {
            "LC_ALL": "C",
            "GOTOOLCHAIN": "local",
            "RUSTUP_AUTO_INSTALL": "0",
            "GIT_OPTIONAL_LOCKS": "0",
        }
        # Into a file, since a child of a killed tool could hold a pipe open for ever.
        with tempfile.TemporaryFile() as output:
            try:
                subprocess.run(
                    (program, *command[1:]),
                    timeout=seconds,
                    check=True,
                    cwd=cwd or Path("/"),
                    env=os.environ | quiet,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.DEVNULL,
                )
            except subprocess.TimeoutExpired as error:
                raise AbsentError("timed out") from error
            except (OSError, subprocess.SubprocessError) as error:
                raise AbsentError("failed") from error
            output.seek(0)
            return output.read().decode(errors="replace")


@dataclass(frozen=True)
class Source:
    """Files below `root`, calls of `system`, the checkout's `paths`; `raw` keeps texts."""

    root: Path = Path("/")
    system: System = field(default_factory=System)
    paths: Paths = field(default_factory=checkout)
    raw: dict[str, str] = field(default_factory=dict, repr=False)
    _memo: dict[str, object] = field(default_factory=dict, repr=False)

    def path(self, name: str) -> Path:
        """Return where the file `name` (absolute on the machine) lies below the root."""
        return self.root / name.lstrip("/")

    def bytes(self, name: str) -> bytes:
        """Return a file's bytes, not remembered; raise `AbsentError`."""
        try:
            return self.path(name).read_bytes()
        except OSError as error:  # sysfs and PSI answer EINVAL, EIO, EOPNOTSUPP when switched off
            raise AbsentError(WHY.get(type(error), "unreadable")) from error

    def read(self, name: str) -> str:
        """Return a file's text, not kept: it may name host or user; raise `AbsentError`."""
        return self.bytes(name).decode(errors="replace")

    def text(self, name: str) -> str:
        """Return a file's text, remembered and kept in `raw`; raise `AbsentError`."""
        return self.once(name, lambda: self.keep(name, self.read(name)))

    def parsed(self, name: str, parse: Callable[[str], T], default: T) -> T:
        """Return `parse` of a file's stripped text, `default` where that is impossible."""
        try:
            return parse(self.text(name).strip())
        except (AbsentError, ValueError):
            return default

    def keep(self, name: str, text: str) -> str:
        """Store `text` as the raw file `name`, without what names the host; return it unchanged."""
        self.raw[name] = scrub(text, self.system.uname()[0])[:RAW_LIMIT]
        return text

    def names(self, folder: str) -> list[str]:
        """Return the sorted names in a folder; none when it cannot be listed."""
        try:
            return sorted(entry.name for entry in self.path(folder).iterdir())
        except OSError:
            return []

    def exists(self, name: str) -> bool:
        """Tell whether the path is there."""
        try:
            return self.path(name).exists()
        except OSError:
            return False

    def once(self, key: str, make: Callable[[], T]) -> T:
        """Return `make()`, called once for each key; an `AbsentError` is remembered too."""
        if key not in self._memo:
            try:
                self._memo[key] = make()
            except AbsentError as absent:
                self._memo[key] = absent
        value = self._memo[key]
        if isinstance(value, AbsentError):
            raise AbsentError(value.reason)
        return value  # type: ignore[return-value]  # one key is always made by one function


def scrub(text: str, host: str) -> str:
    """Return `text` without serial numbers, UUIDs, MAC and IPv4 addresses, the host's name."""
    text = _DROPPED_LINE.sub("", text)
    for pattern, mark in _NAMES:
        text = pattern.sub(mark, text)
    # the long name first, or its domain would stay
    for name in filter(None, (host, host.partition(".")[0])):
        text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", "<host>", text)
    return text
