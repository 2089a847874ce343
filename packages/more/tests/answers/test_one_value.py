"""However a ratio of two medians of the reference run is asked for, it has one value and interval.

A part of its contests and of other pairs is drawn, with a seed; with IPCLAB_EVERY_RATIO=1 it is
every contest, and a thousand pairs of each study. IPCLAB_RATIOS_OF names the folder or bundle of
another run.
"""

import math
import os
import random
from collections.abc import Iterator
from functools import cache
from itertools import permutations
from pathlib import Path
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
from ipclab.lab.notes import written
from ipclab.paths import checkout
from ipclab.report.notebooks.quotes import MIME, Kept, Quoted
from ipclab.stats.quantity import Quantity, of
from ipclab.store.bundle import opened
from ipclab.store.run import RunFolder
from ipclab_more.values.rows import rows as values
from tests.stats.test_product import WAYS
from tests.support.few import some
from tests.support.told import reference

EVERY = os.environ.get("IPCLAB_EVERY_RATIO") == "1"
SAMPLED = 4  # contests of each study, and other pairs
MANY = 1000
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
def run() -> RunFolder:
    other = os.environ.get("IPCLAB_RATIOS_OF")
    return opened(checkout(), Path(other)) if other else reference()


@cache
def lab() -> Lab:
    made: Lab = Lab.of(run(), checkout(), "en")
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
    for every, most in ((of_contests, len(of_contests)), (any_two, MANY)):
        count = most if EVERY else SAMPLED
        yield from draws.sample(every, min(count, len(every)))


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
    said = bundle("text", written("{r:x,interval}", {"r": ratio}).values, "en")["text/markdown"]
    assert said.replace("\\", "") == lab().words.numbers.format(ratio, "x,interval")


@pytest.mark.parametrize("study", STUDIES)
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


def asked(study: str, op: str, over: str, under: str) -> dict[str, Quantity]:
    """Return the ratio of two points as each part of the house gives it."""
    a, b = cells(study)[over, op], cells(study)[under, op]
    one, other = address(study, over, op), address(study, under, op)
    quotient = f"{one} / {other}"
    frame = lab().points(study, metric="p50", op=op)
    over_frame = lab().over(frame[frame.point == over], frame[frame.point == under], ["op"])
    told = Kept({"a": a, "b": b})._repr_mimebundle_()[MIME]
    kept = Quoted("other", [{MIME: told}], run=Ratios(run()))
    rule = Rule.read(f"{quotient} at_most 1")
    requirement = Requirement("R", "text", "median", rule)
    source = numbers_at(run(), rule.addresses)
    names: dict[str, Quantity] = {"a": a, "b": b, "c": of(1.0).as_unit("ns"), "third": a * 2}
    ways = {
        "values of a frame": lab().value(frame, point=over) / lab().value(frame, point=under),
        "values of addresses": lab().value(one) / lab().value(other),
        "ratio": lab().ratio(one, other),
        "rows over rows": over_frame.cell.iloc[0],
        "claim": on_run(rule.bounds, rule.compared, source).deciding,
        "requirement": judge_frames(requirement, source).value,
        "quoted in another notebook": of(kept.a) / of(kept.b),  # type: ignore[arg-type]
    }
    return ways | {way: eval(WAYS[way], {**names}) for way in WAYS if "* b" not in WAYS[way]}


@pytest.mark.parametrize("study", STUDIES)
def test_every_value_is_the_same_in_frames_python_and_exports(study: str) -> None:
    exported = values(run(), [study], {}, None)
    exported = exported[exported.metric == "p50"]
    assert len(exported) == len(cells(study)) > 0
    row: Any
    for row in exported.itertuples():
        here = cells(study)[row.point, row.op]
        assert here.value == row.value
        assert here.ends == ((row.low, row.high) if math.isfinite(row.high) else here.ends)
