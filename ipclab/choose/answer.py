"""The answer to a need: which mechanisms were not shown to be worse than the fastest that fits. Pure.

A mechanism fits when what the need demands of it was measured to hold, and is excluded when it was measured not to.
Those that are left are one contest over their launches, a mix of sizes as one time. What was not measured is never
decided by an estimate: `lines` between measured sizes are shown, marked, and judged by nobody.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf, isfinite, log
from statistics import median
from typing import Any

import pandas as pd

from ipclab.choose.crossings import crossings, estimate
from ipclab.choose.need import Need
from ipclab.choose.promises import Offer, kept, promised
from ipclab.frames.address import narrowed, quantity
from ipclab.frames.limits import with_limits
from ipclab.stats import judge
from ipclab.stats.compare import EQUIVALENCE, FASTER, NOT_TESTED, SAME, SLOWER, Side, compare, factor
from ipclab.stats.family import launches_needed
from ipclab.stats.quantity import Quantity, missing, total

BEST, WORSE, EXCLUDED, UNMEASURED = STATUSES = ("best", "slower", "excluded", "not measured")
ANSWERED, NOTHING, UNDECIDED = "answered", "nothing fits", "undecided"
GUESS = "estimate"  # the kind of a quantile of too few samples
COLUMNS = (
    *("backend", "status", "why", "open", "value", "ratio", "verdict", "launches", "estimate"),
    *("quantile", "cpus", "keeps_up", "limit", "lost", "full", "crash"),
)
BOUNDS = {"rate", "deadline", "cpus"}  # demands that more launches can show
CHANGES = ("change", "backend", "amount")
Row = dict[str, Any]  # of one mechanism: what is known of it


@dataclass(frozen=True)
class Frames:
    """What a run holds that bears on a need: frames of its study, launch frames of the limits and of faults, if any.

    `seconds` is what a launch took in it on average, `bound` (a share) what counts as the same.
    """

    points: pd.DataFrame
    launches: pd.DataFrame
    limits: pd.DataFrame = field(default_factory=pd.DataFrame)
    faults: pd.DataFrame = field(default_factory=pd.DataFrame)
    seconds: float = 0.1
    bound: float = EQUIVALENCE


@dataclass(frozen=True)
class Answer:
    """What a run says of a need.

    `rows`: the columns `COLUMNS`, the best first; quantities are ns, ratios, CPUs (1) or messages per second. `why`
    holds what excludes a mechanism, `open` what was not shown either way. `crossings`: see `crossings`. `changes`: what
    would change the answer. `missing`: backend, size, launches and seconds of each point that the run lacks. `launches`
    and `seconds` are what deciding would take, infinite where no number of launches is known to.
    """

    need: Need
    state: str
    rows: pd.DataFrame
    crossings: pd.DataFrame
    changes: pd.DataFrame
    missing: pd.DataFrame
    launches: float = 0.0
    seconds: float = 0.0

    @property
    def best(self) -> list[str]:
        """Return the mechanisms that were not shown to be worse than the fastest that fits, it first."""
        return list(self.rows[self.rows.status == BEST].backend)


def answer(need: Need, frames: Frames, offers: Sequence[Offer]) -> Answer:
    """Return what `frames` say of `need` about the mechanisms on offer."""
    promises = promised(frames.points, frames.faults, need.fault)
    entrants = [_entrant(need, frames, offer, promises[offer.name]) for offer in offers]
    fitting = [each for each in entrants if not each["why"]]
    whole = sorted((each for each in fitting if each["side"]), key=lambda each: median(each["side"].medians))
    unknown = [each for each in fitting if not each["side"]]
    for each in whole:
        each.update(_judged(whole[0], each, len(whole), frames.bound))
    best = [each for each in whole if each["status"] == BEST]
    more = [_more(each, max(2, len(fitting)), frames.bound) for each in best]
    lacking = pd.DataFrame(
        [(row["backend"], size) for row in unknown for size in row["lacking"]], columns=["backend", "size"]
    )
    lacking = lacking.assign(launches=launches_needed(max(2, len(fitting))))
    lacking = lacking.assign(seconds=lacking.launches * frames.seconds)
    unsettled = bool(unknown) or any(each["open"] or each["verdict"] not in ("", SAME) for each in best)
    launches = sum(more) + float(lacking.launches.sum()) if unsettled else 0.0
    state = UNDECIDED if unsettled else ANSWERED if best else NOTHING
    able = [each["backend"] for each in entrants if not set(each["why"]) - BOUNDS]
    ranked: list[Any] = sorted(entrants, key=_order)
    return Answer(
        need,
        state,
        pd.DataFrame(ranked, columns=list(COLUMNS)),
        crossings(need, narrowed_to(need, frames.launches), able, frames.bound),
        _changes(need, best, entrants, frames.bound),
        lacking,
        launches,
        launches * frames.seconds,
    )


def narrowed_to(need: Need, frame: pd.DataFrame, rate: float | None = None) -> pd.DataFrame:
    """Return the rows of a frame that have the need's levels, beside size and mechanism; none where it lacks one."""
    levels = need.levels(rate)
    return narrowed(frame, levels) if levels.keys() <= set(frame) else frame.iloc[:0]


def _entrant(need: Need, frames: Frames, offer: Offer, promises: Row) -> Row:
    """Return the columns of one mechanism, and the launches and sizes that they follow from: `side`, `lacking`."""
    points, launches = (narrowed_to(need, each) for each in (frames.points, frames.launches))
    points, launches = (each[each.backend == offer.name] for each in (points, launches))
    row: Row = dict.fromkeys(COLUMNS) | {"backend": offer.name, "why": [], "open": [], "verdict": "", "launches": 0}
    row |= promises | {"factor": 1.0, "found": None}
    for must in need.must:
        held = kept(must, offer, row)
        (row["open"] if held is None else row["why"] if not held else []).append(must)
    refused = next(filter(None, map(offer.refuses, need.size)), None)
    row["why"] += [refused] if refused else []
    row["side"] = side = None if refused else _side(need, launches)
    row["lacking"] = [size for size in need.size if launches[launches[need.sized] == size].empty]
    _measure(need, frames, points, row)
    row["estimate"] = None if side else estimate(need, launches)
    return row | {"status": EXCLUDED if row["why"] else UNMEASURED}


def _side(need: Need, launches: pd.DataFrame) -> Side | None:
    """Return the medians of the launches, a mix as one time for each round that all sizes have; None without any."""
    mine = launches[(launches.op == need.op) & (launches.metric == "p50")]
    values: dict[int, float] = {}
    for place, (size, share) in enumerate(need.size.items()):
        part = mine[mine[need.sized] == size]
        part = part[part.point == part.point.value_counts().index[0]] if len(part) else part
        numbers = part["round"] if "round" in part else range(len(part))
        found = {int(number): share * value for number, value in zip(numbers, part.value, strict=True)}
        values = found if not place else {key: values[key] + found[key] for key in values.keys() & found.keys()}
    return Side([values[key] for key in sorted(values)], rounds=sorted(values)) if values else None


def _measure(need: Need, frames: Frames, points: pd.DataFrame, row: Row) -> None:
    """Note the times, load and rate of one mechanism in its `row`, and what they say of the need."""
    ops = ["sent", "received"] if need.study == "stream" else [need.op if need.op != "intended" else "round-trip"]
    row["value"] = _mixed(need, points, need.op, "p50")
    spent = total([_mixed(need, points, op, "cpu_ns") for op in ops])
    row["cpus"] = spent * (need.rate / 1e9) if need.rate else spent / row["value"]
    row["cpus"] = row["cpus"].as_unit("count")
    timed = points[(points.op == need.op) & (points.metric == "p50")] if len(points) else points
    if len(frames.limits) and len(timed) and row["value"]:
        bounds = with_limits(timed, frames.limits).drop_duplicates(need.sized).set_index(need.sized).limit
        least = sum(share * float(bounds.get(size, float("nan"))) for size, share in need.size.items())
        row["limit"] = row["value"] / Quantity(least, "ns") if isfinite(least) else None
    closed = narrowed_to(need, frames.points, 0.0)
    each = {"one-way": "received", "round-trip": "round-trip"}.get(need.way, need.op)
    took = _mixed(need, closed[closed.backend == row["backend"]], each, "p50")
    rate = _mixed(need, points, "launch", "closed_per_second", inverse=True) or took
    row["keeps_up"] = (1e9 / rate.as_unit("1") if rate else missing("1/s")).as_unit("1/s")
    if need.deadline_us:
        tails = [_of(points, need, size, need.op, need.metric) for size in need.size]
        row["quantile"] = max(filter(None, tails), key=lambda tail: tail.value, default=missing("ns"))
        _hold("deadline", row, tails, need.deadline_us * 1e3)
    if need.rate:
        _hold("rate", row, [rate], 1e9 / need.rate)
    if need.cpus:
        _hold("cpus", row, [row["cpus"]], need.cpus)


def _hold(what: str, row: Row, found: Sequence[Quantity], bound: float) -> None:
    """Note what was shown of quantities that must all lie below a bound; a guess shows nothing."""
    said = {judge.UNDECIDED if each.kind == GUESS else judge.within(each, -inf, bound) for each in found}
    if judge.ABOVE in said:
        row["why"].append(what)
    elif said != {judge.INSIDE}:
        row["open"].append(what)
        row["factor"] = max(row["factor"], *(_nearer(each, bound) for each in found))


def _nearer(found: Quantity, bound: float) -> float:
    """Return how many times as many launches would move the interval of a quantity off a bound."""
    low, high = found.ends if found else (0.0, inf)
    if found.kind == GUESS or not 0 < low <= high < inf:
        return 2.0
    half, apart = log(high / low) / 2, abs(log(bound / found.value))
    return (half / apart) ** 2 if apart else inf


def _mixed(need: Need, points: pd.DataFrame, op: str, metric: str, inverse: bool = False) -> Quantity:
    """Return the mean of a metric over the sizes of a need, in their shares; of rates (`inverse`) their time, ns."""
    found = [_of(points, need, size, op, metric) for size in need.size]
    times = [1e9 / each.as_unit("1") if inverse and each else each for each in found]
    return total([each * share for each, share in zip(times, need.size.values(), strict=True)])


def _of(points: pd.DataFrame, need: Need, size: int, op: str, metric: str) -> Quantity:
    rows = (
        points[(points[need.sized] == size) & (points.op == op) & (points.metric == metric)] if len(points) else points
    )
    if rows.empty:
        return missing("ns")
    row = next(rows.sort_values("launches", ascending=False).itertuples())
    found = quantity(row)
    return replace(found, kind=GUESS) if "few-samples" in str(row.flags) else found


def _judged(first: Row, each: Row, count: int, bound: float) -> Row:
    """Return the columns of one that say how it compares with the fastest of the `count` that are left."""
    told = {"launches": len(each["side"].medians), "status": BEST}
    if each is first:
        return told | {"ratio": Quantity(1.0, kind="computed")}
    found = compare(first["side"], each["side"], count, bound)
    ratio = missing() if found.ratio is None else Quantity(found.ratio, "1", found.low, found.high)
    status = WORSE if found.verdict == SLOWER else BEST
    return told | {"found": found, "ratio": ratio, "verdict": found.verdict, "status": status}


def _order(each: Row) -> tuple[int, bool, float, str]:
    value = each["value"] or each["estimate"]
    return STATUSES.index(each["status"]), not value, float(value.value) if value else 0.0, each["backend"]


def _more(each: Row, count: int, bound: float) -> float:
    """Return how many more launches would show what is open of one of the best."""
    have, found = each["launches"], each["found"]
    if each["open"]:
        return max(1.0, have * (each["factor"] - 1)) if set(each["open"]) <= BOUNDS else inf
    if found is None or found.verdict == SAME:
        return 0.0
    if found.verdict == NOT_TESTED or None in (found.low, found.high, found.ratio):
        return float(max(1, launches_needed(count) - have))
    return float(max(1, have * (factor(found.low, found.high, found.ratio, bound) - 1)))


def _changes(need: Need, best: Sequence[Row], entrants: Sequence[Row], bound: float) -> pd.DataFrame:
    """Return what would change the answer: what excludes a faster one, and where the first would cease to fit."""
    rows: list[tuple[str, str, Quantity]] = []
    for first in best[:1]:
        for each in (each for each in entrants if each["side"] and each["why"]):
            found = compare(first["side"], each["side"], 2, bound)
            ratio = Quantity(found.ratio, "1", found.low, found.high)
            rows += [(f"without:{','.join(each['why'])}", each["backend"], ratio)] if found.verdict == FASTER else []
        edges = {"rate": first["keeps_up"], "deadline": first["quantile"], "cpus": first["cpus"]}
        asked = {"rate": need.rate or need.way == "one-way", "deadline": need.deadline_us, "cpus": need.cpus}
        rows += [(name, first["backend"], edge) for name, edge in edges.items() if asked[name] and edge]
    return pd.DataFrame(rows, columns=list(CHANGES))


__all__ = ["ANSWERED", "BEST", "NOTHING", "UNDECIDED", "Answer", "Frames", "answer"]
