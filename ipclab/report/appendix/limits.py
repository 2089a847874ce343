"""What the hardware allows, what is faster than it, and what the first page must say of a run."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

import pandas as pd

from ipclab.bounds import suspects
from ipclab.bounds.cpu_pairs import NAME, cpu_pair_of
from ipclab.bounds.floors import COPIED, limit_called
from ipclab.bounds.limits import STATES, floors
from ipclab.claims.differences import identical_but
from ipclab.frames.rows import quantity
from ipclab.lab import shell
from ipclab.lab.data import Data
from ipclab.lab.notes import Notes
from ipclab.stats.quantity import Quantity
from ipclab.store.run import RunFolder
from ipclab.tables.table import Table
from ipclab.tables.tabulation import tabulated
from ipclab.words import labels
from ipclab.words.catalogue import N_

NAMING = ["op", "backend", "size_bytes", "placement"]  # what it calls them by
LIMITS = labels.WORDS["limits"]
# How limits begin of which the least size alone is shown.
TWINS = "flow-", "map-", "transfer-"
AS_TEXT = N_("Against the experiments of the text: {but}.")
MOST_TOLD = 4  # parameters that differ


def beaten(lab: Data, *studies: str) -> pd.DataFrame:
    """Return the medians of `studies` (or all) that are faster than their limit: it is none, then.

    >>> beaten(lab)[["study", "op", "backend", "size_bytes", "placement", "lowest"]]
    """
    parts = list(suspects.faster(lab.run, studies))
    return pd.concat(parts or [pd.DataFrame()])


def cpu_pairs(lab: Data) -> pd.DataFrame:
    """Return a row for each pair of CPUs and the median (ns) of a cache line's round trip.

    Columns: `cpu`, `other`, `shares` and the median. It is empty where the run has no pairs: they
    are of the profiles `standard` and up, on two CPUs or more.
    """
    trips = lab.points("limits", metric="p50")
    trips = trips[trips.backend == NAME]
    ends = pd.DataFrame(map(cpu_pair_of, trips.op), trips.index, ["cpu", "other"], dtype="int64")
    shares = trips.get("shares", pd.Series(dtype=object))
    return trips.assign(cpu=ends.cpu, other=ends.other, shares=shares)


def impossible(lab: Data) -> list[str]:
    """Return one line for each result that is faster than its copies by memcpy can be."""
    return suspects.results_below_copies(lab.run)


def about_limits(lab: Data) -> pd.DataFrame:
    """Return what the hardware allows: each limit's median launch, its least and its most, by placement.

    memcpy stands as a bandwidth, echoes at their least and largest size, other native programs at
    their least.
    """
    points = lab.points("limits", metric="p50")
    questions = lab.run.questions
    ops = zip(points.backend, points.op, strict=True)
    names = [limit_called(questions, backend, op) for backend, op in ops]
    points = points.assign(limit=pd.Series(names, points.index, dtype=object))
    medians = floors(lab.launches("limits"), questions).medians
    cells = []
    for row in _rows_shown(points):
        typical = _typical(medians[row.limit, row.size_bytes, row.placement], row)
        what = LIMITS[row.limit]
        said = N_("{what}, {size}") if row.size_bytes and "{" not in what else what
        size = lab.level("size_bytes", row.size_bytes)
        called = lab.say(said, what=lab.words.translate(what), size=size)
        cells.append((called, row.placement, typical))
    table = pd.DataFrame(cells, columns=["what", "placement", "cell"])
    typical_of = table.pivot(index="what", columns="placement", values="cell")
    return typical_of.reindex(table.what.unique())


def _rows_shown(points: pd.DataFrame) -> Iterator[Any]:
    """Yield rows of the limits (column `limit`) whose sizes are told, in `LIMITS`' order."""
    echoed = points[points.limit.str.startswith("echo-")].size_bytes
    for name in LIMITS:
        part = points[points.limit == name].sort_values("size_bytes", kind="stable")
        sizes: Collection[int] = part.size_bytes
        if name == "memcpy":
            sizes = COPIED
        elif name.startswith("echo-"):
            sizes = echoed.min(), echoed.max()
        elif name.startswith(TWINS):
            sizes = part.size_bytes[:1]
        yield from part[part.size_bytes.isin(sizes)].itertuples()


def _typical(times: Sequence[float], row: Any) -> Quantity:
    """Return the median launch of a limit, from its least to its most; of memcpy the bandwidth."""
    typical, least, most = median(times), times[0], times[-1]
    limit = replace(quantity(row), value=typical, low=least, high=most, n=str(len(times)))
    if row.backend != "memcpy":
        return limit
    speed = row.size_bytes * 1e9
    ends = {"low": speed / most, "high": speed / least}
    return replace(limit, value=speed / typical, unit="B/s", **ends)


def notice(lab: Notes, *runs: RunFolder, study: str = "") -> Table | None:
    """Say what the first page must say of `runs` (or this one), if anything.

    With `study` only its results count, and what of its text was not run as the text did is named.
    Returns a table of the worst that took less time than their limit, with the states of both.
    """
    if study:
        readers = [lab, *lab.others]
        texts = [(of, identical_but(of, study, MOST_TOLD)) for of in readers]
        if all(but for _, but in texts):
            said = {of.words.lang: of.say(AS_TEXT, but=but) for of, but in texts}
            shell.show(shell.Multilingual(said))
    parts = [beaten(replace(lab, run=run), *filter(None, [study])) for run in runs or (lab.run,)]
    faster = pd.concat(parts, ignore_index=True)
    if faster.empty:
        return None
    named = faster.sort_values("lowest", kind="stable").drop_duplicates(NAMING)
    lab.text(
        N_(
            "Faster than the hardware limit that they are read against: {count} of the results. What"
            " was beaten is no limit, so do not rely on “× limit” of these."
        ),
        count=len(named),
    )
    shown = named[NAMING].assign(over=named.lowest.map(Quantity))
    for name in STATES:
        shown[name] = named[name].map(lambda value: Quantity(value, "ns"))
    return tabulated(
        lab,
        shown.set_index(NAMING),
        N_("Faster than their limit: the least launch and the most of both"),
        spec={"over": "pct"},
        names={
            "over": N_("of the limit"),
            "own_low": N_("least"),
            "own_high": N_("most"),
            "limit_low": N_("limit, least"),
            "limit_high": N_("limit, most"),
        },
        name="below-limit",
    )
