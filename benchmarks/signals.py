"""Random signals while everything is measured: whatever is killed, runs end complete and nothing is left behind.

    python benchmarks/signals.py [SIGNALS] [SEED] [STUDY ...]

A run under profile smoke is begun, a signal hits the measuring process, its fork server or any process of its session
at a random moment, and the same command goes on. Every 20th time there is no signal, and the run must become complete
with the points that were asked for; the next one is then begun. It prints one line of counts, and exits with 1 if
anything was left, a traceback was printed, or a decoy was removed.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ipclab.measure.request import Request
from ipclab.spawn.ledger import SHARED_MEMORY
from ipclab.store import run as folder

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
LONGEST = 30.0  # seconds until the signal
EACH = 20  # times, of which the last has no signal


def children(pid: int) -> list[int]:
    """Return all descendants of `pid`."""
    try:
        found = [
            int(word)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for word in (task / "children").read_text().split()
        ]
    except OSError:
        return []
    return found + [each for child in found for each in children(child)]


def main() -> int:
    """Send the signals and count what went wrong."""
    count, seed = (int(word) for word in (sys.argv[1:3] + ["200", "1"][len(sys.argv) - 1 :])[:2])
    studies = tuple(sys.argv[3:])
    chance, top = random.Random(seed), Path(tempfile.mkdtemp(prefix="signals-"))
    temporary, data, decoy = top / "tmp", top / "data", SHARED_MEMORY / "ipclab-1-2-deadbeef-1-decoy"
    temporary.mkdir()
    decoy.touch()
    env = {**os.environ, "IPCLAB_DATA": str(data), "TMPDIR": str(temporary)}
    command = [sys.executable, "-m", "ipclab", "measure", "--profile", "smoke"]
    command += [word for name in studies for word in ("--study", name)]
    tally = dict.fromkeys(("signals", "runs", "incomplete", "left", "tracebacks"), 0)
    while tally["signals"] < count:
        measuring = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if (tally["signals"] + 1) % EACH:
            try:
                measuring.wait(chance.uniform(0.3, LONGEST))
            except subprocess.TimeoutExpired:
                victims = [measuring.pid, *children(measuring.pid)]
                victim = chance.choice([measuring.pid, chance.choice(victims)])
                os.kill(victim, chance.choice(SIGNALS) if victim == measuring.pid else signal.SIGKILL)
        tally["signals"] += 1
        said, _ = measuring.communicate(timeout=600)
        tally["tracebacks"] += "Traceback" in said
        if "Traceback" in said:
            print(said, flush=True)
        runs = [folder.read(file.parent) for file in data.glob("runs/*/*/run.json")]
        if measuring.returncode == 0:
            tally["runs"] += 1
            wanted = {point.id for _, points in Request(studies, "smoke").points() for point in points}
            newest = max(runs, key=lambda run: run.id)
            have = {file.stem for file in newest.point_files()} | set(newest.about["points"])
            tally["incomplete"] += not newest.complete or have != wanted
            shutil.rmtree(newest.path)
        deadline = time.monotonic() + 20
        while (left := leavings(measuring.pid, temporary, data)) and time.monotonic() < deadline:
            time.sleep(0.1)
        tally["left"] += len(left)
        if left:
            print(left, flush=True)
    lost = not decoy.exists()
    decoy.unlink(missing_ok=True)
    print(f"seed {seed}: {tally}; decoy {'removed' if lost else 'there'}")
    shutil.rmtree(top)
    return int(lost or any(tally[name] for name in ("incomplete", "left", "tracebacks")))


def leavings(pid: int, temporary: Path, data: Path) -> list[str]:
    """Return what the session of process `pid` has left."""
    shared = [entry.name for entry in SHARED_MEMORY.iterdir() if f"ipclab-{pid}-" in entry.name]
    places = [*temporary.iterdir(), *data.glob("runs/.ledger/*"), *data.glob("scratch/*")]
    return [*shared, *map(str, places)]


if __name__ == "__main__":
    sys.exit(main())
