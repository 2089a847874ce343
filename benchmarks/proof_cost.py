"""What the proof costs: launches of this checkout and of one without it, in turn.

    .venv/bin/python benchmarks/proof_cost.py [PAIRS [STUDY...]]

Without it all messages are the same bytes, at which nobody looks. A row for each study, mechanism
and size, on one CPU where the study has such points: the median without it, and the median of the
ratio with over without, pair by pair, with its quartiles.
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
ASKED = {  # by study and arm: which mechanisms
    "round_trip main": MECHANISMS,
    "payload handover": ("posix-shm",),
    "payload mapping": ("shm-mmap",),
    "stream main": ("pipe", "zmq-ipc"),
    "shared_dict stream": ("posix-shm",),
    "objects near": ("unix",),
}
SIZES = (100, 1_000_000)
NO_PROOF = {
    "measure/ipclab/spawn/proof.py": """
looks = lambda chance, count, *_: [False] * count
Numbered.plan = lambda proof, count, warm=False: [False] * count
Numbered.next = lambda proof: proof.__dict__.setdefault("same", b"x" * proof.size)
Numbered.check = Numbered.look = lambda *_: None
def _numbered(messages, number):
    messages.marks[number % BUFFERS][0] = messages.first + number
    return messages.windows[number % BUFFERS]
Messages.message = _numbered
""",
    "measure/ipclab/spawn/answered.py": """
Proof.came = lambda *_: None
Proof.plan = Numbered.plan
Proof.answer = lambda proof, data, look: data
""",
    "measure/ipclab/studies/shared_dict/loops.py": """
Reading.check = lambda *_: None
Versions._stamps = lambda *_: []
""",
    "more/ipclab_more/studies/objects/proved.py": """
Order.next = lambda order: 0
Order.stamped = lambda *_: None
Timed.give = lambda timed: timed.objects[0]
Timed.check = lambda *_: None
""",
}
ARRIVES = {  # what is read of a message before the second clock
    "measure/ipclab/studies/round_trip/ends.py": """\
            if type(answer) is not kind or len(answer) != size:
                raise proof.unlike(answer)
            last(answer, tail)
""",
    "measure/ipclab/studies/shared_dict/loops.py": """\
        if type(data) is not bytes:
            raise unlike(data, bytes, f"version {self.version}")
        _ = data[-MARK:]  # it is there
""",
}
SIDE = """
import sys
from dataclasses import replace
from pathlib import Path
from ipclab.machine import Source, Topology
from ipclab.machine.placement import placements
from ipclab.spawn.heat import Contestant, Schedule
from ipclab.spawn.launcher import Launcher
from ipclab.studies.installed import study
from ipclab.studies.interface import Site, Sweep
from ipclab.studies.profile import PROFILES
ledger, placed = Path(sys.argv[1]), placements(Topology.read(Source()))
nothing = lambda *_: None
with Launcher(ledger) as launcher:
    site = Site(launcher, ledger / "scratch", nothing, nothing, nothing)
    for line in sys.stdin:
        name, arm, backend, size = line.split()
        asked = study(name)
        effort = asked.effort(replace(PROFILES["quick"], turn_ns=4_000_000))
        points = asked.points(effort, Sweep((int(size),), (backend,)))
        points = [p for p in points if p.levels["arm"] == arm and p.backend == backend]
        point = min(points, key=lambda p: (p.placement != "same", p.size_bytes != int(size)))
        roles = asked.roles(point, effort, placed[point.placement], 1)
        with asked.open(site, [point], effort, 1) as bench:
            ended = bench({"x": Contestant(point, roles)}, Schedule(turns=8, warm_turns=1))["x"]
        if isinstance(ended, Exception):
            raise ended
        op = point.primary[0]
        print(point.placement, op, asked.collect(point, ended, 1).median(op), flush=True)
"""


def without(folder: Path) -> Path:
    """Return a copy of this checkout in `folder` whose messages are no proof of anything."""
    shutil.copytree(HERE / "ipclab", folder / "ipclab")
    shutil.copytree(HERE / "packages", folder / "packages")
    for file, text in ARRIVES.items():
        path = folder / "packages" / file
        before = path.read_text()
        if text not in before:
            raise ValueError(f"{file} does not read what arrives as it is known here")
        path.write_text(before.replace(text, ""))
    for file, text in NO_PROOF.items():
        with (folder / "packages" / file).open("a") as module:
            module.write(text)
    return folder


def side(checkout: Path, ledger: Path) -> "subprocess.Popen[str]":
    """Start what launches points by the code of `checkout`, one for each line it is told."""
    packages = [checkout, *(checkout / "packages").iterdir()]
    return subprocess.Popen(
        [sys.executable, "-c", SIDE, str(ledger)],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, packages))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def launched(one: "subprocess.Popen[str]", case: str, size: int) -> tuple[str, float]:
    """Return what was timed of one launch, and its median (ns)."""
    print(case, size, file=one.stdin, flush=True)
    timed, _, took = next(iter(one.stdout or ())).rpartition(" ")
    return timed, float(took)


def main() -> None:
    """Print the ratios."""
    with TemporaryDirectory(prefix="ipclab-proof-") as folder:
        ledgers = [Path(folder, name) for name in ("with", "without")]
        _compare(side(HERE, ledgers[0]), side(without(Path(folder, "copy")), ledgers[1]))


def _compare(here: "subprocess.Popen[str]", there: "subprocess.Popen[str]") -> None:
    pairs, studies = int(next(iter(sys.argv[1:]), "12")), sys.argv[2:]
    chosen = [asked for asked in ASKED if not studies or asked.split()[0] in studies]
    for case in [f"{asked} {name}" for asked in chosen for name in ASKED[asked]]:
        for size in SIZES:
            ratios, before = list[float](), list[float]()
            for number in range(pairs):
                order = (here, there) if number % 2 else (there, here)
                told = {one.pid: launched(one, case, size) for one in order}
                (timed, took), (_, base) = told[here.pid], told[there.pid]
                ratios.append(took / base)
                before.append(base)
            low, _, high = quantiles(ratios, n=4)
            print(f"{case:28} {size:9,} B  {timed:18} {median(before) / 1000:8.1f} us  "
                  f"x {median(ratios):.3f} [{low:.3f}-{high:.3f}]", flush=True)  # fmt: skip
    for one in (here, there):
        one.communicate()


if __name__ == "__main__":
    main()
