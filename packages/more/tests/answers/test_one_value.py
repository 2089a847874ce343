"""However a ratio of two medians of the reference run is asked for, it has one value and interval.

Of the ways to ask, a part of its contests and of other pairs is drawn, with a seed.
"""

import math
import random
from collections.abc import Iterator
from functools import cache
from itertools import permutations
from typing import Any

import pandas as pd
import pytest

from ipclab.claims.comparison import Rule
from ipclab.claims.computed import numbers_at
from ipclab.claims.requirement import Requirement, judge_frames
from ipclab.claims.verdicts import on_run
from ipclab.frames.contests import CONTEST
from ipclab.frames.ratios import Ratios
from ipclab.lab.finding import bundle
from ipclab.lab.lab import Lab
from ipclab.lab.notes import text_finding
from ipclab.paths import checkout
from ipclab.report.notebooks.quotes import MIME, Kept, Quoted
from ipclab.stats.quantity import Quantity, of
from tests.support.few import some
from tests.support.told import reference

SAMPLED = 4  # contests of each study, and other pairs
STUDIES = (
    "payload",
    "shared_dict",
    "multiplexer",
    "round_trip",
    "file_io",
    "stream",
    "objects",
)


@cache
def lab() -> Lab:
    made: Lab = Lab.of(reference(), checkout(), "en")
    return made


@cache
def cells(study: str) -> dict[tuple[str, str], Quantity]:
    """Return the medians of a study by point and op."""
    rows: Any = lab().cells(lab().points(study, metric="p50")).itertuples()
    return {(row.point, row.op): row.cell for row in rows}


def address(study: str, point: str, op: str) -> str:
    return f"{study}.{op}[point={point}].p50"


def pairs(study: str) -> Iterator[tuple[str, str, str]]:
    """Yield op, over and under of pairs of points: of contests, then any."""
    contests = lab().contests(study)
    compared = contests[contests.ratio.notna()]
    of_contests = list(zip(compared.op, compared.other_point, compared.point, strict=True))
    any_two = [
        (str(op), one, other)
        for op, points in pd.DataFrame(cells(study), columns=["point", "op"]).groupby("op").point
        for one, other in permutations(points, 2)
    ]
    draws = random.Random(study)
    for every in (of_contests, any_two):
        yield from draws.sample(every, min(SAMPLED, len(every)))


@pytest.mark.parametrize("study", some(STUDIES, 3))
def test_each_way_to_ask_for_a_ratio_gives_the_same(study: str) -> None:
    for op, over, under in pairs(study):
        a, b = cells(study)[over, op], cells(study)[under, op]
        expected = a / b
        for way, found in asked(study, op, over, under).items():
            same = (found.value, *found.ends) == pytest.approx((expected.value, *expected.ends))
            assert same, (way, over, under, found, expected)
        printed(expected)


def printed(ratio: Quantity) -> None:
    """A text prints what the variable holds."""
    said = bundle("text", text_finding("{r:x,interval}", {"r": ratio}).values, "en")[
        "text/markdown"
    ]
    assert said.replace("\\", "") == lab().words.numbers.format(ratio, "x,interval")


@pytest.mark.parametrize("study", some(STUDIES, 2))
def test_the_ratio_of_a_contest_is_that_of_the_largest_that_one_of_both_has_won(study: str) -> None:
    contests = lab().contests(study)
    contests = contests.assign(size=contests.groupby(list(CONTEST)).other.transform("size"))
    for pair, rows in contests[contests.ratio.notna()].groupby(["op", "other_point", "point"]):
        op, over, under = map(str, pair)
        ratio = cells(study)[over, op] / cells(study)[under, op]
        known = rows[rows["size"] == rows["size"].max()].fillna(
            {"low": -math.inf, "high": math.inf}
        )
        every = [tuple(row) for row in known[["ratio", "low", "high"]].to_numpy()]
        assert any((ratio.value, *ratio.ends) == pytest.approx(row) for row in every), (pair, every)


def asked(study: str, op: str, over: str, under: str) -> dict[str, Any]:
    """Return the ratio of two points as each part of the house gives it."""
    a, b = cells(study)[over, op], cells(study)[under, op]
    one, other = address(study, over, op), address(study, under, op)
    quotient = f"{one} / {other}"
    frame = lab().points(study, metric="p50", op=op)
    over_frame = lab().over(frame[frame.point == over], frame[frame.point == under], ["op"])
    told = Kept({"a": a, "b": b})._repr_mimebundle_()[MIME]
    kept = Quoted("other", [{MIME: told}], run=Ratios(reference()))
    rule = Rule.read(f"{quotient} at_most 1")
    requirement = Requirement("R", "text", "median", rule)
    source = numbers_at(reference(), rule.addresses)
    return {
        "values of a frame": lab().value(frame, point=over) / lab().value(frame, point=under),
        "values of addresses": lab().value(one) / lab().value(other),
        "ratio": lab().ratio(one, other),
        "rows over rows": over_frame.cell.iloc[0],
        "claim": on_run(rule.bounds, rule.compared, source).deciding,
        "requirement": judge_frames(requirement, source).value,
        "quoted in another notebook": of(kept.a) / of(kept.b),  # type: ignore[arg-type]
    }
