"""A document to sign: its title block, its number and mark on every page, the budget behind its
values.
"""

import math
import re
from dataclasses import replace
from functools import reduce
from io import StringIO
from math import hypot
from operator import mul
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import numpy as np
import pandas as pd
import pytest

from ipclab import __version__
from ipclab.claims.audit import with_own
from ipclab.claims.required import requirements
from ipclab.lab.lab import Lab
from ipclab.paths import Paths, checkout
from ipclab.report.appendix.about import about_run, sessions, short
from ipclab.report.appendix.calibration import calibration, calibration_table
from ipclab.report.appendix.environment import about_configuration, judged_by_another
from ipclab.report.appendix.flagged import all_held, flagged, quiet
from ipclab.report.appendix.signed import (
    EITHER,
    PIECEWISE,
    least_shown,
    recalculable,
    signed,
)
from ipclab.report.appendix.signing import (
    Marks,
    is_preliminary,
    page_marks,
    title_block,
)
from ipclab.report.appendix.traced import judged, traced
from ipclab.report.appendix.trust import each_launch
from ipclab.report.appendix.uncertainty import EVALUATED, apart, budget, expanded
from ipclab.report.notebooks.quotes import notebooks
from ipclab.report.pages import document
from ipclab.report.pages.exporters import ReportHTMLExporter
from ipclab.report.pages.report import notebooks_of
from ipclab.report.pages.words import Sources, report_title
from ipclab.stats.intervals import NOMINAL, SESSION_ERROR, mean_of
from ipclab.stats.intervals import uncertainty as uncertainty_of
from ipclab.stats.quantity import Quantity, measured, missing
from ipclab.stats.sessions import SESSION_HEATS
from ipclab.store.calibration import Counted
from tests.support.commands import ROOT
from tests.support.foreign import displayed, notebook
from tests.support.rendered import typeset
from tests.support.told import reference

FILLED = """\
[document]
number = "D-7"
revision = "B"
laboratory = "KTL"
item = "LDM-EKI"
item_version = "v1.0"
plan = "P-3"
author = "Kim"

[[document.history]]
revision = "A"
date = "2026-11-01"
change = "first issue"
"""


# Three sessions of an hour each, a second apart.
SESSIONS: list[dict[str, Any]] = [
    {
        "number": number,
        "begun": f"2026-11-20T1{number}:00:0{number > 1:d}+00:00",
        "ended": f"2026-11-20T1{number + 1}:00:00+00:00",
        "conditions": {},
    }
    for number in (1, 2, 3)
]


def lab_with(folder: Path, control: str = "", profile: str = "standard") -> Lab:
    """Return the reference run as if measured under `profile`, with `control` as the person's
    report.toml.
    """
    run = reference()
    if control:
        (folder / "report.toml").write_text(control)
    about = {**run.about, "parameters": {**run.about["parameters"], "profile": profile}}
    return Lab.of(replace(run, about=about), Paths(ROOT, folder), "en")


def test_the_reasons_why_points_ended_are_counted_in_whole_points() -> None:
    items = about_run(Lab.of(reference(), checkout(), "en")).value
    counts = re.findall(r" (\d{1,3}(?:,\d{3})*)(?=, |$)", items["Why points ended"])
    assert sum(int(count.replace(",", "")) for count in counts) == items["Points measured"] > 1000


def test_a_title_block_speaks_each_readers_language() -> None:
    lab = Lab.of(reference(), checkout(), "en,ko,zh")
    block = title_block(lab)
    said = {lang: other.rows[0][0] for lang, other in block.others.items()}
    assert said == {"ko": "문서 번호", "zh": "文件编号"} and block.rows[0][0] == "Document number"


def test_a_title_block_has_lines_to_write_on(tmp_path: Path) -> None:
    lab = lab_with(tmp_path)
    lab.run.about.update(
        begun=SESSIONS[0]["begun"], finished=SESSIONS[-1]["ended"], sessions=SESSIONS
    )
    empty = [list(row) for row in title_block(lab).rows]
    assert [row[::2] for row in empty[4:8]] == [
        [who, "Signature", "Date"] for who in ("Author", "Reviewer", "Assessor", "Approver")
    ]
    measured = ["2026-11-20 11:00 UTC", "2026-11-20 14:00 UTC", "3 (1\u00a0s apart at least)"]
    assert empty[3][1::2] == measured
    assert not any("".join(row[1::2]) for row in [*empty[:3], *empty[4:]])
    assert empty[-1][::2] == ["History: revision", "Date", "What changed"]
    filled = [list(row) for row in title_block(lab_with(tmp_path, FILLED)).rows]
    assert filled[0][1::2] == ["D-7", "B", ""]
    assert filled[1][1::2] == ["KTL", "", ""] and filled[2][1::2] == ["LDM-EKI", "v1.0", "P-3"]
    assert filled[4][1] == "Kim"
    assert filled[-1][1::2] == ["A", "2026-11-01", "first issue"]


@pytest.mark.parametrize(("profile", "preliminary"), [("quick", True), ("standard", False)])
def test_a_run_below_standard_is_preliminary(
    tmp_path: Path, profile: str, preliminary: bool
) -> None:
    lab = lab_with(tmp_path, FILLED, profile)
    assert is_preliminary(lab) is preliminary
    assert page_marks(lab) == Marks("D-7")


@pytest.mark.parametrize("marks", [Marks(""), Marks("D-7"), None])
def test_every_page_of_a_document_to_sign_bears_its_number(marks: Marks | None) -> None:
    shown = [displayed(marks._repr_mimebundle_())] if marks else []
    read = document.read_document(notebook("# T", *shown), Path())
    assert read.marks == marks
    told = {"named": "No.", "number": marks.number} if marks else None
    assert typeset(read)["about"]["marks"] == told
    html = ReportHTMLExporter().convert(read)
    assert ("No. " in html) == bool(marks)
    assert not marks or f"No. {marks.number or '________'}" in html


def test_a_budget_ends_in_the_interval_that_is_printed(tmp_path: Path) -> None:
    """Of the values that are signed: a time, and a ratio that a contest judged."""
    lab = lab_with(tmp_path)
    points = lab.points("round_trip", op="round-trip", metric="p50", arm="main", placement="same")
    points = points[(points.size_bytes == 100) & (points["wait"] == "block")]
    cells = lab.cells(points).set_index("backend").cell
    time, other = cells["unix"], cells["tcp"]
    for value, timed in ((time, [time]), (time / other, [time, other])):
        found = {name: each.value for name, each in budget(lab, value, *timed).items()}
        assert found["combined"] == pytest.approx(hypot(found["launches"], found["session"]))
        expanded = math.expm1(found["factor"] * found["combined"])
        assert found["expanded"] == pytest.approx(expanded)
        assert value.ends == pytest.approx(
            (value.value / (1 + expanded), value.value * (1 + expanded))
        )
        assert found["value"] == value.value
        assert found["clock"] and found["quantisation"]  # are told, and in what launches show
    nothing = budget(lab, Quantity(None, "ns"))
    assert not any(nothing[name] for name in EVALUATED if name != "host")


def test_the_sum_of_a_value_has_what_launches_and_sessions_show(tmp_path: Path) -> None:
    lab = lab_with(tmp_path)
    launches = {heat: 1e6 + 1e4 * heat for heat in range(8)}
    time = measured(Quantity(mean_of([*launches.values()]), "ns", 0.9e6, 1.1e6), launches, "time")
    found = expanded(lab, time)
    assert found and found.session == SESSION_ERROR
    assert found.launches == uncertainty_of(np.log([*launches.values()]))
    # of several sessions it is in what they differ by
    between = measured(time, {k * SESSION_HEATS: 1e6 + 1e4 * k for k in range(3)}, "between")
    of_sessions = expanded(lab, between)
    assert of_sessions and of_sessions.session == 0.0 and of_sessions.level == NOMINAL


def test_sessions_lie_as_far_apart_as_the_nearest_two(tmp_path: Path) -> None:
    lab = lab_with(tmp_path)
    lab.run.about["sessions"] = SESSIONS
    assert apart(lab) == Quantity(1e9, "ns")
    lab.run.about["sessions"] = SESSIONS[:1]
    assert not apart(lab)


def test_brackets_are_between_sessions_from_three_on(tmp_path: Path) -> None:
    lab = lab_with(tmp_path)
    begun = {"begun": "2026-11-20T10:00:00+00:00", "conditions": {}}
    for numbers, told in (([1], (1, None)), ([1, 2, 2], (2, None)), ([1, 2, 3], (3, 3))):
        lab.run.about["sessions"] = [{**begun, "number": number} for number in numbers]
        count, between = sessions(lab)
        assert (count, between.value) == told
    lab.run.about["sessions"] = [begun]  # of an older version
    assert sessions(lab)[0] == 1


@pytest.mark.parametrize(
    ("one", "other", "smallest"),
    [
        ({"0.10": 5, "0.20": 5}, {"0.10": 5, "0.20": 5}, 0.1),
        ({"0.10": 4, "0.20": 5}, {"0.10": 5, "0.20": 5}, 0.2),  # 9 of 10, of 5 in one
        ({"0.10": 5, "0.20": 5}, {"0.10": 5, "0.20": 4}, None),  # a larger one
        ({}, {}, None),
        (None, {"0.10": 5, "0.20": 5}, None),  # planted too seldom
    ],
)
def test_the_smallest_difference_is_what_is_often_found_in_each_placement(
    one: dict[str, int] | None,
    other: dict[str, int],
    smallest: float | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    planted = {"0.10": 5, "0.20": 5}
    parts = {"cross": Counted(6, 0, planted, other)}
    if one is not None:
        parts["same"] = Counted(5, 1, planted, one)
    monkeypatch.setattr("ipclab.report.appendix.calibration.counted_in_run", lambda _: parts)
    judge = calibration(lab_with(tmp_path))
    assert judge.smallest.value == smallest
    assert (judge.twins, judge.alarms) == ((11, 1) if "same" in parts else (6, 0))


def test_the_table_has_a_row_for_each_placement_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of no other run: its pages would change once another one was measured."""
    mine = {"same": Counted(6, 1, {"0.10": 6}, {"0.10": 4}), "cross": Counted(9)}
    monkeypatch.setattr("ipclab.report.appendix.calibration.counted_in_run", lambda _: mine)
    rows = [list(row)[:3] for row in calibration_table(lab_with(tmp_path)).rows]
    assert sorted(rows) == [["same CPU", "6", "16.7%"], ["two CPUs", "9", "0%"]]


def test_the_least_that_is_shown_is_the_low_end_of_the_least_receiver_never_rounded_up() -> None:
    gain = Quantity(5.68, low=4.4568, high=7.25)
    for low, high, told in ((0.57, 0.97, (4.45, PIECEWISE)), (1.0279, 1.7, (1.02, EITHER))):
        least, receivers = least_shown(gain, Quantity(1.3, low=low, high=high))
        assert (least.value, receivers) == told
    assert least_shown(gain, missing())[1] == PIECEWISE


def test_signed_values_are_calculated_again_from_what_is_attached(tmp_path: Path) -> None:
    """Value, U, k, and of ratios both sides, launch by launch."""
    lab = lab_with(tmp_path)
    points = lab.points("payload", arm="mapping", metric="p50", mapping="truncated")
    points = points[points.size_bytes == points.size_bytes.max()]
    write, read = (lab.value(points, op=op) for op in ("write", "read"))
    tcp = lab.points("payload", op="handover", metric="p50", placement="cross")
    past = lab.value(tcp[tcp.size_bytes == tcp.size_bytes.max()], arm="v0.9", receive="recv-4096")
    both, wait = write + read, Quantity(350e6, "ns", kind="computed")
    values = {"write": write, "both": both, "over": past / both, "late": both + wait}
    rests = {"late": both}
    table = signed(lab, values, rests)
    attached = pd.read_csv(StringIO(recalculable(lab, values, rests).text))
    for name, value in values.items():
        low, high = value.ends
        assert table.expanded[name].value == pytest.approx(high / value.value - 1)
        if name != "late" and "cut" not in str(table.loc[name, "flags"]):
            assert value.value / low - 1 == pytest.approx(table.expanded[name].value)
        rows = attached[attached.quantity == name]
        assert list(rows.y) == pytest.approx([value.value] * len(rows))
        sides = [
            part.set_index("heat").measured ** float(str(power))
            for (_, power), part in rows.groupby(["row", "power"])
        ]
        again = reduce(mul, sides).dropna()
        if len(again):
            mean = again.mean() if name == "late" else math.exp(np.log(again).mean())
        else:  # of launches that are no heats of both
            mean = math.prod(math.exp(np.log(side).mean()) for side in sides)
        assert mean * rows.number.iloc[0] == pytest.approx(value.value, rel=1e-6)
    assert table.factor["late"] == table.factor["both"]
    assert table.launches["over"].value == min(len(side) for side in (past.launches, both.launches))


def test_the_worst_flag_of_a_kind_is_that_of_a_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = ["budget;disturbed:9/10;modes:2", "enough;disturbed:5/5;run-queue;modes:3"]
    rows = [SimpleNamespace(flags=each) for each in flags]
    monkeypatch.setattr("ipclab.report.appendix.signed.rows_of", lambda *_: rows)
    time = measured(
        Quantity(1.0, "ns", 0.9, 1.1, "5 x 50"), {k: 1.0 + k / 100 for k in range(5)}, "t"
    )
    row = signed(lab_with(tmp_path), {"time": time}).loc["time"]
    assert row["flags"] == "disturbed:5/5, modes:3"
    assert (row["launches"].value, row["samples"].value) == (5, 50)


def test_criteria_of_the_environment_hold_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = lab_with(tmp_path)
    launches = each_launch(lab, "payload")  # derived once: other sessions would make others of them
    monkeypatch.setattr("ipclab.report.appendix.flagged.each_launch", lambda *_: launches)
    told = quiet(lab, "payload")
    assert all_held(lab, "payload") == ({*told.kept} == {"held"})
    of_launches = list(told.kept[1:])
    first, *others = lab.run.about["sessions"]

    def begun(**conditions: float | None) -> None:
        began = {**first, "conditions": {**first["conditions"], **conditions}}
        lab.run.about["sessions"] = [began, *others]

    begun(pressure_cpu_percent=12.5)
    told = quiet(lab, "payload")
    assert list(told.kept) == ["not held", *of_launches] and not all_held(lab, "payload")
    assert told.found.iloc[0].value == 0.125
    begun(pressure_cpu_percent=5.0)
    assert list(quiet(lab, "payload").kept) == ["held", *of_launches]
    begun(pressure_cpu_percent=None, load_1=2.5)  # a kernel that does not tell who waited
    told = quiet(lab, "payload")
    assert list(told.kept) == ["not held", *of_launches]
    assert told.found.iloc[0].value == 1.25  # on two CPUs
    begun(pressure_cpu_percent=None, load_1=None)
    assert len(quiet(lab, "payload")) == 2  # what a run does not tell is no criterion


def test_what_was_flagged_has_a_disposition(tmp_path: Path) -> None:
    lab = lab_with(tmp_path)
    told = flagged(lab, "payload").set_index("what")
    flags = lab.points("payload").groupby("point").flags.agg(" ".join)
    modes = flags.str.contains("modes:").sum()
    assert told["count"]["points with several modes (modes:k)"] == modes > 0
    assert all(each.startswith("proposed: ") for each in told.disposition)
    (disturbed,) = (each for each in told.criterion if each.startswith("steal"))
    assert disturbed.startswith("steal above 1% of a launch")


def test_each_statement_is_traced_to_its_files(tmp_path: Path) -> None:
    lab = lab_with(tmp_path)
    tested, others = judged(lab, "payload")
    files = traced(
        lab, "payload", {"1": lab.value(lab.points("limits"), op="read", backend="clock")}
    )
    named = {id_ for each in files.claims for id_ in each.split(", ") if each}
    assert set(tested.id) == named
    untested = ", ".join(others)
    assert not set(tested.id) & set(re.findall(r"0\.\d+b?", untested))
    assert "0.12" in untested
    assert files[files.quantities == "1"].digest.iloc[0] == "".join(
        lab.run.about["files"][
            f"points/limits/{files.file[files.quantities == '1'].iloc[0]}.parquet"
        ][:12]
    )


def test_the_configuration_tells_the_version_that_judges(tmp_path: Path) -> None:
    lab, facts = lab_with(tmp_path), reference().about["machine"]["facts"]
    told = about_configuration(lab).set_index("item")
    assert told.measured["ipclab"] == facts["ipclab"] and told.judged["ipclab"] == __version__
    assert judged_by_another(lab)
    few = {name: fact for name, fact in facts.items() if name != "numpy"}
    machine = {**lab.run.about["machine"], "facts": few}
    older = replace(lab, run=replace(lab.run, about={**lab.run.about, "machine": machine}))
    unknown = about_configuration(older).set_index("item")
    assert unknown.measured["NumPy"] == "not recorded in this run"


@pytest.mark.slow
def test_an_appendix_of_ones_own_is_a_page_of_the_report() -> None:
    example = notebooks(checkout())["example"]
    assert example in notebooks_of(checkout())
    lab = Lab.of(reference(), checkout(), "ko")
    own = requirements(with_own(lab, str(example.with_suffix(".toml"))))
    assert len(own) == 2 and {*own.word} <= {"holds", "violated", "not shown"}


def test_a_notebook_of_ones_own_may_not_hide_another_and_needs_no_catalogue(tmp_path: Path) -> None:
    folder = tmp_path / "notebooks" / "own"
    folder.mkdir(parents=True)
    mine = folder / "mine.ipynb"
    nbformat.write(notebook("Our own 7 words."), mine)
    paths = Paths(ROOT, tmp_path)
    assert notebooks(paths)["mine"] == mine
    assert mine not in Sources(own=folder).files()
    assert report_title(mine, "ko") == "mine"
    mine.rename(folder / "claims.ipynb")
    assert notebooks(paths)["claims"] == paths.notebooks / "claims.ipynb"  # and the other is named


def test_points_are_short_of_undisturbed_launches_below_what_their_study_asks_for() -> None:
    run: Any = SimpleNamespace(questions=SimpleNamespace(least_launches={"a": 2, "b": 3}))
    flags = {
        ("a", "enough"): ["", "", "steal"],
        ("a", "lacks"): ["", "steal"],
        ("b", "lacks"): [""] * 2,
    }
    rows = [(*key, flag) for key, each in flags.items() for flag in each]
    assert short(run, pd.DataFrame(rows, columns=["study", "point", "flags"])) == 2
