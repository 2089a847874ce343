"""Whether intervals hold the values that they are of, by drawing launches of a run anew.

usage: python benchmarks/coverage.py [RUN [DRAWS]]

Of each point of the run (the reference by default) launches are drawn with replacement, so many as
`COUNTS` says, all points of a study at once, whose scatter steadies each. An interval should hold
the geometric mean of all launches of its point. Prints for each number of launches the share of
intervals that do, of all points, of the study that has the least, and of the tenth of points that
scatter most, and half the width of their logarithms (median); and the same for points that have
two states, or are skewed, as `MADE` makes them. Five minutes; the seed is fixed.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from ipclab.errors import LabError
from ipclab.frames import derived
from ipclab.lab.runs import choose
from ipclab.paths import checkout
from ipclab.stats.intervals import NOMINAL, PRIOR_FREEDOM, PRIOR_QUANTILE, Floats
from ipclab.store.run import RunFolder

COUNTS = range(3, 16)
DRAWS, SEED = 20, 1
LEAST = 3  # launches of a point that is drawn from
MOST_SCATTERED = 0.9
# by name: freedom of the prior, its quantile, the level; the first is what runs use
TRIED: Mapping[str, tuple[float, float, float]] = {
    "used": (PRIOR_FREEDOM, PRIOR_QUANTILE, NOMINAL),
    "median, 95 %": (2.0, 0.5, 0.95),
    "t alone, 95 %": (0.0, 0.5, 0.95),
}
Table = np.ndarray[tuple[int, int], np.dtype[np.float64]]
Points = Sequence[Floats]  # the logarithms of the launches of each point


def of_run(run: RunFolder) -> dict[str, list[Floats]]:
    """Return the logarithms of the medians of launches by study and point."""
    found: dict[str, list[Floats]] = {}
    for study in derived.studies_measured(run):
        rows = derived.read_frame(run, study, "launches")
        rows = rows[(rows.metric == "p50") & (rows.unit == "ns") & (rows.value > 0)]
        points = [np.log(part.value.to_numpy()) for _, part in rows.groupby(["point", "op"])]
        found[study] = [logs for logs in points if len(logs) >= LEAST]
    return found


def made(random: np.random.Generator) -> dict[str, list[Floats]]:
    """Return points of 60 launches: a study of two states, and a skewed one.

    A third of the launches of one is in its slower state, up to a half slower; the other scatters
    like an exponential law. Half of the points of either scatter within a factor of two.
    """
    scatters = 0.1 * np.exp(random.normal(0, 1, 300))
    two = [
        (random.random(60) < 1 / 3) * random.uniform(0.1, 0.4) + random.normal(0, scatter / 3, 60)
        for scatter in scatters
    ]
    skewed = [scatter * random.exponential(1, 60) for scatter in scatters]
    return {"two states": two, "skewed": skewed}


def drawn(points: Points, count: int, random: np.random.Generator) -> Table:
    """Return `count` launches of each point, in rows."""
    sizes = np.array([len(logs) for logs in points])
    padded = np.zeros((len(points), sizes.max()))
    for row, logs in zip(padded, points, strict=True):
        row[: len(logs)] = logs
    places = (random.random((len(points), count)) * sizes[:, np.newaxis]).astype(int)
    return np.take_along_axis(padded, places, axis=1)


def halves(logs: Table, tried: tuple[float, float, float]) -> Floats:
    """Return half the width of the interval of each row, steadied by that of all rows."""
    freedom, quantile, level = tried
    own = logs.shape[1] - 1
    variances = logs.var(axis=1, ddof=1)
    common = float(np.quantile(variances, quantile))
    squares = (own * variances + freedom * common) / (own + freedom)
    factor = float(stdtrit(own + freedom, (1 + level) / 2))
    return np.array(factor * np.sqrt(squares / logs.shape[1]), np.float64)


def covered(studies: Mapping[str, Points], draws: int) -> pd.DataFrame:
    """Return a row for each study, number of launches and interval that is `TRIED`."""
    random = np.random.default_rng(SEED)
    rows = []
    for study, points in studies.items():
        truth = np.array([logs.mean() for logs in points])
        spread = np.array([logs.std() for logs in points])
        far = spread >= np.quantile(spread, MOST_SCATTERED)
        for count in COUNTS:
            for _ in range(draws):
                logs = drawn(points, count, random)
                off = np.abs(logs.mean(axis=1) - truth)
                for name, tried in TRIED.items():
                    half = halves(logs, tried)
                    holds = off <= half
                    told = holds.mean(), holds[far].mean(), np.median(half)
                    rows.append((study, len(points), count, name, *told))
    names = ["study", "points", "launches", "interval", "holds", "scattered", "half"]
    table = pd.DataFrame(rows, columns=names)
    return table.groupby(names[:4], sort=False).mean().reset_index()


def summed_up(table: pd.DataFrame) -> pd.DataFrame:
    """Return by interval and number of launches what holds over all studies, and in the least."""
    weighed = {name: table[name] * table.points for name in ("holds", "scattered", "half")}
    keys = ["interval", "launches"]
    sums = table.assign(**weighed).groupby(keys, sort=False)[[*weighed, "points"]].sum()
    means = sums[[*weighed]].div(sums.points, axis="index")
    least = table.groupby(keys, sort=False).holds.min()
    return means.assign(least=least)[["holds", "least", "scattered", "half"]]


if __name__ == "__main__":
    words = dict(enumerate(sys.argv))
    try:
        run = choose(checkout(), words.get(1, ""))
    except LabError as error:
        sys.exit(f"{Path(sys.argv[0]).name}: {error}")
    own = of_run(run)
    for title, studies in ((run.id, own), ("made up", made(np.random.default_rng(SEED)))):
        print(title)
        print(summed_up(covered(studies, int(words.get(2, DRAWS)))).round(3).to_string())
