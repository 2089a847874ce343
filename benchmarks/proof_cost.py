"""What the proof costs: round trips of this checkout and of one without it, launched in turn.

    .venv/bin/python benchmarks/proof_cost.py [PAIRS [MECHANISM...]]

Without it all messages are the same bytes, at which nobody looks. A row for each mechanism and size
on one CPU: the median of the ratio with over without, pair by pair, and its quartiles.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parent.parent
MECHANISMS = ("mp-pipe", "pipe", "posix-shm", "shm-futex", "unix", "zmq-ipc")
SIZES = (100, 1_000_000)
NO_PROOF = """
Proof.plan = lambda proof, count, warm=False: [False] * count
Proof.next = lambda proof: proof.__dict__.setdefault("same", b"x" * proof.size)
Proof.check = Proof.came = lambda *_: None
"""
SIDE = """
import sys
from dataclasses import replace
from pathlib import Path
import numpy as np
from ipclab_measure.machine import Source, Topology
from ipclab_measure.machine.placement import placements
from ipclab_measure.spawn.heat import Contestant, Heat, Schedule
from ipclab_measure.spawn.launcher import Launcher
from ipclab_measure.studies.interface import Sweep
from ipclab_measure.studies.profile import PROFILES
from ipclab_measure.studies.round_trip import RoundTripStudy
study, profile = RoundTripStudy(), replace(PROFILES["quick"], turn_ns=4_000_000)
placed = placements(Topology.read(Source()))["same"]
with Launcher(Path(sys.argv[1])) as launcher:
    for line in sys.stdin:
        name, size = line.split()
        points = study.points(profile, Sweep((int(size),), (name,)))
        point = next(p for p in points if p.levels["arm"] == "main" and p.placement == "same")
        roles = study.roles(point, profile, placed, 1)
        ended = Heat(launcher, Schedule(turns=8, warm_turns=1)).run({"x": Contestant(point, roles)})
        if isinstance(ended["x"], Exception):
            raise ended["x"]
        launch = study.collect(point, ended["x"], 1)
        print(float(np.median(launch.samples["round-trip"])), flush=True)
"""


def without(folder: Path) -> Path:
    """Return a copy of this checkout in `folder` whose messages are no proof of anything."""
    ours = folder / "packages/measure/ipclab_measure"
    shutil.copytree(HERE / "ipclab", folder / "ipclab")
    shutil.copytree(HERE / "packages", folder / "packages")
    (ours / "spawn/answered.py").open("a").write(NO_PROOF)
    return folder


def side(checkout: Path, ledger: Path) -> "subprocess.Popen[str]":
    """Start what launches round trips by the code of `checkout`, one for each line it is told."""
    packages = [checkout, *(checkout / "packages").iterdir()]
    return subprocess.Popen(
        [sys.executable, "-c", SIDE, str(ledger)],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, packages))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def launched(one: "subprocess.Popen[str]", name: str, size: int) -> float:
    """Return the median round trip (ns) of one launch."""
    print(name, size, file=one.stdin, flush=True)
    return float(next(iter(one.stdout or ())))


def main() -> None:
    """Print the ratios."""
    with TemporaryDirectory(prefix="ipclab-proof-") as folder:
        ledgers = [Path(folder, name) for name in ("with", "without")]
        _compare(side(HERE, ledgers[0]), side(without(Path(folder, "copy")), ledgers[1]))


def _compare(here: "subprocess.Popen[str]", there: "subprocess.Popen[str]") -> None:
    pairs = int(next(iter(sys.argv[1:]), "12"))
    for size in SIZES:
        for name in sys.argv[2:] or MECHANISMS:
            ratios, before = list[float](), list[float]()
            for number in range(pairs):
                order = (here, there) if number % 2 else (there, here)
                took = {one.pid: launched(one, name, size) for one in order}
                ratios.append(took[here.pid] / took[there.pid])
                before.append(took[there.pid])
            low, _, high = quantiles(ratios, n=4)
            print(f"{name:10} {size:9,} B  {median(before) / 1000:8.1f} us  "
                  f"x {median(ratios):.3f} [{low:.3f}-{high:.3f}]", flush=True)  # fmt: skip
    for one in (here, there):
        one.communicate()


if __name__ == "__main__":
    main()
