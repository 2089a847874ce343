"""How much of a run was decided, by study: python benchmarks/decided.py RUN [RUN ...].

Prints for each study its comparisons by verdict, the share that is undecided or not tested, and of
those with a ratio of 1.5 or more how many were shown.
"""

import sys
from pathlib import Path

import pandas as pd

from ipclab.errors import LabError
from ipclab.frames import derived
from ipclab.lab.runs import choose
from ipclab.paths import checkout
from ipclab.stats.compare import FASTER, NOT_TESTED, SAME, SLOWER, UNDECIDED

OPEN = (UNDECIDED, NOT_TESTED)
FAR = 1.5
OWN = ("limits", "calibration")  # the run's own, of no contest between mechanisms


def table(folder: str) -> pd.DataFrame:
    """Return one row for each study of the run in `folder`, and one for all."""
    run = choose(checkout(), folder)
    studies = [name for name in derived.studies_measured(run) if name not in OWN]
    rows = pd.concat([derived.read_frame(run, name, "contests") for name in studies])
    rows = rows[rows.verdict != ""]
    parts = [*rows.groupby("study"), ("all", rows)]
    return pd.DataFrame([{"study": name, **counted(part)} for name, part in parts]).set_index(
        "study"
    )


def counted(rows: pd.DataFrame) -> dict[str, object]:
    """Return the verdicts of comparisons in numbers."""
    far = rows[rows.value / rows.best >= FAR]
    shown = far.verdict.isin([FASTER, SLOWER]).mean() if len(far) else float("nan")
    told = {
        word: int((rows.verdict == word).sum()) for word in (SLOWER, SAME, UNDECIDED, NOT_TESTED)
    }
    return {
        "compared": len(rows),
        **told,
        "open": rows.verdict.isin(OPEN).mean(),
        "1.5 x": len(far),
        "shown": shown,
    }


if __name__ == "__main__":
    try:
        for each in sys.argv[1:] or [""]:
            print(f"{Path(each).name}\n{table(each).round(3).to_string()}\n")
    except LabError as error:
        sys.exit(str(error))
