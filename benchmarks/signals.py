"""Random SIGKILLs while everything is measured: whatever is killed, runs end complete and nothing
is left behind.

    python -m benchmarks.signals [SIGNALS] [SEED] [STUDY ...]

One study after the other is measured under profile smoke. A SIGKILL hits the measuring process, its
fork server or any process of its session at a random moment, and the same command goes on; after
twenty signals it is left alone, and the run must become complete with the points that were asked
for. It prints a line for each study in turn and one of counts, and exits with 1 if anything was
left (names, files, kernel objects), a run was incomplete, a point that was finished is lost, a
traceback was printed, or a decoy was removed.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from itertools import cycle
from pathlib import Path

from ipclab.errors import UsageError
from ipclab.measure.request import Request, levels
from ipclab.plugins import chosen
from ipclab.spawn.ledger import SHARED_MEMORY
from ipclab.store import run as folder
from ipclab.studies.installed import ALWAYS, studies
from ipclab.studies.interface import Sweep
from tests.support.commands import kernel_objects

LONGEST = 5.0  # seconds until the signal
EACH = 20  # signals, before a run is left alone
FEWER = {  # points: a level that leaves every mechanism in
    **{"payload": "placement=cross", "shared_dict": "entries=100", "multiplexer": "threshold=4096"},
    **{"round_trip": "placement=free", "file_io": "threads=2"},
    **{"stream": "placement=cross", "faults": "fault=killed-idle", "neighbours": "isolation=plain"},
}


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


def hit(measuring: "subprocess.Popen[str]", chance: random.Random) -> bool:
    """Kill something at a random moment; tell whether there was still something to hit."""
    try:
        measuring.wait(chance.uniform(0.3, LONGEST))
    except subprocess.TimeoutExpired:
        victim = chance.choice(
            [measuring.pid, chance.choice([measuring.pid, *children(measuring.pid)])]
        )
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
        return True
    return False


def measure(study: str, count: int, chance: random.Random, top: Path) -> Counter[str]:
    """Measure `study`, `count` times hit by a signal, until a run is complete; count what happened."""
    temporary, data = top / "tmp", top / "data"
    env = {**os.environ, "IPCLAB_DATA": str(data), "TMPDIR": str(temporary)}
    command = [
        sys.executable,
        "-m",
        "ipclab",
        "measure",
        "--profile",
        "smoke",
        "--study",
        study,
        "--level",
        FEWER[study],
    ]
    tally: Counter[str] = Counter()
    before, finished = kernel_objects(), set[Path]()
    for _ in range(5 * EACH):
        measuring = subprocess.Popen(
            command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        tally["signals"] += tally["signals"] < count and hit(measuring, chance)
        said, _ = measuring.communicate(timeout=600)
        if measuring.returncode == 0:
            tally["runs"] += 1
            tally["incomplete"] += not whole(study, data)
        left = leavings(measuring.pid, temporary, data, before)
        now = {*data.glob("runs/*/*/points/*/*.parquet")}
        lost, finished = finished - now, now if measuring.returncode else set()
        tally += Counter(
            left=len(left),
            tracebacks="Traceback" in said,
            lost=len(lost) * bool(measuring.returncode),
        )
        if left or "Traceback" in said:
            print(said, left, flush=True)
        if measuring.returncode == 0 and tally["signals"] == count:
            return tally
    raise SystemExit(f"{study} does not come to an end: {said}")


def whole(study: str, data: Path) -> bool:
    """Tell whether the newest run has the points that were asked for, none of them failed; it is
    then removed.
    """
    request = Request((study,), "smoke", sweep=Sweep(levels=levels((FEWER[study],))))
    wanted = {point.id for _, points in request.points() for point in points}
    newest = max(
        (folder.read(file.parent) for file in data.glob("runs/*/*/run.json")),
        key=lambda run: run.id,
    )
    no_parts = not [*newest.path.rglob("*.part")]
    have = {file.stem for file in newest.point_files()} | set(newest.about["points"])
    shutil.rmtree(newest.path)
    return newest.complete and have == wanted and no_parts


def main() -> int:
    """Send the signals and count what went wrong."""
    count, seed = (int(word) for word in (sys.argv[1:3] + ["200", "1"][len(sys.argv) - 1 :])[:2])
    for name in sys.argv[3:]:
        chosen("study", name, FEWER)
    if unknown := studies().keys() - FEWER.keys() - {*ALWAYS}:
        raise UsageError(
            f"no level is known that makes {', '.join(sorted(unknown))} small",
            "",
            "add one to FEWER",
        )
    turns = cycle(sys.argv[3:] or FEWER)  # each of which measures the limits too
    chance, top = random.Random(seed), Path(tempfile.mkdtemp(prefix="signals-"))
    decoy = SHARED_MEMORY / f"ipclab-1-{os.getpid():016x}-1-decoy"
    (top / "tmp").mkdir()
    decoy.touch()
    tally: Counter[str] = Counter()
    while tally["signals"] < count:
        study = next(turns)
        tally += (now := measure(study, min(EACH, count - tally["signals"]), chance, top))
        print(f"{study}: {dict(now)}", flush=True)
    lost = not decoy.exists()
    decoy.unlink(missing_ok=True)
    names = ("signals", "runs", "incomplete", "lost", "left", "tracebacks")
    print(
        f"seed {seed}: { ({name: tally[name] for name in names}) }; decoy"
        f" {'removed' if lost else 'there'}"
    )
    shutil.rmtree(top)
    return int(lost or any(tally[name] for name in names[2:]))


def leavings(pid: int, temporary: Path, data: Path, before: set[str]) -> list[str]:
    """Return what the session of process `pid` has left when its last processes have had the time
    to end.

    A kernel object that was there `before` is none of it, nor is one that is not there at every
    look.
    """
    deadline, objects = time.monotonic() + 20, kernel_objects()
    while True:
        objects &= kernel_objects() - before
        shared = [entry.name for entry in SHARED_MEMORY.iterdir() if f"ipclab-{pid}-" in entry.name]
        places = [*temporary.iterdir(), *data.glob("runs/.ledger/*"), *data.glob("scratch/*")]
        left = [*shared, *map(str, places), *sorted(objects)]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.1)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UsageError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
