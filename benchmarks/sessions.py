"""Whether a session's intervals hold what other sessions found: python benchmarks/sessions.py RUN
RUN [RUN ...].

For each run, the share of its medians' 95 % intervals that hold the median of the other runs'
launches, by study.
"""

import sys
from pathlib import Path

import pandas as pd

from ipclab.errors import LabError
from ipclab.frames import derived
from ipclab.lab.runs import choose
from ipclab.paths import checkout

KEY = ["study", "point", "op"]
LEAST = 2


def held(folders: list[str]) -> pd.DataFrame:
    """Return by study and run the share of intervals that hold the others' pooled median, and how
    many there are.
    """
    runs = [choose(checkout(), folder) for folder in folders]
    points, launches = ([_all(run, kind) for run in runs] for kind in ("points", "launches"))
    found = []
    for number, mine in enumerate(points):
        others = pd.concat([each for place, each in enumerate(launches) if place != number])
        pooled = others.groupby(KEY).value.median().rename("pooled")
        both = mine.merge(pooled, left_on=KEY, right_index=True)
        holds = both.assign(
            run=runs[number].id, holds=(both.low <= both.pooled) & (both.pooled <= both.high)
        )
        found.append(holds)
    every = pd.concat(found)
    every = pd.concat([every, every.assign(study="all")])
    return every.pivot_table(
        index="study", columns="run", values="holds", aggfunc=["mean", "size"]
    ).round(3)


def _all(run: object, kind: str) -> pd.DataFrame:
    frames = [derived.read_frame(run, name, kind) for name in derived.studies_measured(run)]  # type: ignore[arg-type]
    rows = pd.concat([frame[frame.metric == "p50"] for frame in frames])
    return rows[~rows.op.str.contains(".", regex=False) & (rows.unit == "ns")]


if __name__ == "__main__":
    try:
        if len(sys.argv) <= LEAST:
            sys.exit(f"{Path(sys.argv[0]).name} needs the folders of two runs or more")
        print(held(sys.argv[1:]).to_string())
    except LabError as error:
        sys.exit(str(error))
