"""Does `ipclab gather` name the node that a neighbour slows? python -m benchmarks.slow_node [--hogs 2]
[WORD ...].

This machine is measured under the labels of four nodes, one after the other, the last one beside
busy neighbours, so many on each CPU. WORDs are further words of `ipclab measure`. Prints what gather
says of three quiet nodes, and of two quiet ones with the slowed one.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

BUSY = "import os, sys; os.sched_setaffinity(0, [int(sys.argv[1])])\nwhile True: pass"
QUIET, SLOWED = ("n1", "n2", "n3"), "slowed"
ASKED = ["--study", "round_trip", "--size", "100", "--backend", "unix", "--backend", "pipe"]


def measured(label: str, hogs: int, words: list[str], top: Path) -> Path:
    """Measure this machine as node `label` beside `hogs` on each CPU, and return its bundle."""
    file = top / f"{label}.ipclab"
    command = [sys.executable, "-m", "ipclab", "measure", "--label", label, "--bundle", str(file)]
    with ExitStack() as neighbours:
        for cpu in sorted(os.sched_getaffinity(0)) * hogs:
            busy = subprocess.Popen([sys.executable, "-c", BUSY, str(cpu)])
            neighbours.callback(busy.wait)
            neighbours.callback(busy.kill)
        subprocess.run([*command, *ASKED, *words], check=True)
    return file


def gathered(files: list[Path], top: Path) -> str:
    """Return what gather says of the nodes that differ."""
    folder = top / "-".join(file.stem for file in files)
    folder.mkdir()
    for file in files:
        (folder / file.name).hardlink_to(file)
    command = [sys.executable, "-m", "ipclab", "gather", str(folder), "--format", "csv"]
    done = subprocess.run(
        [*command, "--out", str(folder / "out")], check=True, capture_output=True, text=True
    )
    named = [line for line in done.stdout.splitlines() if line.startswith("differs: ")]
    return "\n".join([f"{folder.name}:", *(named or ["nobody differs"])])


def main() -> None:
    """Measure the nodes and print who differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hogs", type=int, default=2)
    given, words = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        os.environ["IPCLAB_DATA"] = str(top / "data")
        quiet = [measured(label, 0, words, top) for label in QUIET]
        slowed = measured(SLOWED, given.hogs, words, top)
        print(gathered(quiet, top))
        print(gathered([*quiet[:2], slowed], top))


if __name__ == "__main__":
    main()
