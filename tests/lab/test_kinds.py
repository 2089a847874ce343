"""Findings by hand: who is first and next, what an effect counts, how far it reaches."""

from math import exp, hypot, log
from typing import Any

import pandas as pd
import pytest

from ipclab.frames.contests import CONTEST
from ipclab.frames.ratios import Ratios
from ipclab.frames.remembered import forget
from ipclab.frames.rows import quantity
from ipclab.lab.finding import ALIKE, FEW, LESS, MORE, OPEN, STATE, Finding
from ipclab.lab.kinds import together
from ipclab.lab.lab import Lab
from ipclab.paths import checkout
from ipclab.stats.quantity import Quantity
from tests.support.told import reference


@pytest.fixture(scope="module")
def lab() -> Lab:
    forget()
    return Lab.of(reference(), checkout(), "en")


def trips(lab: Lab, **levels: Any) -> pd.DataFrame:
    """Return round trips of mechanisms that sleep, each of one state."""
    rows = lab.points(
        "round_trip", op="round-trip", metric="p50", arm="main", wait="block", **levels
    )
    return rows.assign(slow=rows.value, why="")


def about(*values: tuple[float, float, float]) -> list[Quantity]:
    return [Quantity(value, "ns", low, high) for value, low, high in values]


TEN, AS_GOOD = (10.0, 9.5, 10.5), (10.2, 9.5, 11.0)
TWENTY, THIRTY = (20.0, 19.0, 21.0), (30.0, 29.0, 31.0)
ENDLESS = 50.0, float("-inf"), float("inf")


@pytest.mark.parametrize(
    ("values", "verdict", "slower", "as_good", "following"),
    [
        ([TEN, TWENTY, THIRTY], "clear", 2, 0, 1),
        ([TEN, AS_GOOD, TWENTY, THIRTY], "tied", 2, 1, 2),
        ([TEN, AS_GOOD, THIRTY, ENDLESS], "tied", 1, 1, 2),
        ([TEN, AS_GOOD], "tied", 0, 1, None),
        ([(10.0, 9.99, 10.01), (10.1, 10.09, 10.11), TWENTY], "tied", 1, 1, 2),
        ([TEN, ENDLESS], "few", 0, 1, None),
    ],
)
def test_the_cheapest_is_told_with_who_is_next_and_who_as_good(
    lab: Lab,
    values: list[tuple[float, float, float]],
    verdict: str,
    slower: int,
    as_good: int,
    following: int | None,
) -> None:
    rows = trips(lab, placement="cross", size_bytes=100)[: len(values)]
    cells = pd.Series(about(*values), rows.index, dtype=object)
    rows = rows.assign(cell=cells, value=[value for value, *_ in values])
    found = lab.cheapest(rows[::-1])
    names = [{"backend": name} for name in rows.backend]
    told = found.values
    assert (found.verdict, told["slower"], told["as_good"]) == (verdict, slower, as_good)
    assert (told["all"], told["best"][0], found.sides[0]) == (len(values), 10.0, names[0])
    if following is None:
        assert "next" not in told
    else:
        assert told["next"] == names[following]
        assert told["ratio"][0] == pytest.approx(values[following][0] / 10)
    if values == [TEN, AS_GOOD]:
        down, up = hypot(log(10.2 / 9.5), log(10.5 / 10)), hypot(log(11 / 10.2), log(10 / 9.5))
        ends = 1.02 * exp(-down), 1.02 * exp(up)
        assert told["within"] == [pytest.approx(1.02), "1", *map(pytest.approx, ends)]


def test_the_fastest_is_that_of_the_smallest_contest_that_holds_all(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = trips(lab, placement="cross", size_bytes=100)[:3]
    first, second, third = rows.point

    def contest(among: str, best: str, *others: str) -> list[dict[str, Any]]:
        head = dict.fromkeys(CONTEST, "") | {"among": among, "point": best, "value": 1.0}
        return [head | {"other": other, "other_point": other} for other in others]

    every = pd.DataFrame(
        [*contest("all", first, second, third), *contest("sleeping", first, third)]
    )
    monkeypatch.setattr(type(lab), "contests", lambda *_, **__: every)

    def among(points: list[str], of: pd.DataFrame = rows) -> str | None:
        found = lab._contest(of[of.point.isin(points)])
        return None if found is None else str(found.among.iloc[0])

    assert among([first, second, third]) == "all"
    assert among([first, second]) == "all"
    assert among([first, third]) == "sleeping"  # which is smaller
    assert among([second, third]) is None  # the fastest is another one
    assert among([first, third], rows.assign(metric="p90")) is None


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [
        ({MORE: 3}, "all-more"),
        ({MORE: 2}, "more"),
        ({LESS: 3}, "all-less"),
        ({LESS: 2, ALIKE: 1}, "less"),
        ({MORE: 2, LESS: 1}, "both"),
        ({ALIKE: 3}, "alike"),
        ({FEW: 3}, "few"),
        ({STATE: 3}, "state"),
        ({ALIKE: 2, FEW: 1}, "open"),
        ({}, "open"),
    ],
)
def test_the_verdict_on_three_pairs_together(counts: dict[str, int], verdict: str) -> None:
    assert together(dict.fromkeys((MORE, LESS, ALIKE, FEW, STATE), 0) | counts, 3) == verdict


def test_an_effect_counts_pairs_by_their_intervals_and_tells_the_most_of_each_way(lab: Lab) -> None:
    after, before = (trips(lab, placement=name, size_bytes=100) for name in ("cross", "same"))
    found = lab.effect(after, before)
    same = lab.run.questions.same
    ratios = dict[str, Quantity]()
    for name in {*after.backend} & {*before.backend}:
        one, other = (
            quantity(next(rows[rows.backend == name].itertuples()), Ratios(lab.run))
            for rows in (after, before)
        )
        ratios[name] = one / other
    alike = {
        name
        for name, ratio in ratios.items()
        if 1 / (1 + same) <= ratio.ends[0] and ratio.ends[1] <= 1 + same
    }
    more = {name for name, ratio in ratios.items() if ratio.ends[0] > 1} - alike
    less = {name for name, ratio in ratios.items() if ratio.ends[1] < 1} - alike
    told = found.values
    assert len(more) > 1 and told["all"] == len(ratios)
    counted = [told[name] for name in (MORE, LESS, ALIKE, STATE)]
    assert counted == [len(more), len(less), len(alike), 0]
    by_ratio = sorted(more, key=lambda name: float(ratios[name].value))
    assert (found.most("more"), told["more_least"][0]["backend"]) == (by_ratio[-1], by_ratio[0])
    # where the quicker one has a state in which it is not, nothing is told
    quick = before.assign(slow=before.slow.where(before.backend != by_ratio[0], 1e12))
    told = lab.effect(after, quick).values
    assert [told[name] for name in (MORE, STATE)] == [len(more) - 1, 1]


SIZES = (10, 20, 30)


@pytest.mark.parametrize(
    ("verdicts", "reaches", "last", "beyond"),
    [
        ((LESS, LESS, LESS), "throughout", 30, None),
        ((LESS, LESS, MORE), "turns", 20, 30),
        ((MORE, OPEN, MORE), "ends", 10, 20),
        ((OPEN, LESS, LESS), "open", None, None),
    ],
)
def test_an_effect_reaches_as_far_as_all_before_show_it(
    lab: Lab,
    monkeypatch: pytest.MonkeyPatch,
    verdicts: tuple[str, ...],
    reaches: str,
    last: int | None,
    beyond: int | None,
) -> None:
    judged = dict(zip(SIZES, verdicts, strict=True))

    def compare(_: Lab, one: pd.DataFrame, other: pd.DataFrame, measure: str) -> Finding:
        (size,) = {*one["size_bytes"], *other["size_bytes"]}
        topic = {"op": "write", "size_bytes": size}
        return Finding("compare", judged[size], measure, topic, values={"ratio": [size, "1"]})

    monkeypatch.setattr(type(lab), "compare", compare)
    a, b = (pd.DataFrame({"size_bytes": sizes}) for sizes in ((40, *SIZES), (*SIZES, 5)))
    found = lab.reach(a, b, "size_bytes")
    told = found.values
    assert (found.verdict, found.topic, told["first"]) == (reaches, {"op": "write"}, 10)
    assert (told.get("last"), told.get("next")) == (last, beyond)
    if last:
        assert [told["at_first"][0], told["at_last"][0]] == [10, last]
    if beyond:
        assert told["at_next"][0] == beyond


def test_what_grows_is_the_largest_over_the_smallest(lab: Lab) -> None:
    rows = trips(lab, placement="cross", backend="unix")
    found = lab.growth(rows, "size_bytes")
    ends = rows.size_bytes.max(), rows.size_bytes.min()
    assert [side["size_bytes"] for side in found.sides] == [*ends]
    assert (
        lab.growth(trips(lab, placement="cross", size_bytes=100), "size_bytes").verdict == "missing"
    )
    spread = lab.spread(rows[rows.size_bytes.isin(ends)])
    told = [spread.values[name] for name in ("least", "most")]
    assert [levels for levels, _ in told] == [{"size_bytes": end} for end in ends[::-1]]
    assert [value[0] for _, value in told] == sorted(
        rows.value[rows.size_bytes.isin(ends)].tolist()
    )


@pytest.mark.parametrize(
    ("cells", "verdict", "best"),
    [
        ([TEN, TWENTY, THIRTY], "less", True),
        ([TEN, TWENTY, ENDLESS], "open", True),
        ([TEN, TWENTY], "less", False),
        ([TEN, AS_GOOD], "open", False),
    ],
)
def test_the_best_of_two_groups_is_better_than_each_of_the_other(
    lab: Lab, cells: list[tuple[float, float, float]], verdict: str, best: bool
) -> None:
    rows = trips(lab, placement="cross", size_bytes=100)[: len(cells)]
    rows = rows.assign(
        cell=pd.Series(about(*cells), rows.index, dtype=object),
        value=[value for value, *_ in cells],
        slow=0.0,
        medium=["one", *["other"] * (len(cells) - 1)],
    )
    found = lab.best_of(rows[::-1], "medium")
    assert (found.verdict, found.values["best"]) == (verdict, best)
    assert [side["medium"] for side in found.sides] == ["one", "other"]
    assert found.values["b"][0] == cells[1][0]
    rate = lab.best_of(rows, "medium", "rate")  # of which more is better
    assert rate.values["a"][0] == cells[-1][0]
    assert lab.best_of(rows[:1], "medium").verdict == "missing"
