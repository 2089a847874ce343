"""Does a run beside load say what an idle one says? python benchmarks/loaded.py [IDLE LOADED].

Without runs it measures two of the quick profile, one on the idle machine and one beside two busy
loops of nice 10 (about four minutes each). Prints by study how many comparisons of two mechanisms
both runs hold, how many each decided, how many of those that both decided agree, and in how many
the intervals of the ratio have a value in common; then each that contradicts the other run: who is
slower there is faster here, or what is the same there differs by more here. Ends with 1 when one
does.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pandas as pd
from decided import OPEN, OWN

from ipclab.errors import LabError
from ipclab.frames import derived
from ipclab.frames.contests import CONTEST
from ipclab.lab.runs import choose
from ipclab.paths import checkout
from ipclab.session.progress import Progress
from ipclab.session.request import Request
from ipclab.session.session import measure_run
from ipclab.stats.compare import SAME
from ipclab.store.run import RunFolder

LOOPS = 2
BUSY = (
    "import os, sys\nos.nice(10)\nwhile os.getppid() == int(sys.argv[1]):\n    sum(range(100_000))"
)
KEY = ["study", *CONTEST, "one", "two"]


@contextmanager
def load() -> Iterator[None]:
    """Keep the machine busy by loops that anything else comes before."""
    loops = [subprocess.Popen([sys.executable, "-c", BUSY, str(os.getpid())]) for _ in range(LOOPS)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def measured() -> tuple[RunFolder, RunFolder]:
    """Return a quick run of the idle machine, and one beside load."""
    idle = measure_run(checkout(), Request(), Progress(shown=True))
    with load():
        return idle, measure_run(checkout(), Request(), Progress(shown=True))


def pairs(run: RunFolder) -> pd.DataFrame:
    """Return the comparisons of `run`, each as the ratio of its names in one order."""
    studies = [name for name in derived.studies_measured(run) if name not in OWN]
    rows = pd.concat([derived.read_frame(run, name, "contests") for name in studies])
    rows = rows[rows.verdict != ""]
    turned = rows.fastest > rows.other
    one, two = rows.fastest.where(~turned, rows.other), rows.other.where(~turned, rows.fastest)
    low, high = rows.low.where(~turned, 1 / rows.high), rows.high.where(~turned, 1 / rows.low)
    ends = {"low": low.fillna(0), "high": high.fillna(float("inf"))}
    return rows[["study", *CONTEST, "verdict"]].assign(one=one, two=two, **ends)


def compared(idle: RunFolder, loaded: RunFolder) -> pd.DataFrame:
    """Return the comparisons that both runs hold, and whether they agree."""
    both = pairs(idle).merge(pairs(loaded), on=KEY, suffixes=("", "_loaded"))
    for side in ("", "_loaded"):
        both["decided" + side] = ~both["verdict" + side].isin(OPEN)
    both["both"] = both.decided & both.decided_loaded
    both["overlap"] = (both.low <= both.high_loaded) & (both.low_loaded <= both.high)
    same = both.verdict.eq(SAME) | both.verdict_loaded.eq(SAME)
    across = (both.low > 1) & (both.high_loaded < 1) | (both.high < 1) & (both.low_loaded > 1)
    both["agree"] = both.both & ~(across & ~same) & ~(same & _far(both, idle.questions.same))
    return both


def _far(both: pd.DataFrame, bound: float) -> "pd.Series[bool]":
    """Tell of each comparison whether a run shows a ratio beyond the `bound`."""
    far = pd.Series(data=False, index=both.index)
    for side in ("", "_loaded"):
        far |= (both["low" + side] > 1 + bound) | (both["high" + side] < 1 / (1 + bound))
    return far


def main() -> int:
    """Print the tables."""
    idle, loaded = (
        (choose(checkout(), name) for name in sys.argv[1:]) if sys.argv[1:] else measured()
    )
    both = compared(idle, loaded)
    counted = ["decided", "decided_loaded", "both", "agree", "overlap"]
    kept = both.assign(agree=both.agree & both.both, overlap=both.overlap & both.both)
    table = pd.concat([kept, kept.assign(study="all")]).groupby("study", sort=False)
    print(table[counted].sum().assign(held=table.size()).to_string())
    wrong = both[both.both & ~both.agree]
    if len(wrong):
        print(wrong[[*KEY, "low", "high", "low_loaded", "high_loaded"]].to_string(index=False))
    return int(bool(len(wrong)))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as error:
        sys.exit(str(error))
