"""Contests: the mechanisms that answer one question under equal conditions, compared."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
from msgspec import structs

from ipclab.frames.metrics import HEAT, ROUND
from ipclab.frames.points import CROWDED, NO_HEAT
from ipclab.frames.rows import narrowed
from ipclab.stats.compare import EQUIVALENCE, Comparison, Side
from ipclab.stats.contest import judged
from ipclab.stats.sessions import by_session, several
from ipclab.store.questions import Question, Race

ALL, SLEEPING = "all", "sleeping"  # among which mechanisms: every one, or those that do not spin
# ways to wait; who spins before it blocks spins while its peer is quick
SPINNING_WAITS = "spin", "spin-then-block"
CONTEST = ("op", "question", "among", "placement", "size_bytes", "race")
LEAST_SCATTERED = 5  # launches that tell apart what scatters from one to the next
OF_BOTH = "first_ns", "second_ns"  # of a comparison: the times that the ratio is of
KNOWN = tuple(name for name in Comparison.__dataclass_fields__ if name not in OF_BOTH)
VALUES = (*CONTEST, "fastest", "other", *KNOWN, "best", "value", "point", "other_point")
Sides = dict[tuple[str, str], Side]  # by entrant: its name and its point


def contests(
    question: Question, launches: pd.DataFrame, bound: float = EQUIVALENCE
) -> pd.DataFrame:
    """Return one row for each contest and mechanism compared with its fastest: `VALUES`.

    `launches` is the launch frame of the study of `question`; the medians of launches are compared, by round.
    `bound` (a share) is what counts as the same. `low` to `high` is the interval that was judged,
    at `level`; `best` and `value` are those of the fastest and of the other one over the heats that
    both share, so that `ratio` is their quotient; `point` and `other_point` are what they are of.
    """
    rows: list[dict[str, Any]] = []
    for race in question.races if len(launches) else ():
        for head, sides in fields(race, launches):
            rows += _compared(sides, head, bound)
    return pd.DataFrame(rows, columns=["study", *VALUES]).assign(study=question.name)


def side_of(rows: pd.DataFrame) -> Side:
    """Return a point's launch medians with their rounds: the k-th is of round k by default.

    Of several sessions they are the medians of these, of no rounds.
    """
    medians = list(rows.value)
    rounds = [*map(int, rows[ROUND] if ROUND in rows else range(len(rows)))]
    if HEAT not in rows:
        return Side(medians, rounds=rounds)
    by_heat = dict(zip(map(int, rows[HEAT]), map(float, rows.value), strict=True))
    if several(by_heat):
        medians, rounds = [*by_session(by_heat).values()], []
    heats = {heat: value for heat, value in by_heat.items() if heat != NO_HEAT}
    return Side(medians, rounds=rounds, heats=heats)


def fields(race: Race, launches: pd.DataFrame) -> Iterator[tuple[dict[str, Any], Sides]]:
    """Yield each contest of `race` by its `CONTEST` columns, with its entrants by name and point.

    Launches of more processes than CPUs take part in none: what they would tell is how the
    scheduler parts the CPUs.
    """
    medians = launches[launches.metric == "p50"]
    if CROWDED in medians:
        medians = medians[~medians[CROWDED].fillna(False).astype(bool)]
    if race.scatters and set(race.scatters) <= set(medians):
        scattered = narrowed(medians, race.scatters)
        counts = scattered.groupby(["point", "op"])["value"].transform("size")
        medians = medians.drop(scattered.index[counts < LEAST_SCATTERED])
    needed = {"entrant", "point", "value", ROUND, HEAT}
    for head, entrants in groups(race, medians):
        few = entrants[[name for name in entrants if name in needed]]  # are parted in less time
        parts = few.groupby(["entrant", "point"], sort=True)
        yield head, {(str(name), str(point)): side_of(rows) for (name, point), rows in parts}


def groups(race: Race, rows: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield each contest of `race` by its `CONTEST` columns, with those of `rows` that take part.

    `rows` have an op, a point and its levels, whether it was measured or not; those that take part
    have their names as `entrant`.
    """
    keys = ["op", *race.per, "placement", *(["size_bytes"] if race.sized else [])]
    asleep = dict[Any, pd.DataFrame]()
    if race.sleeping:
        those = race
        if not isinstance(race.sleeping, bool):  # of the arms that it names
            those = structs.replace(race, levels={**race.levels, "arm": list(race.sleeping)})
        asleep = _entered(those, rows, keys)
    for key, entrants in _entered(race, rows, keys).items():
        levels = dict(zip(keys, key, strict=True))
        head = {name: levels.get(name, 0) for name in ("op", "placement", "size_bytes")}
        head["question"] = " ".join(f"{name}={levels[name]}" for name in race.per)
        head["race"] = str(race.levels or race.either)
        yield head | {"among": ALL}, entrants
        if "wait" in asleep.get(key, ()):
            resting = asleep[key][~asleep[key]["wait"].isin(SPINNING_WAITS)]
            if len(resting):
                yield head | {"among": SLEEPING}, resting


def _entered(race: Race, rows: pd.DataFrame, keys: list[str]) -> dict[Any, pd.DataFrame]:
    """Return who takes part in each contest of `race`, by its levels of `keys`, named `entrant`."""
    of_ops = rows[rows.op.isin([race.op] if isinstance(race.op, str) else list(race.op))]
    parts = [of_ops.iloc[:0]]
    for further in race.either:
        levels = race.levels | further
        if levels.keys() <= set(of_ops):
            parts.append(narrowed(of_ops, levels))
    wanted = pd.concat(parts)
    wanted = wanted[~wanted.index.duplicated()]
    if wanted.empty or not {*race.per, *race.names} <= set(wanted.columns):
        return {}
    named = wanted[list(race.names)].astype(str).itertuples(index=False, name=None)
    wanted = wanted.assign(entrant=[*map(" ".join, named)])
    return dict(iter(wanted.groupby(keys, sort=True, dropna=False)))


def _compared(sides: Sides, head: dict[str, Any], bound: float) -> Iterator[dict[str, Any]]:
    contest = judged(sides, bound)
    means = contest.means
    best, *others = means
    head |= {"fastest": best[0], "best": means[best], "point": best[1], "other_point": ""}
    if not others:
        count = str(len(sides[best].medians))
        yield head | {"other": "", "verdict": "", "reason": "alone", "launches": count}
    for other in others:
        name, point = other
        known = contest.over_fastest[other]
        compared = {"other": name, "value": means[other], "other_point": point}
        if known.first_ns and known.second_ns:
            compared |= {"best": known.first_ns, "value": known.second_ns}
        compared |= {name: getattr(known, name) for name in KNOWN}
        yield head | compared | {"launches": "/".join(map(str, known.launches))}
