"""The answer to a need: which mechanisms were not shown to be worse than the fastest that fits.

A mechanism fits when what the need demands of it was measured to hold, and is excluded when it was
measured not to. Those that are left are one contest over their launches, a mix of sizes as one
time. What was not measured leaves the others decided, and is named. It is never decided by an
estimate: lines between measured sizes are shown, marked, and judged by nobody. Pure.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from math import inf

import pandas as pd

from ipclab.bounds.states import UNSTEADY
from ipclab.stats.compare import FASTER, SLOWER, Comparison
from ipclab.stats.contest import against_fastest, common_scatter, judged
from ipclab.stats.enough import launches_more
from ipclab.stats.paired import FEWEST_HEATS
from ipclab.stats.product import Ends
from ipclab.stats.quantity import Quantity, missing
from ipclab.stats.sessions import several
from ipclab_more.choose.candidates import (
    BEST,
    MEASURED_DEMANDS,
    STATUSES,
    WORSE,
    Candidate,
    candidate_of,
)
from ipclab_more.choose.crossings import crossings
from ipclab_more.choose.judged_ratio import ratio_judged
from ipclab_more.choose.known import Frames, KnownRows
from ipclab_more.choose.need import ONE_WAY, Need
from ipclab_more.choose.promises import Offer

ANSWERED, NOTHING, UNDECIDED = "answered", "nothing fits", "undecided"


@dataclass(frozen=True)
class Answer:
    """What a run says of a need.

    `rows` are what is known of each `Candidate`, the best first. `crossings` see there;
    `changes` are what would change the answer. `missing` has backend, size, launches and seconds of
    each point that the run lacks, of which the answer says nothing. `launches` and `seconds` are
    what deciding among those that it has would take, infinite where no number of launches is known
    to; of a run of several sessions `sessions` is, in place of both.
    """

    need: Need
    state: str
    rows: pd.DataFrame
    crossings: pd.DataFrame
    changes: pd.DataFrame
    missing: pd.DataFrame
    launches: float = 0.0
    seconds: float = 0.0
    sessions: float = 0.0

    @property
    def best(self) -> list[str]:
        """Return the mechanisms that were not shown to be worse than the fastest, it first."""
        return list(self.rows[self.rows.status == BEST].backend)

    @property
    def unmeasured(self) -> list[str]:
        """Return the mechanisms that may fit and of which the run lacks something, sorted."""
        return sorted(set(self.missing.backend))

    @property
    def unknown(self) -> list[str]:
        """Return what the need demands of the best and no more launches of these points can show."""
        asked = dict[str, None]()
        best = self.rows[self.rows.status == BEST]
        for demands, cpus in zip(best.open, best.cpus, strict=True):
            asked |= dict.fromkeys(untold(demands, cpus))
        return list(asked)


def untold(demands: Iterable[str], cpus: Quantity) -> list[str]:
    """Return those of the open `demands` of a mechanism that more launches of its points cannot show.

    Its `cpus` are absent where a run does not tell them.
    """
    return [
        demand
        for demand in demands
        if demand not in MEASURED_DEMANDS or (demand == "cpus" and not cpus)
    ]


def answer_need(need: Need, frames: Frames, offers: Iterable[Offer]) -> Answer:
    """Return what `frames` say of `need` about the mechanisms on offer."""
    known = KnownRows(need, frames)
    candidates = [candidate_of(need, known, offer) for offer in offers]
    fitting = [candidate for candidate in candidates if not candidate.why]
    measured = [candidate for candidate in fitting if candidate.side]
    measured.sort(key=lambda candidate: candidate.middle)
    _judge(measured, frames.bound)
    best = [candidate for candidate in measured if candidate.status == BEST]
    lacking = _lacking(fitting, FEWEST_HEATS)
    launches = sessions = 0.0
    state = ANSWERED if best else NOTHING
    if not measured and fitting:
        state = UNDECIDED
    elif not all(candidate.settled for candidate in best):
        state = UNDECIDED
        more = [_launches_more(candidate, frames.bound) for candidate in best]
        if _between_sessions(measured):  # each is of all mechanisms
            sessions = max(more)
        else:
            launches = sum(more)
    seconds = frames.seconds() if launches or len(lacking) else 0.0
    able = []
    for candidate in candidates:
        if MEASURED_DEMANDS.issuperset(candidate.why):
            able.append(candidate.backend)
    changes = _changes(need, best[0], candidates, frames.bound) if best else []
    rows = [vars(candidate) for candidate in sorted(candidates, key=_place)]
    return Answer(
        need,
        state,
        pd.DataFrame(rows, columns=[column.name for column in fields(Candidate)]),
        crossings(need, known.all_times, able, frames.bound),
        pd.DataFrame(changes, columns=["change", "backend", "amount"]),
        lacking.assign(seconds=lacking.launches * seconds),
        launches,
        launches * seconds,
        sessions,
    )


def _between_sessions(measured: Sequence[Candidate]) -> bool:
    """Tell whether these are compared by the sessions of their run."""
    return any(several(candidate.side.heats) for candidate in measured if candidate.side)


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
        candidate.ratio = _ratio(known, candidate.value, first.value)
        if known.verdict == SLOWER:
            shaken = candidate.middle < first.slow
            candidate.status = BEST if shaken else WORSE
            candidate.verdict = UNSTEADY if shaken else SLOWER


def _ratio(comparison: Comparison, over: Quantity, under: Quantity) -> Quantity:
    """Return a ratio with the interval that its contest has, none where that has no end."""
    if comparison.ratio is None:
        return missing()
    if comparison.low is None or comparison.high is None:
        ends = Ends(comparison.ratio, -inf, inf)
    else:
        ends = Ends(comparison.ratio, comparison.low, comparison.high)
    if not (over and under):
        return Quantity(ends.value, "1", ends.low, ends.high)
    return ratio_judged(over, under, ends)


def _place(candidate: Candidate) -> tuple[int, bool, float, str]:
    """Return what orders candidates: by status, the fastest first."""
    value = candidate.value or candidate.estimate
    time = float(value.value) if value else 0.0
    if candidate.ratio:  # to the fastest, over the heats of both
        time = float(candidate.ratio.value)
    return STATUSES.index(candidate.status), not value, time, candidate.backend


def _lacking(candidates: Sequence[Candidate], launches: int) -> pd.DataFrame:
    """Return the points that were not measured of those that may fit, with launches of each."""
    rows = []
    for candidate in candidates:
        for size in candidate.lacking:
            rows.append((candidate.backend, size, launches))
    return pd.DataFrame(rows, columns=["backend", "size", "launches"])


def _launches_more(candidate: Candidate, bound: float) -> float:
    """Return how many more launches would show what is open of one of the best."""
    have = candidate.launches
    known = candidate.compared
    if untold(candidate.open, candidate.cpus):
        return inf
    if candidate.open:
        return max(1.0, have * (candidate.times_more - 1))
    return 0.0 if known is None else launches_more(known, bound)


def _changes(
    need: Need, first: Candidate, candidates: Sequence[Candidate], bound: float
) -> list[tuple[str, str, Quantity]]:
    """Return what excludes a faster one than the first, and where that would cease to fit."""
    rows = []
    excluded = {other.backend: other for other in candidates if other.why and other.side}
    rivals = [first, *excluded.values()]
    sides = {rival.backend: rival.side for rival in rivals if rival.side}
    over_first = against_fastest(sides, first.backend, bound, common_scatter(sides))
    for name, other in excluded.items():
        known = over_first[name]
        if known.verdict == FASTER:
            demands = f"without:{','.join(other.why)}"
            rows.append((demands, name, _ratio(known, other.value, first.value)))
    if (need.rate or need.way == ONE_WAY) and first.keeps_up:
        rows.append(("rate", first.backend, first.keeps_up))
    if need.deadline_us and first.quantile:
        rows.append(("deadline", first.backend, first.quantile))
    if need.cpus and first.cpus:
        rows.append(("cpus", first.backend, first.cpus))
    return rows
