"""Commands in processes of their own, for tests that kill them or change their world, and what they
leave.
"""

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from ipclab.spawn.launcher import Launcher
from ipclab.spawn.ledger import SHARED_MEMORY
from ipclab.spawn.owned import FILE
from ipclab.store.samples import decode

Run = Callable[..., "CompletedProcess[str]"]  # the fixture `ipclab`
ROOT = Path(__file__).parents[2]
WITHOUT_NATIVE = """
import sys
sys.modules["ipclab_native"] = None  # as on a machine without it: there are no limits to measure
"""
# The command line there.
IPCLAB = f"{WITHOUT_NATIVE}from ipclab.__main__ import main\nmain()\n"
WITHOUT_ANSWERS = """
import sys

from importlib.machinery import ModuleSpec

class Refused:
    def find_spec(self, name, path=None, target=None):
        return ModuleSpec(name, self) if name.partition(".")[0] == "ipclab_more" else None

    def create_module(self, spec):
        raise ImportError(f"{spec.name} is refused")

    def exec_module(self, module):
        pass

sys.meta_path.insert(0, Refused())
"""
# The shell gives the size of /dev/shm and then runs the rest; what is left in /dev/shm is printed
# at the end.
SMALL_SHM = """
mount -t tmpfs -o size="$1" tmpfs /dev/shm
shift
code=0
"$@" || code=$?
echo "left: $(ls -A /dev/shm)"
exit $code
"""


def ran(command: Sequence[str], seconds: float = 60, **more: Any) -> "CompletedProcess[str]":
    """Run `command` to its end within so many seconds, and return what it said."""
    return subprocess.run(
        command, capture_output=True, text=True, timeout=seconds, check=False, **more
    )


def without_answers(folder: Path) -> str:
    """Return a `PYTHONPATH` with which every Python refuses to import what stands beside the core."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(WITHOUT_ANSWERS)
    return f"{folder}:{ROOT}"


def environment(folder: Path) -> dict[str, str]:
    """Return an environment with its own data and temporary folders below `folder`."""
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    # A person's Python keeps its bytecode; without it each process compiles pandas anew.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {
        **kept,
        "PYTHONPATH": str(ROOT),
        "IPCLAB_DATA": str(folder / "data"),
        "IPCLAB_ROOT": str(ROOT),
        "TMPDIR": str(temporary),
    }


def processes_of(session: str) -> list[int]:
    """Return the processes whose command line names `session`: its fork servers and their children;
    of none, none.
    """
    found: list[int] = []
    if not session:
        return found
    for entry in Path("/proc").iterdir():
        try:
            # A zombie has no command line any more.
            if entry.name.isdigit() and session.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return sorted(found)


def servers_of(launcher: Launcher) -> list[int]:
    """Return the fork servers of `launcher` as `processes_of` finds them while no worker is left."""
    return sorted(server.process.pid for server in launcher.servers)


def names_of(session: str) -> list[str]:
    """Return what lies in /dev/shm under the session's name."""
    return sorted(entry.name for entry in SHARED_MEMORY.iterdir() if session in entry.name)


def files_of(folder: str) -> list[str]:
    """Return what launches and ranks have left in a session's folder; what a study keeps there is
    not theirs.
    """
    names = (path.name for path in Path(folder).iterdir())
    return sorted(
        name for name in names if name[0].isdigit() or name.startswith(("ranks-", "ipclab-"))
    )


def kernel_objects() -> set[str]:
    """Return this user's System V objects and POSIX queues, which lie in no folder that a session
    has.
    """
    found = {f"posix-queue /{path.name}" for path in Path("/dev/mqueue").glob("*")}
    for kind, user in (("shm", 7), ("sem", 4), ("msg", 7)):
        lines = Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]
        rows = [line.split() for line in lines]
        found |= {f"system-v {kind} key {row[0]}" for row in rows if row[user] == str(os.getuid())}
    return found


def left_of(prefix: str, folder: str, before: set[str], seconds: float = 10.0) -> list[str]:
    """Return what is left of a launch: in shared memory, in the session's folder, and elsewhere
    since `before` for `seconds`.
    """
    starts = (f"{prefix}-", f"sem.{prefix}-", f"{prefix.rpartition('-')[2]}-")
    places = [*SHARED_MEMORY.iterdir(), *Path(folder).rglob("*")]
    lying = [
        path.name
        for path in places
        if path.name.startswith(starts) and not path.name.endswith(f"-{FILE}")
    ]
    # Other tests may make some at the same time, and take them away again.
    stays = kernel_objects() - before
    deadline = time.monotonic() + seconds
    while stays and time.monotonic() < deadline:
        time.sleep(0.02)
        stays &= kernel_objects()
    return sorted([*lying, *stays])


def eventually(true: Callable[[], object], seconds: float = 60.0, pause: float = 0.01) -> bool:
    """Tell whether `true` becomes true within `seconds`; it is asked after each `pause`."""
    deadline = time.monotonic() + seconds
    while not (done := bool(true())) and time.monotonic() < deadline:
        time.sleep(pause)
    return done


class World:
    """A data folder and a temporary folder of their own, and what can be seen of a measuring
    process.
    """

    def __init__(self, path: Path) -> None:
        self.environment = environment(path)
        self.data, self.temporary = path / "data", path / "tmp"
        self.ledger = self.data / "runs" / ".ledger"

    def start(self, command: list[str]) -> "subprocess.Popen[str]":
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=self.environment, stdout=pipe, stderr=pipe, text=True)

    def wait(self, measuring: "subprocess.Popen[str]", true: Callable[[], object]) -> None:
        """Wait until `true` becomes true while `measuring` runs."""
        assert eventually(lambda: true() or measuring.poll() is not None, 60)
        assert measuring.poll() is None, measuring.communicate()

    def session(self, measuring: "subprocess.Popen[str]") -> str:
        """Return the id of the session of `measuring`, or nothing."""
        return next((file.stem for file in self.ledger.glob(f"ipclab-{measuring.pid}-*.json")), "")

    def has(self, count: int) -> bool:
        """Tell whether `count` points are on disk."""
        return len(list(self.data.rglob("*.parquet"))) >= count

    def points(self) -> dict[str, list[int]]:
        """Return the places in the run of each point's launches that are on disk."""
        return {
            file.name: [each.order for each in decode(file).launches]
            for file in self.data.rglob("*.parquet")
        }

    def left(self, session: str) -> list[object]:
        return [
            *names_of(session),
            *self.temporary.iterdir(),
            *self.ledger.iterdir(),
            *processes_of(session),
        ]


def namespace(script: str, *arguments: str) -> list[str]:
    """Return a command that runs shell `script` as root of a private mount namespace."""
    flags = ["-m"] if os.getuid() == 0 else ["-U", "-r", "-m"]
    return ["unshare", *flags, "sh", "-ec", script, "sh", *arguments]


def namespace_refused() -> str:
    """Return why no private mount namespace with a tmpfs can be had here, or nothing."""
    command = namespace("mount -t tmpfs -o size=1m tmpfs /dev/shm")
    try:
        tried = ran(command)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if tried.returncode == 0 else tried.stderr.strip() or f"exit code {tried.returncode}"
