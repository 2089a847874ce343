"""Which medians are one value, and which are one state of several that their machine has.

What is measured again under the same conditions must agree, the launches of one point must lie
together, and nothing beats what the hardware allows: else a median is of one state, the next
program may meet another, and nothing follows from it that the slower state would not show, too.
What is faster than the mechanism that it rests on heads nothing.
"""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from itertools import chain
from statistics import median
from typing import Any

import pandas as pd

from ipclab.bounds import limits
from ipclab.bounds.suspects import LIMITS
from ipclab.frames import derived
from ipclab.frames.contests import SPINNING_WAITS
from ipclab.frames.points import VALUES
from ipclab.frames.remembered import remembered_frame
from ipclab.frames.rows import narrowed
from ipclab.stats.sessions import several
from ipclab.store.run import RunFolder

AGREE = 0.10  # the share by which medians of one state may differ
LEAST_SIDE, LEAST_SHARE = 2, 0.25  # launches that make a state of their own
ARMS, LAUNCHES, LIMIT = "arms", "launches", "limit"  # what shows that there are several
COLUMNS = ("fast", "slow", "why")
UNSTEADY = "unsteady"  # the verdict on what the fastest beats in its faster state alone
# whose ends wait for each other
WAITING = ("round-trip", "intended", "received", "sent")
Levels = Mapping[str, Any]
Ends = tuple[float, float]  # the medians of the faster state and of the slower one


def states(
    medians: pd.DataFrame,
    repeats: Sequence[Sequence[Levels]] = (),
    below: Mapping[Hashable, float] | None = None,
) -> pd.DataFrame:
    """Return for each row of `medians` its states: `fast` and `slow` (ns), and `why`.

    `medians` are p50 rows of a study's point frame. `repeats` are what was measured again (see
    `Question.again`), `below` by index the share of its limit that a row took. A row of one state
    is its own `fast` and `slow`, and has no `why`: that names `ARMS`, `LAUNCHES` and `LIMIT`, apart
    by spaces. What beats its limit is as slow as that in its other state.
    """
    found: dict[Hashable, dict[str, Ends]] = defaultdict(dict)
    for arms in repeats:
        for index, ends in _of_arms(medians, arms):
            found[index][ARMS] = ends
    for index, value, launches in zip(medians.index, medians.value, medians.by_heat, strict=True):
        if groups := _parted(launches):
            found[index][LAUNCHES] = groups
        if (share := (below or {}).get(index, 1.0)) < limits.LEAST:
            found[index][LIMIT] = value, value / share
    rows = []
    for index, value in medians.value.items():
        by_reason = found.get(index, {})
        every = [value, *chain.from_iterable(by_reason.values())]
        rows.append((min(every), max(every), " ".join(by_reason)))
    return pd.DataFrame(rows, medians.index, columns=list(COLUMNS))


def _of_arms(medians: pd.DataFrame, arms: Sequence[Levels]) -> Iterator[tuple[Hashable, Ends]]:
    """Yield the rows that several of `arms` have alike and do not agree on, with their ends."""
    own = {name for levels in arms for name in levels}
    if not own <= set(medians):
        return
    alike = [name for name in medians if name not in {*own, *VALUES, "study", "point"}]
    parts = [narrowed(medians, levels) for levels in arms]
    for _, rows in pd.concat(parts).groupby(["op", *alike], dropna=False, sort=False):
        least, most = rows.value.min(), rows.value.max()
        if most > (1 + AGREE) * least:
            yield from ((index, (least, most)) for index in rows.index)


def _parted(launches: Collection[float]) -> Ends | None:
    """Return the medians of the two groups that launches fall into, if they do."""
    ordered = sorted(launches)
    least = max(LEAST_SIDE, round(LEAST_SHARE * len(ordered)))
    places = range(least, len(ordered) - least + 1)
    place = max(places, key=lambda place: ordered[place] / ordered[place - 1], default=0)
    if not place or ordered[place] / ordered[place - 1] <= 1 + AGREE:
        return None
    return median(ordered[:place]), median(ordered[place:])


@remembered_frame(LIMITS)
def of_study(run: RunFolder, study: str) -> pd.DataFrame:
    """Return the p50 rows of a study's point frame, of times, with their `states`."""
    points = derived.read_frame(run, study, "points")
    medians = points[(points.metric == "p50") & (points.unit == "ns")]
    if medians.empty:
        return medians.assign(**dict.fromkeys(COLUMNS))
    launches, bounds = (derived.read_frame(run, name, "launches") for name in (study, LIMITS))
    below = dict[Hashable, float]()
    if len(bounds):
        bounded = limits.with_limits(medians, bounds, run.questions)
        below = limits.below_limit(bounded).lowest.to_dict()
    again = run.questions.of(study).again
    return medians.join(states(of_each_launch(medians, launches), again, below))


def of_each_launch(medians: pd.DataFrame, launches: pd.DataFrame) -> pd.DataFrame:
    """Return rows whose values by heat are the launches', where they were those of sessions."""
    if not medians.heats.map(several).any():
        return medians
    named = medians.set_index(["point", "op"]).index
    times = launches[(launches.metric == "p50") & launches.point.isin(medians.point)]
    by_name = times.groupby(["point", "op"], observed=True)["value"].agg(tuple)
    return medians.assign(by_heat=by_name.reindex(named).to_numpy())


def disjoint(one: Ends, other: Ends) -> bool:
    """Tell whether two intervals have nothing in common."""
    return one[1] < other[0] or other[1] < one[0]


def needs_idle_cpu(run: RunFolder, levels: Mapping[Any, Any]) -> bool:
    """Tell whether the time of a point and op with `levels` needs a CPU that is otherwise idle.

    Who spins keeps its CPU busy; on one CPU, who `yields` it hands it to whoever else wants it.
    """
    backend = run.questions.mechanisms.get(levels["backend"])
    if backend is None or levels["op"] not in WAITING:
        return False
    wait = levels.get("wait")
    spins = wait in SPINNING_WAITS if isinstance(wait, str) else backend.spins
    return spins or (backend.yields and levels["placement"] == "same")
