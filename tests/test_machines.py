"""Runs compared: verdicts on made-up machines whose truth is known, what is shared, limits, rankings, words."""

import csv
import io
import math
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from ipclab.errors import UsageError
from ipclab.figures.machines import DRAWINGS
from ipclab.figures.registry import draw
from ipclab.machine import FACTS
from ipclab.compare.compared import Compared, compare
from ipclab.compare.difference import AFFECTS, differences
from ipclab.machines.facts import facts
from ipclab.machines.lab import table_of
from ipclab.compare.normalised import ALIKE, BETTER, WORSE, Ratio, limits_of
from ipclab.compare.verdicts import pairing
from ipclab.machines.view import MachinesView
from ipclab.paths import Paths
from ipclab.store.point import Point
from ipclab.lab.catalogue import Catalogue
from ipclab.lab.numbers import Formatter
from ipclab.render.report import notebooks_of
from ipclab.stats.compare import Side
from ipclab.stats.independent import compare_runs, detectable, least_p, together
from ipclab.stats.ranktest import Groups, tails
from ipclab.tables.machines import TABLES
from tests.commands import ROOT, environment
from tests.simulated import Machine, limits, points, run

STEADY = Machine(scatter=0.01, launches=12)
OLD = ROOT / "tests/data/schema-1/20261120T100000Z-a00001"
PAIRS = {
    "faster": (STEADY, Machine(ratio=0.7, limit=0.7, launches=12), "faster", "below-bound"),
    "much faster, with scatter": (Machine(scatter=0.2), Machine(0.2, 0.2, scatter=0.2), "faster", "below-bound"),
    "faster, few against many": (Machine(launches=6), Machine(0.6, 0.6, launches=20), "faster", "below-bound"),
    "slower": (STEADY, Machine(ratio=1.5, limit=1.5, launches=12), "slower", "above-bound"),
    "slower, many against few": (Machine(launches=30), Machine(1.6, 1.6, launches=7), "slower", "above-bound"),
    "slower by a tenth": (STEADY, Machine(1.12, 1.12, scatter=0.01, launches=12), "slower", "above-bound"),
    "the same": (STEADY, Machine(scatter=0.01, launches=12), "same", "within-bound"),
    "the same, unequal launches": (STEADY, Machine(scatter=0.01, launches=30), "same", "within-bound"),
    "a difference inside the bound": (STEADY, Machine(1.02, 1.02, scatter=0.01, launches=12), "same", "within-bound"),
    "too much scatter": (Machine(scatter=0.4), Machine(1.1, 1.1, scatter=0.4), "undecided", "wide-interval"),
    "too few launches": (Machine(launches=2), Machine(ratio=3, limit=3, launches=2), "undecided", "few-launches"),
    "one launch": (Machine(launches=1), Machine(ratio=3, limit=3, launches=1), "undecided", "few-launches"),
}


def counts(found: Compared) -> dict[str, int]:
    return {verdict: count for verdict, count in found.pairings[0].counts().items() if count}


@pytest.mark.parametrize("name", PAIRS)
def test_made_up_pairs_are_judged_right(name: str) -> None:
    first, second, verdict, reason = PAIRS[name]
    pair = pairing(run("A", first, 1), run("B", second, 2))
    assert Counter((each.found.verdict, each.found.reason) for each in pair.judged) == {(verdict, reason): 24}
    assert {each.found.launches for each in pair.judged} == {(first.launches, second.launches)}
    for each in pair.judged:
        if each.found.low is not None and each.found.high is not None:
            assert each.found.ratio is not None
            assert each.found.low <= each.found.ratio <= each.found.high
            assert each.found.detectable is not None and each.found.detectable >= 0.05


@pytest.mark.parametrize(
    ("second", "measured", "reason"),
    [
        (Machine(relation="smt"), None, "differs:relation"),
        (Machine(), points(wait="spin"), "differs:wait"),
        (Machine(), points(sizes=(200, 20_000)), "differs:size_bytes"),
        (Machine(), points(placements=("cross-smt", "free")), "differs:placement"),
    ],
)
def test_other_conditions_are_not_comparable(second: Machine, measured: list[Point] | None, reason: str) -> None:
    found = pairing(run("A", Machine(), 1, points()), run("B", second, 2, measured or points()))
    refused = [each for each in found.judged if each.found.verdict == "not comparable"]
    assert {each.found.reason for each in refused} == {reason}
    assert len(refused) == (6 if reason == "differs:relation" else 12)
    assert all(each.found.ratio is None for each in refused)
    assert found.unshared == []


def test_identical_machines_are_hardly_ever_called_different() -> None:
    wrong = 0
    sides = ((8, 8), (7, 12), (20, 6), (12, 12))
    for number in range(200):
        a, b = (Machine(scatter=0.16, session=0.01, launches=count) for count in sides[number % len(sides)])
        found = pairing(run("A", a, 2 * number, points()), run("B", b, 2 * number + 1, points()))
        wrong += any(each.found.verdict in ("faster", "slower") for each in found.judged)
    assert wrong <= 5  # 2.5 %, where the issue allows 5


def test_what_is_said_to_be_detectable_is_detected() -> None:
    random = np.random.default_rng(3)

    def side(effect: float) -> Side:
        return Side(list(1e4 * (1 + effect) * np.exp(random.normal(0, 0.1, 12))))

    typical = [compare_runs([(side(0), side(0))])[0].detectable or 0 for _ in range(60)]
    effect = float(np.median(typical))
    found = [compare_runs([(side(0), side(effect))])[0].verdict for _ in range(60)]
    assert found.count("slower") >= 50
    assert "faster" not in found
    assert detectable(None, 1.0, 0.05, 0.05) is None


def test_one_sided_tests_are_exact() -> None:
    groups = Groups(np.array([1.0, 2, 3]), np.array([4.0, 5, 6, 7]), np.zeros(3, np.int64), np.zeros(4, np.int64))
    assert tails(groups) == pytest.approx((1.0, 1 / math.comb(7, 3)))
    assert tails(groups, 10.0) == pytest.approx((1 / math.comb(7, 3), 1.0))
    assert least_p((3, 4)) == 2 / math.comb(7, 3)
    assert together((7, 7), 391) == 5
    many = Groups(np.arange(40.0), np.arange(40.0) + 9, np.zeros(40, np.int64), np.zeros(40, np.int64))
    early, late = tails(many)
    assert early > 0.99 and late < 0.01


def test_runs_compare_on_what_they_share_and_say_what_they_do_not() -> None:
    first = run("A", STEADY, 1)
    lone = points(sizes=(500_000,))
    failed, absent = lone[0].id, lone[1].id
    fewer = [*points(sizes=(100,)), *limits()]
    second = run("B", STEADY, 2, [*fewer, *(Point("payload", "file", 84, "same", {}, "", ("write",)),)][:-1])
    found = pairing(first, second)
    assert len(found.judged) == 6 + 12
    assert Counter((each.side, each.reason) for each in found.unshared) == {(0, "not-measured"): 6}
    more = run("C", STEADY, 3, [*points(), *lone])
    other = run("D", STEADY, 4, points(), failures={failed: "worker died"}, points={absent: "not testable here: x"})
    reasons = Counter((each.side, each.reason) for each in pairing(more, other).unshared)
    assert reasons == {(0, "failed"): 1, (0, "not-testable"): 1, (0, "not-measured"): 4}
    assert Counter((e.side, e.reason) for e in pairing(other, more).unshared) == {
        (1, k[1]): v for k, v in reasons.items()
    }


def test_runs_that_share_nothing_give_no_verdict() -> None:
    found = compare([run("A", STEADY, 1, points()), run("B", STEADY, 2, limits())])
    assert counts(found) == {}
    named = {fact.name: fact.value for fact in facts(found)}
    assert named["compare.points.shared"] == 0
    assert named["compare.says.use"] is None and named["compare.ratio.time"] is None


def test_fewer_than_two_runs_or_one_twice_is_wrong_use() -> None:
    one = run("A", STEADY, 1)
    for wrong in ([], [one], [one, one]):
        with pytest.raises(UsageError):
            compare(wrong)


@pytest.mark.parametrize(
    ("machine", "use"),
    [(Machine(0.5, 0.5, 0.005), ALIKE), (Machine(0.5, 1.0, 0.005), BETTER), (Machine(1.0, 0.5, 0.005), WORSE)],
)
def test_a_faster_machine_is_told_from_a_better_used_one(machine: Machine, use: str) -> None:
    found = compare([run("A", Machine(scatter=0.005), 1), run("B", machine, 2)])
    assert Counter(each.verdict for each in found.normalised[0]) == {use: 12}
    for each in found.normalised[0]:
        assert each.use.value == pytest.approx(each.time.value / each.limit.value)
        assert each.overs[1] / each.overs[0] == pytest.approx(each.use.value, rel=0.02)
    named = {fact.name: fact for fact in facts(found)}
    assert ("the machine makes most" in str(named["compare.says.use"].value)) == (use == ALIKE)


def test_a_ratio_over_another_keeps_its_ends_in_order() -> None:
    found = Ratio(2.0, 1.8, 2.4).over(Ratio(1.0, 0.9, 1.2))
    assert found.value == 2.0
    assert found.low < 1.8 and found.high > 2.4


def test_every_limit_is_that_of_the_same_work() -> None:
    shared = Point("payload", "posix-shm", 84, "cross", {"arm": "handover"})
    assert limits_of(shared, "handover") == {
        ("memcpy", "copy", 84, "same"): 2,
        ("futex-wake", "wake", 0, "cross"): 1,
    }
    spinning = Point("round_trip", "posix-shm", 100, "same", {"wait": "spin"})
    assert limits_of(spinning, "round-trip") == {("echo-shm-spin", "round-trip", 100, "same"): 1}
    assert limits_of(Point("other", "unheard", 1, "same", {}), "op") == {}


def test_a_change_of_order_is_shown_by_both_runs() -> None:
    first = run("A", Machine(scatter=0.01, launches=10), 1)
    second = run("B", Machine(scatter=0.01, launches=10, by_backend={"unix": 2.0}), 2)
    found = compare([first, second]).rankings[0]
    assert found.pairs == 12
    assert {(flip.faster, flip.slower) for flip in found.shown()} == {("unix", "tcp"), ("unix", "pipe")}
    assert {flip.group[-1] for flip in found.shown()} == {100, 10_000}
    assert all(flip.ratios[0] > 1 > flip.ratios[1] for flip in found.flips)
    assert set(found.fastest.values()) == {("unix", "pipe")}
    same = compare([first, run("C", Machine(scatter=0.01, launches=10), 3)]).rankings[0]
    assert same.flips == []


def test_differences_are_grouped_by_what_they_affect() -> None:
    named = [name for names in AFFECTS.values() for name in names]
    assert len(named) == len(set(named))
    assert set(named) <= {spec.name for spec in FACTS}
    assert {spec.name for spec in FACTS if spec.identifies} <= set(named)
    momentary = {"uptime", "load_one", "running", "shm_free", "memory_available", "steal", "pressure_cpu"}
    assert not momentary & set(named)
    found = differences([run("A", STEADY, 1).about, run("B", Machine(facts={"page_size": 16384}), 2).about])
    assert [(each.name, each.values) for each in found.different] == [
        ("cpu_model", ("Example A", "Example B")),
        ("page_size", (4096, 16384)),
    ]
    assert sum(found.same.values()) == 2  # cores and kernel release


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["compare"], "a comparison needs two runs"),
        (["compare", str(OLD)], "a comparison needs two runs"),
        (["compare", str(OLD), str(OLD)], "cannot be compared with itself"),
        (["compare", str(OLD), "nowhere"], "is no run"),
        (["compare", str(OLD), str(OLD), "--lang", "kr"], "there are ko, zh, en"),
        (["bundle", "nowhere", "x"], "is no run"),
        (["import", "nowhere"], "is no file"),
    ],
)
def test_wrong_use_is_one_line(tmp_path: Path, words: list[str], says: str) -> None:
    command = [sys.executable, "-m", "ipclab", *words]
    env = environment(tmp_path)
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert says in done.stderr


def test_any_number_of_runs_and_a_table_of_every_point() -> None:
    found = compare([run(name, Machine(ratio=1 + number), number) for number, name in enumerate("ABCDE")])
    assert found.names() == list("ABCDE")
    assert len(found.pairings) == len(found.normalised) == len(found.rankings) == 4
    table = list(csv.DictReader(io.StringIO(table_of(found))))
    assert len(table) == 4 * 24
    assert {row["first"] for row in table} == {"A"}
    assert {row["verdict"] for row in table} <= {"faster", "slower", "same", "undecided"}
    assert table_of(found) == table_of(compare(found.runs))


def view(found: Compared, lang: str) -> MachinesView:
    words = Catalogue.load(lang)
    known = {fact.name: fact for fact in facts(found)}
    first = found.runs[0]
    head = {"lang": lang, "about": first.about, "facts": known, "rows": first.rows, "catalogue": words}
    return MachinesView(**head, numbers=Formatter(lang, words.translate), folder=Path(), compared=found)  # type: ignore[arg-type]


@pytest.mark.parametrize(("lang", "runs"), [("en", "AB"), ("ko", "ABC"), ("zh", "ABCDEF")])
def test_every_table_and_figure_takes_any_number_of_runs(lang: str, runs: str) -> None:
    made = [run(name, Machine(1 + number / 2, 1.2, launches=6 + number), number) for number, name in enumerate(runs)]
    lone = run("X", Machine(relation="smt"), 9, [*points(sizes=(100, 200)), *limits()])
    shown = view(compare([*made, lone]), lang)
    for name, make in TABLES.items():
        table = make(shown)
        assert table.caption and all(len(row) == len(table.columns) for row in table.rows), name
    assert len(TABLES["machines-overview"](shown).rows) == len(runs) + 1
    assert len(TABLES["machines-points"](shown).rows) >= 24 * (len(runs) - 1)
    for name, drawing in DRAWINGS.items():
        figure = draw(shown, name, None, DRAWINGS)
        assert figure.caption and figure.alt and "<svg" in figure.svg
        assert drawing.width <= 7
    assert draw(shown, "machines-summary", None, DRAWINGS).svg == draw(shown, "machines-summary", None, DRAWINGS).svg
    with pytest.raises(UsageError, match="no figure"):
        draw(shown, "payload-bandwidth", None, DRAWINGS)


def test_notebooks_of_several_runs_are_no_part_of_a_report_on_one() -> None:
    several = {path.stem for path in notebooks_of(Paths(ROOT), "runs")}
    assert several == {"07_machines"}
    assert not several & {path.stem for path in notebooks_of(Paths(ROOT), "run")}


def test_facts_are_named_once_and_follow_the_verdicts() -> None:
    found = compare([run("A", STEADY, 1), run("B", Machine(0.7, 0.7, 0.01, launches=12), 2)])
    every = list(facts(found))
    named = {fact.name: fact.value for fact in every}
    assert len(named) == len(every)
    assert named["compare.points.faster"] == named["compare.points.shared"] == 12
    assert named["compare.ratio.time"] == pytest.approx(0.7, rel=0.03)
    assert "faster in the second run" in str(named["compare.says.overall"])
    assert named["compare.points.together"] == 1
