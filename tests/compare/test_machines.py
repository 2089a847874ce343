"""Runs compared: verdicts on made-up machines whose truth is known, what is shared, limits, order,
facts, words.
"""

from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from ipclab.bounds import suspects
from ipclab.commands.cli import commands
from ipclab.errors import LabError
from ipclab.machine.facts import FACTS
from ipclab.paths import Paths
from ipclab.report.compare import FAIL_ON, shared
from ipclab.report.compare.facts import differing_facts
from ipclab.report.compare.held import ComparedRun
from ipclab.report.compare.order import order_changes
from ipclab.report.compare.shared import (
    ALIKE,
    BETTER,
    COLUMNS,
    WORSE,
    fail,
    failing,
    pair_lines,
    run_names,
)
from ipclab.report.compare.shared import shared_points as compared
from ipclab.report.pages.report import notebooks_of
from ipclab.store.point import Point
from tests.support.bundled import make_run, too_fast
from tests.support.commands import ROOT, Run
from tests.support.simulated import Machine, limits, points, run

STEADY = Machine(scatter=0.01, launches=12)
PAIRS = {
    "faster": (STEADY, Machine(0.7, 0.7, launches=12), "faster", "below-bound"),
    "many against few": (
        Machine(launches=30),
        Machine(1.6, 1.6, launches=7),
        "slower",
        "above-bound",
    ),
    "by a tenth": (STEADY, Machine(1.12, 1.12, 0.01, launches=12), "slower", "above-bound"),
    "inside the bound": (STEADY, Machine(1.02, 1.02, 0.01, launches=30), "same", "within-bound"),
    "three launches": (Machine(launches=3), Machine(3, 3, launches=3), "slower", "above-bound"),
    "scatter": (Machine(scatter=0.4), Machine(1.1, 1.1, 0.4), "undecided", "wide-interval"),
    "two launches": (Machine(launches=2), Machine(3, 3, launches=2), "not tested", "few-launches"),
}


@pytest.mark.parametrize("name", PAIRS)
def test_made_up_pairs_are_judged_right(name: str) -> None:
    first, second, verdict, reason = PAIRS[name]
    found = compared([run("A", first, 1), run("B", second, 2)])
    assert Counter(zip(found.verdict, found.reason, strict=True)) == {(verdict, reason): 24}
    assert set(found.launches) == {(first.launches, second.launches)}
    known = found.dropna(subset=["low", "high"])
    assert (known.low <= known.ratio).all() and (known.ratio <= known.high).all()
    assert (known.detectable >= 0.05).all()


@pytest.mark.parametrize(
    ("second", "measured", "reason"),
    [
        (Machine(relation="smt"), None, "differs:relation"),
        (Machine(), points(wait="spin"), "differs:wait"),
        (Machine(), points(sizes=(200, 20_000)), "differs:size_bytes"),
        (Machine(), points(placements=("cross-smt", "free")), "differs:placement"),
    ],
)
def test_other_conditions_are_not_comparable(
    second: Machine, measured: list[Point] | None, reason: str
) -> None:
    found = compared([run("A", Machine(), 1, points()), run("B", second, 2, measured or points())])
    refused = found[found.verdict == "not comparable"]
    assert set(refused.reason) == {reason}
    assert len(refused) == (6 if reason == "differs:relation" else 12) and len(found) == 12
    assert refused.ratio.isna().all()


def lone(runs: list[ComparedRun]) -> Counter[tuple[str, str]]:
    found = compared(runs)
    alone = found[found.verdict.str.startswith("only")]
    return Counter(zip(alone.verdict, alone.reason, strict=True))


def test_runs_compare_on_what_they_share_and_say_what_they_do_not() -> None:
    fewer = [*points(sizes=(100,)), *limits()]
    pair = [run("A", STEADY, 1), run("B", STEADY, 2, fewer)]
    assert lone(pair) == {("only-first", "not-measured"): 6}
    (line,) = pair_lines(compared(pair))
    assert line.startswith("B over A: 0 faster, 0 slower, 6 same, 0 undecided, 0 not tested, ")
    assert line.endswith("; 6 in one of them only")
    extra = points(sizes=(500_000,))
    more = run("C", STEADY, 3, [*points(), *extra])
    failures, refused = {extra[0].id: "worker died"}, {extra[1].id: "not testable here: x"}
    other = run("D", STEADY, 4, points(), failures=failures, points=refused)
    reasons = {"failed": 1, "not-testable": 1, "not-measured": 4}
    for only, both in (("only-first", [more, other]), ("only-second", [other, more])):
        assert lone(both) == {(only, reason): count for reason, count in reasons.items()}
        assert len(failing(compared(both), "missing")) == 6


def test_runs_that_share_nothing_give_no_verdict() -> None:
    found = compared([run("A", STEADY, 1, points()), run("B", STEADY, 2, limits())])
    assert Counter(found.verdict) == {"only-first": 12, "only-second": 12}
    assert found.used.isna().all()


@pytest.mark.parametrize(
    ("machine", "use"),
    [
        (Machine(0.5, 0.5, 0.005), ALIKE),
        (Machine(0.5, 1.0, 0.005), BETTER),
        (Machine(1.0, 0.5, 0.005), WORSE),
    ],
)
def test_a_faster_machine_is_told_from_a_better_used_one(machine: Machine, use: str) -> None:
    found = compared([run("A", Machine(scatter=0.005), 1), run("B", machine, 2)])
    used = found[found.used.notna()]
    assert Counter(used.used) == {use: 12} and set(used.study) == {"round_trip"}
    assert used.use.to_numpy(float) == pytest.approx((used.ratio / used.limit).to_numpy(float))
    assert used.limit.to_numpy(float) == pytest.approx(machine.limit, rel=0.02)
    assert (used.use_low < used.use).all() and (used.use < used.use_high).all()


def test_times_without_scatter_are_used_as_they_are() -> None:
    found = compared([run("A", Machine(scatter=0), 1), run("B", Machine(0.5, 1.0, 0), 2)])
    used = found[found.reason == "no-variance"].dropna(subset=["limit"])
    assert len(used) == 12
    assert used[["use_low", "use", "use_high"]].to_numpy(float) == pytest.approx(0.5)
    assert set(used.used) == {BETTER}


def test_a_change_of_order_is_shown_by_both_runs() -> None:
    first = run("A", Machine(scatter=0.01, launches=10), 1)
    second = run("B", Machine(scatter=0.01, launches=10, by_backend={"unix": 2.0}), 2)
    found = order_changes([first, second])
    assert len(found) == 12
    shown = found[found.shown]
    assert set(zip(shown.quick, shown.slow, strict=True)) == {("unix", "tcp"), ("unix", "pipe")}
    assert set(shown.size_bytes) == {100, 10_000}
    turned = found[found.turned]
    assert (turned.ratio > 1).all() and (turned.ratio_second < 1).all()
    assert not order_changes([first, run("C", Machine(scatter=0.01, launches=10), 3)]).turned.any()


def test_differences_are_grouped_by_what_they_affect() -> None:
    named = [fact.name for fact in FACTS if fact.affects]
    assert {fact.name for fact in FACTS if fact.identifies} <= set(named)
    assert not {"shm_free", "scratch_free"} & set(named)  # momentary
    mine = {"cpu_features": ["a", "c"], "git_commit": "fedcba9876543210", "libc": "glibc 2.36"}
    other = {"cpu_features": ["a", "b"], "git_commit": "0123456789abcdef", "libc": None}
    machines = Machine(facts=mine), Machine(facts={**other, "page_size": 16384})
    found = differing_facts([run(*each) for each in zip("AB", machines, (1, 2), strict=True)])
    differ = found[~found.same].set_index("name")
    assert {name: (row.A, row.B) for name, row in differ.iterrows()} == {
        "cpu_model": ("Example A", "Example B"),
        "cpu_features": ("c", "b"),
        "page_size": (4096, 16384),
        "libc": ("glibc 2.36", "not offered by this machine"),
        "git_commit": ("fedcba9876", "0123456789"),
    }
    assert differ.loc["page_size"].unit == "bytes"
    assert found.same.sum() == 2  # cores and kernel release


def test_any_number_of_runs_and_a_row_for_every_point() -> None:
    runs = [run(name, Machine(ratio=1 + number), number) for number, name in enumerate("ABCDE")]
    found = compared(runs)
    assert run_names(runs) == list("ABCDE") and list(found.columns) == list(COLUMNS)
    assert Counter(found.pair) == {f"A → {name}": 24 for name in "BCDE"}
    assert len(pair_lines(found)) == 4
    pd.testing.assert_frame_equal(found, compared(runs))


@pytest.mark.parametrize(
    ("second", "counts"),
    [
        (STEADY, {"slower": 0, "faster": 0, "undecided": 0, "missing": 0, "limits": 0}),
        (Machine(1.5, scatter=0.01, launches=12), {"slower": 12, "limits": 0}),
        (Machine(0.7, 0.7, 0.01, launches=12), {"faster": 12, "slower": 0, "limits": 12}),
        (Machine(launches=1), {"undecided": 12, "slower": 0, "limits": 0}),
    ],
    ids=["alike", "mechanisms slower", "all faster", "too few launches"],
)
def test_a_comparison_fails_on_the_verdicts_asked_for(
    second: Machine, counts: dict[str, int]
) -> None:
    found = compared([run("A", STEADY, 1), run("B", second, 2)])
    assert {word: len(failing(found, word)) for word in counts} == counts
    for word in (word for word, count in counts.items() if count):
        with pytest.raises(LabError, match=f"{counts[word]} points fail on '{word}'") as raised:
            fail(found, [word])
        assert raised.value.exit_code == {"slower": 1, "faster": 1}.get(word, 3)
    fail(found, [word for word, count in counts.items() if not count])
    if counts.get("faster"):  # what is shown decides before what is not
        with pytest.raises(LabError) as raised:
            fail(found, [*reversed(FAIL_ON)])
        assert raised.value.exit_code == 1


def test_wrong_use_is_one_line(ipclab: Run) -> None:
    old = str(ROOT / "tests/data/schema-1/20261120T100000Z-a00001")
    for words, says in (
        ([old], "a comparison needs two runs"),
        ([old, old], "cannot be compared with itself"),
        ([old, "nowhere"], "is no run: there is no such file or folder"),
        ([old, old, "--fail-on", "slowr"], "did you mean 'slower'?"),
    ):
        done = ipclab("compare", *words)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert says in done.stderr


def test_a_comparison_that_itself_fails_is_not_a_verdict(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    runs = [str(make_run(tmp_path / "runs", name).path) for name in ("aaaa", "bbbb")]

    def failing_one(runs: object) -> pd.DataFrame:
        raise LabError("the disk is full")

    monkeypatch.setattr(suspects, "checked", lambda run: [])
    monkeypatch.setattr(shared, "shared_points", failing_one)
    for words, code in ((["--fail-on", "slower"], 3), ([], 1)):
        done = CliRunner().invoke(commands, ["compare", *runs, "--table-only", *words])
        assert isinstance(done.exception, LabError)
        assert (str(done.exception), done.exception.exit_code) == ("the disk is full", code)


@pytest.mark.slow
def test_results_that_cannot_be_are_neither_compared_nor_chosen(
    ipclab: Run, tmp_path: Path
) -> None:
    fast, other = (make_run(tmp_path / "data" / "runs", name) for name in ("aaaa", "bbbb"))
    need = ["choose", "--way", "round-trip", "--size", "100", "--run"]
    answered = ipclab(*need, str(other.path))
    first, *_, last = answered.stdout.splitlines()
    assert (
        first
        == f"not measured here, but on Example bbbb (machine {other.machine}) on 2026-11-20: {other.id}"
    )
    assert last == f"run {other.id} (quick, 2026-11-20)" and "unix" in answered.stdout
    too_fast(fast)
    both = ipclab("compare", str(other.path), str(fast.path), "--table-only")
    assert [line.rpartition(": ")[2] for line in both.stdout.splitlines()] == [other.id, fast.id]
    for done in (both, ipclab(*need, str(fast.path))):
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert "2 results of" in done.stderr and "are physically impossible" in done.stderr


def test_notebooks_of_several_runs_are_no_part_of_a_report_on_one() -> None:
    several = {path.stem for path in notebooks_of(Paths(ROOT), "runs")}
    assert several == {"machines"}
    assert not several & {path.stem for path in notebooks_of(Paths(ROOT), "run")}


@pytest.mark.slow
def test_two_small_runs_of_one_machine_are_compared_to_the_end(ipclab: Run, tmp_path: Path) -> None:
    runs = [str(make_run(tmp_path / name / "runs", "aaaa").path) for name in ("one", "other")]
    out = tmp_path / "out"
    done = ipclab("compare", *runs, "--lang", "en", "--format", "html", "--out", str(out))
    assert (done.returncode, "Traceback" in done.stdout + done.stderr) == (0, False), done.stderr
    assert [page.name for page in out.rglob("machines*.html")] != []
