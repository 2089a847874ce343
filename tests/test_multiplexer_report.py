"""The multiplexer study's facts, tables, figures and claims, from made-up launches."""

from pathlib import Path

import pytest

from ipclab.claims import multiplexer as claims
from ipclab.claims.claim import FAILS, HOLDS, NOT_TESTABLE, judge
from ipclab.claims.published import texts
from ipclab.facts import multiplexer as facts
from ipclab.facts.comparisons import contests, entries
from ipclab.facts.fact import Fact
from ipclab.facts.rows import Rows, tidy
from ipclab.figures.multiplexer_drawings import MULTIPLEXER
from ipclab.lab.style import canvas
from ipclab.paths import Paths
from ipclab.store.point import Point
from ipclab.studies.profile import PROFILES
from ipclab.lab.catalogue import Catalogue
from ipclab.lab.numbers import Formatter
from ipclab.store.samples import Measured
from ipclab.studies.interface import Sweep
from ipclab.studies.multiplexer import NODES, output
from ipclab.studies.multiplexer.study import MultiplexerStudy, cell
from ipclab.studies.multiplexer.study import outcome as outcome_of
from ipclab.tables.registry import TABLES
from ipclab.view import View
from tests.commands import ROOT

STUDY = MultiplexerStudy()
POINTS = STUDY.points(PROFILES["quick"], Sweep())


def made(each: Point, ns: float, **counters: float) -> Measured:
    """Ten launches of a made-up time, a little apart."""
    op = str(each.levels["op"])
    text = " ".join(f"{value} {unit}" for unit, value in counters.items())
    launches = []
    for k in range(10):
        line = f"{PREFIX}{cell(each)}-2 100 {ns * (1 + k / 1000):.3f} ns/op {text}\n"
        launches.append(STUDY.collect(each, {"program": outcome_of(f"{line}PASS\n", cell(each), op)}, 1))
    return Measured(each, launches, "budget")


PREFIX = output.PREFIX
SPEED = {"original": 1.0, "optimized": 0.7, "hybrid": 0.6, "adaptive": 0.4, "direct": 1.0, "direct-again": 1.0}


def results() -> list[Measured]:
    """Every point with times by node, and the bytes of the published design."""
    found = []
    for each in POINTS:
        frames = each.size_bytes // 1024 + 2 if each.backend in ("original", "factorial") else 18
        taken = frames * (24 if each.levels["pool"] == "yes" or each.backend == "optimized" else 16)
        counters: dict[str, float] = {"B/op": taken, "allocs/op": frames}
        if each.levels["op"] == "end-to-end":
            counters |= {"recv-B/op": each.size_bytes * (5 if each.backend == "hybrid" else 1), "recv-allocs/op": 2}
        if int(each.levels["streams"]) > 1:
            counters["fairness"] = 1.5
        if each.backend == "adaptive":
            counters |= {"B/op": 0, "allocs/op": 0}
        found.append(made(each, each.size_bytes * SPEED.get(each.backend, 1.0), **counters))
    return found


@pytest.fixture(scope="module")
def measured() -> View:
    every = results()
    found = contests([entry for each in every for entry in entries(each)])
    return view(tidy(every), found)


def view(rows: Rows, found: list, lang: str = "en") -> View:  # type: ignore[type-arg]
    words = Catalogue.load(lang)
    named = {fact.name: fact for fact in facts.facts(rows, found)}
    named |= {f"text.{name}": fact for name, fact in texts(Paths(ROOT)).items()}
    return View(lang, {"id": "made"}, named, rows, words, Formatter(lang, words.translate), Path(), found)


def test_facts_have_unique_names_and_no_invented_value(measured: View) -> None:
    empty = list(facts.facts(Rows(), []))
    names = [fact.name for fact in empty]
    assert len(set(names)) == len(names)
    assert {fact.kind for fact in empty if fact.value is not None} <= {"computed", "published"}
    full = measured.facts
    assert [name for name in names if full[name].value is None] == [
        f"multiplexer.{side}.{node}.{name}.receiver_bytes"
        for side in ("write", "receive")
        for node in NODES
        for name in facts.SIZE_NAMES.values()
    ] + [f"multiplexer.streams.{node}.one.fairness" for node in NODES]
    assert full["multiplexer.costs.pool"].value == 0.5
    assert full["multiplexer.adaptive.pipe.largest"].value == pytest.approx(0.4 / 0.6)
    assert full["multiplexer.pipe.hybrid.largest.bytes"].value == 5 * 2**20 + 18 * 16
    assert full["multiplexer.advice.file.unix"].value == "adaptive"
    assert full["multiplexer.says.best"].value == facts.BEST[1]
    assert full["multiplexer.says.pool"].value == facts.POOL[0]
    assert full["multiplexer.says.ends"].value == facts.ENDS[0]


def test_every_table_and_figure_is_made_with_and_without_results(measured: View) -> None:
    for each in (measured, view(Rows(), [])):
        for name in (name for name in TABLES if name.startswith("multiplexer-")):
            assert TABLES[name](each).rows, name
        for drawing in MULTIPLEXER.values():
            with canvas("en", drawing.width, drawing.height) as drawn:
                drawing.draw(each, drawn)
            assert each.say(drawing.alt)
    advice = TABLES["multiplexer-choice"](measured).rows
    assert [row[3].split(" ")[0] for row in advice] == ["adaptive"] * 4
    assert advice[3][:3] == ["file transfer", "1\u00a0MiB", "hybrid"]


OWN = texts(Paths(ROOT))
ON_OWN_TABLE = {
    **dict.fromkeys(("2.1", "2.2", "2.3", "2.4", "2.4b", "2.4c", "2.5", "2.6", "2.8"), HOLDS),
    **{"2.7": NOT_TESTABLE, "2.9": NOT_TESTABLE, "2.10": FAILS, "2.11": FAILS},
}


def test_verdicts_on_the_texts_own_table() -> None:
    assert {claim.id: judge(claim, OWN).word for claim in claims.CLAIMS} == ON_OWN_TABLE
    assert {claim.id for claim in claims.CLAIMS if claim.unstated} == {"2.7", "2.9"}
    assert [round(each.value, 4) for each in claims.named_best(OWN)] == [0.9169, 0.9896, 0.9235]


def test_claims_follow_the_data(measured: View) -> None:
    words = {claim.id: judge(claim, measured.facts).word for claim in claims.CLAIMS}
    assert words == {
        **dict.fromkeys(("2.2", "2.3", "2.4b", "2.4c"), HOLDS),
        **{"2.1": FAILS, "2.4": FAILS, "2.5": FAILS, "2.6": FAILS, "2.7": FAILS, "2.8": FAILS, "2.9": FAILS},
        **{"2.10": FAILS, "2.11": FAILS},
    }
    counted = {
        f"multiplexer.published.{node}.largest.allocations": Fact("x", value, "count")
        for node, value in (("original", 1026), ("hybrid", 66))
    }
    exact = next(claim for claim in claims.CLAIMS if claim.id == "2.5")
    assert judge(exact, counted).word == HOLDS
