"""The answer to a need: which mechanisms were not shown to be worse than the fastest that fits.

A mechanism fits when what the need demands of it was measured to hold, and is excluded when it was
measured not to. Those that are left are one contest over their launches, a mix of sizes as one
time. What was not measured leaves the others decided, and is named. It is never decided by an
estimate: lines between measured sizes are shown, marked, and judged by nobody. Pure.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import chain, pairwise
from math import inf, log

import pandas as pd

from ipclab.bounds.states import UNSTEADY
from ipclab.frames.contests import side_of
from ipclab.stats.compare import FASTER, SLOWER, Comparison
from ipclab.stats.contest import Contest, against_fastest, common_scatter, judged
from ipclab.stats.enough import launches_more
from ipclab.stats.paired import FEWEST_HEATS
from ipclab.stats.quantity import Quantity, missing
from ipclab.stats.sessions import several
from ipclab_more.choose.candidates import (
    BEST,
    MEASURED_DEMANDS,
    STATUSES,
    WORSE,
    Candidate,
    candidate_of,
    most_launched,
)
from ipclab_more.choose.known import Frames, KnownRows, Offer
from ipclab_more.choose.need import ONE_WAY, Need

ANSWERED, NOTHING, UNDECIDED = "answered", "nothing fits", "undecided"


@dataclass(frozen=True)
class Answer:
    """What a run says of a need.

    `rows` are what is known of each `Candidate`, the best first; `best` are those that were not
    shown to be worse than the fastest, `unknown` what the need demands of them and no more launches
    of these points can show. `crossings` see there; `changes` are what would change the answer.
    `missing` has backend, size, launches and seconds of each point that the run lacks, of which the
    answer says nothing. `launches` and `seconds` are what deciding among those that it has would
    take, infinite where no number of launches is known to; of a run of several sessions `sessions`
    is, in place of both.
    """

    need: Need
    state: str
    rows: pd.DataFrame
    best: list[str]
    unknown: list[str]
    crossings: pd.DataFrame
    changes: pd.DataFrame
    missing: pd.DataFrame
    launches: float = 0.0
    seconds: float = 0.0
    sessions: float = 0.0

    @property
    def unmeasured(self) -> list[str]:
        """Return the mechanisms that may fit and of which the run lacks something, sorted."""
        return sorted(set(self.missing.backend))


def answer_need(need: Need, frames: Frames, offers: Iterable[Offer]) -> Answer:
    """Return what `frames` say of `need` about the mechanisms on offer."""
    known = KnownRows(need, frames)
    bound = frames.bound
    candidates = [candidate_of(need, known, offer) for offer in offers]
    fitting = [candidate for candidate in candidates if not candidate.why]
    measured = [candidate for candidate in fitting if candidate.side]
    measured.sort(key=lambda candidate: candidate.middle)
    _judge(measured, bound)
    best = [candidate for candidate in measured if candidate.status == BEST]
    lacking = [(each.backend, size, FEWEST_HEATS) for each in fitting for size in each.lacking]
    launches = sessions = 0.0
    state = ANSWERED if best else NOTHING
    if not measured and fitting:
        state = UNDECIDED
    elif not all(candidate.settled for candidate in best):
        state = UNDECIDED
        more = [_launches_more(candidate, bound) for candidate in best]
        if any(several(candidate.side.heats) for candidate in measured if candidate.side):
            # compared by the sessions of their run, of which each is of all mechanisms
            sessions = max(more)
        else:
            launches = sum(more)
    seconds = frames.seconds() if launches or lacking else 0.0
    unmeasured = pd.DataFrame(lacking, columns=["backend", "size", "launches"])
    able = [each.backend for each in candidates if MEASURED_DEMANDS.issuperset(each.why)]
    changes = _changes(need, best[0], candidates, bound) if best else []
    candidates.sort(key=_place)
    return Answer(
        need,
        state,
        pd.DataFrame(map(vars, candidates), columns=[side.name for side in fields(Candidate)]),
        [candidate.backend for candidate in best],
        list(dict.fromkeys(chain.from_iterable(candidate.untold for candidate in best))),
        _crossings(need, known.times, able, bound),
        pd.DataFrame(changes, columns=["change", "backend", "amount"]),
        unmeasured.assign(seconds=unmeasured.launches * seconds),
        launches,
        launches * seconds,
        sessions,
    )


def _judge(measured: list[Candidate], bound: float) -> None:
    """Note how each candidate compares with the fastest, which becomes the first.

    What is slower than its faster state alone is not worse.
    """
    if not measured:
        return
    sides = {candidate.backend: candidate.side for candidate in measured if candidate.side}
    contest = judged(sides, bound)
    measured.sort(key=lambda candidate: [*contest.means].index(candidate.backend))
    first = measured[0]
    for candidate in measured:
        candidate.launches = len(sides[candidate.backend].medians)
        candidate.status = BEST
        candidate.ratio = Quantity(1.0, kind="computed")
        if candidate is first:
            continue
        known = contest.over_fastest[candidate.backend]
        candidate.compared = known
        candidate.verdict = known.verdict
        candidate.ratio = _ratio(known)
        if known.verdict == SLOWER:
            shaken = candidate.middle < first.slow
            candidate.status = BEST if shaken else WORSE
            candidate.verdict = UNSTEADY if shaken else SLOWER


def _ratio(comparison: Comparison) -> Quantity:
    """Return a ratio with the interval that its contest has, none where that has no end."""
    if comparison.ratio is None:
        return missing()
    if comparison.low is None or comparison.high is None:
        return Quantity(comparison.ratio, "1", -inf, inf)
    return Quantity(comparison.ratio, "1", comparison.low, comparison.high)


def _place(candidate: Candidate) -> tuple[int, bool, bool, float, str]:
    """Return what orders candidates: by status, the fastest first.

    One that is not told apart from it can take less time in the heats that both have.
    """
    time = candidate.value or candidate.estimate
    shown = candidate.ratio or time  # to the fastest, over the heats of both
    status = STATUSES.index(candidate.status)
    against = candidate.compared is not None
    return status, not time, against, float(shown.value or 0), candidate.backend


def _launches_more(candidate: Candidate, bound: float) -> float:
    """Return how many more launches would show what is open of one of the best."""
    if candidate.untold:
        return inf
    if candidate.open:
        return max(1.0, candidate.launches * (candidate.times_more - 1))
    return launches_more(candidate.compared, bound) if candidate.compared else 0.0


def _changes(
    need: Need, first: Candidate, candidates: Sequence[Candidate], bound: float
) -> list[tuple[str, str, Quantity]]:
    """Return what excludes a faster one than the first, and where that would cease to fit."""
    rows = []
    excluded = {other.backend: other for other in candidates if other.why and other.side}
    rivals = [first, *excluded.values()]
    sides = {rival.backend: rival.side for rival in rivals if rival.side}
    over_first = against_fastest(sides, first.backend, bound, common_scatter(sides))
    for name, known in over_first.items():
        if known.verdict == FASTER:
            demands = f"without:{','.join(excluded[name].why)}"
            rows.append((demands, name, _ratio(known)))
    limits = (
        ("rate", need.rate or need.way == ONE_WAY, first.keeps_up),
        ("deadline", need.deadline_us, first.quantile),
        ("cpus", need.cpus, first.cpus),
    )
    rows += [(name, first.backend, amount) for name, asked, amount in limits if asked and amount]
    return rows


def _crossings(need: Need, times: pd.DataFrame, able: Sequence[str], bound: float) -> pd.DataFrame:
    """Return where another of the mechanisms `able` becomes the fastest.

    Between sizes `low` and `high`, at `about`. `times` are those of the need, at any size.
    The one `below` was shown to be faster than the one `above` at the lower size, and slower at the
    higher; `about` is where straight lines between the medians meet (logarithms).
    """
    by_size = {}
    for size, of_size in times[times.backend.isin(able)].groupby(need.size_column):
        mechanisms = of_size.groupby("backend")
        sides = {str(name): side_of(most_launched(rows)) for name, rows in mechanisms}
        by_size[int(str(size))] = judged(sides, bound)
    crossed = []
    for (low, at_low), (high, at_high) in pairwise(by_size.items()):
        below, above = at_low.fastest, at_high.fastest
        if _is_slower(at_low, above) and _is_slower(at_high, below):
            gain = log(at_low.means[above] / at_low.means[below])
            loss = log(at_high.means[above] / at_high.means[below])
            about = low * (high / low) ** (gain / (gain - loss))
            crossed.append((below, above, low, high, about))
    return pd.DataFrame(crossed, columns=["below", "above", "low", "high", "about"])


def _is_slower(contest: Contest[str], name: str) -> bool:
    """Tell whether the mechanism of that name took part, and was shown to be slower."""
    known = contest.over_fastest.get(name)
    return known is not None and known.verdict == SLOWER
