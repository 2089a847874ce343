"""One quantity has one value and one interval, however it is written."""

import math
import random
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from ipclab.frames.ratios import Ratios
from ipclab.lab.lab import Lab
from ipclab.paths import checkout
from ipclab.stats import judge
from ipclab.stats.form import Ends
from ipclab.stats.intervals import statistic_estimate
from ipclab.stats.quantity import Quantity, measured, of
from ipclab_report.claims.computed import compute
from ipclab_report.lab import ReportLab, lab_of
from ipclab_report.notebooks.quotes import MIME, Kept, Quoted
from ipclab_report.prose.questions import Question
from ipclab_report.prose.teller import Teller
from tests.support.told import reference

SAMPLED = 4  # contests of each study
STUDIES = (
    "payload",
    "shared_dict",
    "multiplexer",
    "round_trip",
    "file_io",
    "stream",
    "neighbours",
    "objects",
)
WAYS: dict[str, str] = {
    "the ratio": "a / b",
    "one over its inverse": "1 / (b / a)",
    "in other units": "(a * 1e-9) / (b * 1e-9)",
    "in one other unit": "(a.as_unit('1') / 1000) / b.as_unit('1') * 1000",
    "of rates": "(c / b) / (c / a)",
    "of both and a third": "(a / third) / (b / third)",
    "with what cancels": "(a * b) / (b * b)",
    "the difference": "(a - b) / b + 1",
    "a loss": "1 - (b - a) / b",
    "twice": "(a + a) / b / 2",
    "back and forth": "(a + b - b) / b",
}


class Told:
    """A run that knows one ratio."""

    def ratio(self, over: str, under: str) -> Ends | None:
        known = Ends(2.5, 2.0, 3.0)
        turned = Ends(0.4, 1 / 3, 0.5)
        return {("a/p50", "b/p50"): known, ("b/p50", "a/p50"): turned}.get((over, under))


RUN = Told()


def in_run(name: str, values: list[float]) -> Quantity:
    value = Quantity(float(np.median(values)), "ns", min(values), max(values), "3 x 1")
    return measured(value, dict(enumerate(values)), name, RUN)


A, B = in_run("a/p50", [10.0, 11.0, 14.0]), in_run("b/p50", [4.0, 6.0, 5.0])
THIRD = in_run("third/p50", [3.0, 1.0, 2.0])


@pytest.mark.parametrize("written", WAYS.values(), ids=WAYS)
def test_a_ratio_is_what_its_run_says_of_it_however_it_is_written(written: str) -> None:
    names: dict[str, Any] = {"a": A, "b": B, "c": of(7.0).as_unit("ns"), "third": THIRD}
    if "* b" in written:  # a product of two times has no unit
        names = {name: each.as_unit("1") for name, each in names.items()}
    found = eval(written, names)
    assert (found.value, *found.ends) == pytest.approx((2.5, 2.0, 3.0), rel=1e-12)


def test_units_and_constants_scale_and_keep_everything() -> None:
    ratio, factor = A / B, 3.0
    assert ((ratio * factor).as_unit("share") / factor).form == ratio.form
    assert ((A * 1e-9).as_unit("1") * 1e9).launches == pytest.approx(A.launches)
    assert Quantity(1.0, n="3 x 1", kind="computed") == (A / A)
    assert (A / B) * B == A and (A + B) - B == A


def test_what_varies_with_the_session_says_so_in_any_unit() -> None:
    """A sum of times has the wider interval of times, in seconds too; their ratio has none."""
    total, in_seconds = A + THIRD, A.as_unit("1") * 1e-9 + THIRD.as_unit("1") * 1e-9
    assert (in_seconds * 1e9).ends == pytest.approx(total.ends)
    launches = statistic_estimate([13.0, 12.0, 16.0], 0)
    assert total.ends == pytest.approx((launches.low * 0.94, launches.high * 1.06))
    share, launches = THIRD / A, statistic_estimate([0.3, 1 / 11, 2 / 14], 0)
    assert share.ends == pytest.approx((launches.low, launches.high))


def test_launches_of_two_runs_have_nothing_in_common() -> None:
    here, there = (
        measured(Quantity(2.0, "ns", 1.0, 3.0), {1: 1.0, 2: 2.0, 3: 3.0}, "a/p50", run)
        for run in (Told(), Told())
    )
    assert not (here / there).launches and (here / there).low != (here / here).low


def test_a_changed_copy_is_another_value() -> None:
    assert not replace(A, value=3.0).launches
    assert replace(A, value=20.0).form != A.form


@cache
def lab() -> Lab:
    return lab_of(reference(), checkout(), "en")


def address(row: Any) -> str:
    levels = [f"point={row['point']}"]
    return f"{row['study']}.{row['op']}[{','.join(levels)}].p50"


@pytest.mark.parametrize("study", STUDIES)
def test_python_prose_rules_tables_and_choices_give_one_ratio(study: str) -> None:
    """Of contests of the reference run, and of pairs of points that share heats alone."""
    points = lab().points(study, metric="p50")
    rows = {(row["point"], row["op"]): row for row in points.to_dict("records")}
    cells = {(row.point, row.op): row.cell for row in lab().cells(points).itertuples()}
    contests = lab().contests(study)
    contests = contests[contests.ratio.notna()]
    random_ = random.Random(study)
    chosen = contests.loc[random_.sample(list(contests.index), min(SAMPLED, len(contests)))]
    for row in chosen.to_dict("records"):
        _one_ratio(row["other_point"], row["point"], row["op"], rows, cells, row)
    pairs = [random_.sample(list(cells), 2) for _ in range(SAMPLED)]
    for (one, op), (other, other_op) in pairs:
        if str(op) == str(other_op) and str(one) != str(other):
            _one_ratio(str(one), str(other), str(op), rows, cells, None)


def _one_ratio(over: str, under: str, op: str, rows: Any, cells: Any, contest: Any) -> None:
    a, b = cells[over, op], cells[under, op]
    expected = a / b
    written = f"{address(rows[over, op])} / {address(rows[under, op])}"
    names: dict[str, Quantity] = {"a": a, "b": b, "c": of(1.0).as_unit("ns"), "third": a * 2}
    told = Kept({"a": a, "b": b})._repr_mimebundle_()[MIME]
    kept = Quoted("other", [({MIME: told}, {})], Ratios(reference()))
    frame = lab().points(rows[over, op]["study"], metric="p50", op=op)
    over_frame = lab().over(frame[frame.point == over], frame[frame.point == under], ["op"])
    ways = {
        "ratio": lab().ratio(address(rows[over, op]), address(rows[under, op])),
        "rule": compute(lab(), written),
        "rule in units": compute(lab(), f"({written}) * 3 / (1 + 2)"),
        "quoted": of(kept.a) / of(kept.b),  # type: ignore[arg-type]
        "over": over_frame.cell.iloc[0],
    }
    ways |= {way: eval(WAYS[way], {**names}) for way in WAYS if "* b" not in WAYS[way]}
    for way, found in ways.items():
        same = (found.value, *found.ends) == pytest.approx((expected.value, *expected.ends))
        assert same, (way, over, under, found, expected)
    if contest:
        assert expected.value == pytest.approx(contest["ratio"])
        in_contest = not math.isnan(contest["low"])
        contest_ends = (contest["low"], contest["high"]) if in_contest else (-math.inf, math.inf)
        level = expected.ends == pytest.approx(contest_ends)
        # a pair may stand in two contests, of which the larger one counts
        assert level or expected.ends[0] <= contest_ends[0]
    printed = lab().words.numbers.format(expected, "x,interval")
    reader = ReportLab(lab().run, lab().words, lab().paths, _names=lambda: {"r": expected})
    teller = Teller(reader)
    assert teller.fill("{r:x,interval}").replace("\\", "") == printed
    asked = teller.answer(
        Question("r", "1", dict.fromkeys((judge.ABOVE, judge.BELOW, judge.UNDECIDED), ""))
    )[1]["it"]
    assert asked is expected
