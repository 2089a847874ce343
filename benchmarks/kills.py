"""Kill every command at a random moment: nothing stays, nothing is lost.

    .venv/bin/python benchmarks/kills.py 300 [SEED]

Each trial has folders of its own and none that an earlier one filled, except for the run that is
measured: a third of the kills falls while frames are derived or notebooks executed, a third into
heats. After a kill no process of its session may run for longer than ten seconds; then `ipclab
clean` is called, after which no file of ipclab may lie in /dev/shm, TMPDIR or the data's folder
that is no run, and each point that was there before is there, bit by bit. At the end the run that
was killed is finished by the same command, and read. The exit code says whether all of it held.
"""

import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUN = "data/reference.ipclab"
MEASURE = "measure --study payload --size 100 --profile smoke"
# A command, and by how many seconds it is killed at the latest.
COMMANDS = {
    "measure": (MEASURE, 40.0),
    "measure of ranks": (
        "measure --study round_trip --backend mpi-p2p --size 100 --profile smoke",
        40.0,
    ),
    "ab": ("ab true true", 15.0),
    "values": (f"values {RUN} --study payload", 6.0),
    "choose": (f"choose --size 100 --run {RUN}", 12.0),
    "compare": ("compare --table-only --out FOLDER/out", 12.0),
    "report": (f"report --run {RUN} --lang en --format html --out FOLDER/out", 60.0),
    "bundle": (f"bundle {RUN} FOLDER/x.ipclab --samples 10", 15.0),
    "import": (f"import {RUN}", 8.0),
    "conform": ("conform unix", 5.0),
    "doctor": ("doctor --seconds 1", 4.0),
    "clean": ("clean", 1.5),
}
HEATS, READERS = ("measure", "measure of ranks", "ab"), ("values", "choose", "compare", "report")
ENDED = 10.0  # seconds


def main(count: int, seed: int) -> int:
    """Kill `count` commands, print what was found and return the exit code."""
    chance = random.Random(seed)
    said, killed = Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="ipclab-kills-", dir="/tmp") as top:
        measured = Path(top, "measured")
        for number in range(count):
            group = (HEATS, READERS, [*COMMANDS])[number % 3]
            name = chance.choice([*group])
            command, longest = COMMANDS[name]
            folder = measured if name in HEATS else Path(top, str(number))
            wrong, was_killed = trial(command, chance.uniform(0.05, longest), folder)
            killed[name] += was_killed
            for line in wrong:
                said[line.partition(":")[0]] += 1
                print(f"kill {number} of {name}: {line}", flush=True)
        finished = ipclab(MEASURE, measured)
        if finished.wait(900):
            said["not finished"] += 1
            print("the run that was killed cannot be finished", flush=True)
    print(f"{sum(killed.values())} kills of {count} trials:", dict(killed))
    print("wrong:", dict(said) or "nothing")
    return 1 if said else 0


def ipclab(command: str, folder: Path) -> "subprocess.Popen[bytes]":
    """Start a command in a session, with data, cache and temporary files of its own in `folder`."""
    (folder / "tmp").mkdir(parents=True, exist_ok=True)
    env = os.environ | {
        "IPCLAB_DATA": str(folder / "data"),
        "IPCLAB_BESIDE": "1",
        "XDG_CACHE_HOME": str(folder / "cache"),
        "TMPDIR": str(folder / "tmp"),
    }
    words = command.replace("FOLDER", str(folder)).split()
    line = [sys.executable, "-m", "ipclab", *words]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(line, cwd=ROOT, env=env, start_new_session=True, **quiet)  # type: ignore[call-overload,no-any-return]


def trial(told: str, after: float, folder: Path) -> tuple[list[str], bool]:
    """Kill a command after so many seconds; return what is wrong then, and whether it still ran."""
    before, shared = points(folder), shared_names()
    command = ipclab(told, folder)
    try:
        command.wait(after)
    except subprocess.TimeoutExpired:
        os.kill(command.pid, signal.SIGKILL)
    code = command.wait(30)
    until = time.monotonic() + ENDED
    while (left := alive(command.pid, folder)) and time.monotonic() < until:
        time.sleep(0.1)
    wrong = [f"orphan: {each}" for each in left]
    ipclab("clean", folder).wait(120)
    names = shared_names() - shared
    wrong += [f"left: /dev/shm/{name}" for name in names if "ipclab" in name]
    wrong += [f"left: {path}" for path in (folder / "tmp").glob("*ipclab*")]
    wrong += [f"left: {path}" for path in folder.rglob("*.part")]
    now = points(folder)
    wrong += [f"lost: {path}" for path in before if path not in now]
    return wrong, code == -signal.SIGKILL


def shared_names() -> set[str]:
    """Return what lies in /dev/shm."""
    return {path.name for path in Path("/dev/shm").iterdir()}


def points(folder: Path) -> dict[Path, str]:
    """Return the points of runs that were measured in `folder`, each with its digest."""
    files = (folder / "data" / "runs").glob("*/*/points/*/*.parquet")
    return {file: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def alive(session: int, folder: Path) -> list[str]:
    """Return the processes of a session, or with its folder in their environment, that run."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            about = (entry / "stat").read_text().rpartition(")")[2].split()
            mine = str(folder / "tmp").encode() in (entry / "environ").read_bytes()
        except (OSError, IndexError):
            continue
        if about[0] not in "ZX" and (int(about[3]) == session or mine):
            found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()[:120])
    return found


# A /dev/shm of its own, where nobody else leaves anything.
OWN = 'mount -t tmpfs -o size=1g tmpfs /dev/shm && IPCLAB_OWN_SHM=1 exec "$@"'

if __name__ == "__main__":
    if os.geteuid() == 0 and "IPCLAB_OWN_SHM" not in os.environ:
        own = ["unshare", "-m", "sh", "-c", OWN, "sh", sys.executable, *sys.argv]
        os.execvp(own[0], own)
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else 1))
