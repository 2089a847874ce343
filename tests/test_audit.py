"""The audit: every claim has its three verdicts, which change when the facts do; so has a person's own claim."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

from ipclab.claims import corrected, payload, registry, round_trip, shared_dict
from ipclab.claims.audit import audited
from ipclab.claims.claim import (
    FAILS,
    HOLDS,
    NOT_TESTABLE,
    UNDECIDED,
    Claim,
    Need,
    Quantity,
    at_least,
    exact,
    judge,
    judge_all,
)
from ipclab.claims.custom import parse
from ipclab.claims.published import texts
from ipclab.claims.registry import CLAIMS
from ipclab.errors import UsageError
from ipclab.facts.fact import Fact
from ipclab.facts.rows import Rows
from ipclab.figures import claims as figures
from ipclab.lab import style
from ipclab.figures.claims import deciding, reference
from ipclab.paths import Paths
from ipclab.lab import prose
from ipclab.lab.catalogue import Catalogue
from ipclab.lab.numbers import Formatter
from ipclab.lab.parameters import read as parameters_of
from ipclab.render.words import digits
from ipclab.render.staleness import MANIFEST, inputs, stale
from ipclab.tables import claims as tables
from ipclab.view import View
from tests.commands import ROOT
from tests.test_documents import blocks
from tests.test_published import WRONG

OWN = texts(Paths(ROOT))
METHODS = (
    *(f"0.{n}" for n in ("1", "1b", *range(2, 13))),
    *(f"1.{n}" for n in ("1", "2", "2b", *range(3, 10))),
    *(f"2.{n}" for n in range(1, 12)),
    *(f"3.{n}" for n in range(1, 7)),
    *(f"4.{n}" for n in range(1, 17)),
)
FAIL_ON_OWN_TABLE = {
    *("0.1", "0.2", "0.3", "0.10", "0.12", "1.2b", "1.6", "2.10", "2.11", "3.6", "4.5"),
}
UNSTATED = {"0.7", "0.8", "0.9", "1.5", "1.7", "1.8", "1.9", "2.7", "2.9", "4.2"}
COUNTED = {"3.6"}  # asks whether facts are there, so that no interval can straddle its bound
BY_ID = {claim.id: claim for claim in CLAIMS}


def test_every_claim_is_there_once_in_the_order_of_the_texts() -> None:
    assert len(METHODS) == 56
    ids = [claim.id for claim in CLAIMS]
    assert len(set(ids)) == len(ids)
    assert set(METHODS) <= set(ids)
    assert [claim.seed for claim in CLAIMS] == sorted(claim.seed for claim in CLAIMS)
    assert [claim.seed for claim in CLAIMS] == [seed for seed, (_, stated) in registry.TEXTS.items() for _ in stated]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_every_claim_has_a_verdict_on_its_own_table_or_says_why_not(claim: Claim) -> None:
    own = judge_all(claim, OWN, {}).own
    expected = NOT_TESTABLE if claim.id in UNSTATED else FAILS if claim.id in FAIL_ON_OWN_TABLE else HOLDS
    assert own.word == expected
    assert bool(claim.unstated) == (expected == NOT_TESTABLE)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_every_claim_is_told_in_full(claim: Claim) -> None:
    assert claim.quote
    assert claim.section
    assert claim.bounds[0] <= claim.bounds[1]
    assert {name for name, _ in prose.placeholders(claim.meaning)} <= claim.figures.keys()
    assert bool(claim.fair) == bool(claim.adds)
    for msgid in (claim.meaning, claim.unstated, claim.adds, *(need.words for need in claim.needs)):
        assert digits(msgid) == []


# Where a search for facts begins: amounts that differ, everything else at one.
START = {f"shared_dict.bytes.pickle.{name}": 10.0**power for power, name in enumerate(("medium", "large", "largest"))}


class Asked(dict[str, Fact]):
    """Facts that remember what they were asked for."""

    def __init__(self, facts: Mapping[str, Fact]) -> None:
        super().__init__(facts)
        self.names: list[str] = []

    def get(self, name: str, default: Fact | None = None) -> Fact | None:  # type: ignore[override]
        self.names.append(name)
        return super().get(name, default)

    def __contains__(self, name: object) -> bool:
        self.names.append(str(name))
        return super().__contains__(name)


def wanted(claim: Claim) -> dict[str, Fact]:
    """Return the facts that a rule reads, each with the text's value or one."""
    facts: dict[str, Fact] = {}
    while True:
        asked = Asked(facts)
        judge(claim, asked)
        missing = [name for name in asked.names if name not in facts]
        if not missing:
            return facts
        facts |= {name: plain(name, OWN[name].value if name in OWN else START.get(name, 1.0)) for name in missing}


def plain(name: str, value: object, width: float = 1.0) -> Fact:
    """Return a measured fact; `width` is its interval's ends over and under its value."""
    if not isinstance(value, int | float):
        return Fact(name, None, "1")
    ends = sorted((value / width, value * width))
    return Fact(name, float(value), "1", "3 x 100", ends[0], ends[1])


FACTORS = [sign * 10.0**power for power in (0.02, 0.1, 0.3, 1, 2, 4, 9) for sign in (1, -1)]
FACTORS += [10.0**-power for power in (0.02, 0.1, 0.3, 1, 2, 4, 9)]


def neighbours(claim: Claim, facts: dict[str, Fact]) -> Iterator[dict[str, Fact]]:
    """Yield the facts with one of them changed."""
    ends = [end for end in claim.bounds if abs(end) < inf]
    for name, fact in facts.items():
        value = fact.value if isinstance(fact.value, int | float) else 0.0
        for other in (*ends, *(value * factor for factor in FACTORS), 1.0, 0.0):
            yield {**facts, name: plain(name, other)}
        yield {**facts, name: Fact(name, None, "1")}


def word_of(claim: Claim, facts: dict[str, Fact]) -> str:
    """Return the verdict; none where the facts are no possible ones, such as a time below zero."""
    try:
        return judge(claim, facts).word
    except (ValueError, ZeroDivisionError):
        return ""


def violation(claim: Claim, facts: dict[str, Fact]) -> float:
    """Return how far the quantities lie outside the bounds, all together; infinite where nothing can be said."""
    low, high = claim.bounds
    if not word_of(claim, facts):
        return inf
    found = judge(claim, facts)
    if found.word == HOLDS:
        return 0.0
    outside = [max(low - each.value, each.value - high, 0.0) / (1 + abs(each.value)) for each in found.found]
    return sum(outside) if outside else inf


def reach(claim: Claim, word: str) -> dict[str, Fact]:
    """Return facts that give the verdict `word`, by changing one fact after the other."""
    facts = wanted(claim)
    for _ in range(60):
        if word_of(claim, facts) == word:
            return facts
        around = list(neighbours(claim, facts))
        there = next((each for each in around if word_of(claim, each) == word), None)
        if there:
            return there
        facts = min(around, key=lambda each: violation(claim, each))
    raise AssertionError(f"{claim.id} never {word}")


def both_methods(claim: Claim) -> list[Claim]:
    return [claim, *([replace(claim, quantities=claim.fair)] if claim.fair else [])]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_every_verdict_changes_when_the_facts_do(claim: Claim) -> None:
    for each in both_methods(claim):
        held = reach(each, HOLDS)
        assert judge(each, held).word == HOLDS
        assert judge(each, reach(each, FAILS)).word == FAILS
        if claim.id not in COUNTED:
            wide = {name: replace(fact, low=-1e12, high=1e12) for name, fact in held.items()}
            assert judge(each, wide).word == UNDECIDED
        assert judge(each, {}).word == NOT_TESTABLE or claim.id in COUNTED


CASES: list[tuple[str, Callable[[Claim], Claim], dict[str, tuple[float, float, float]], str]] = [
    ("0.7", lambda c: c, {"payload.share.write.flush": (0.003, 0.002, 0.004)}, FAILS),
    ("0.7", lambda c: c, {"payload.share.write.flush": (0.3, 0.2, 0.4)}, HOLDS),
    ("0.7", lambda c: c, {"payload.share.write.flush": (0.1, 0.05, 0.2)}, UNDECIDED),
    ("0.8", lambda c: c, {"payload.kept_speedup.write": (6, 5, 7)}, FAILS),
    ("0.8", lambda c: c, {"payload.kept_speedup.write": (1.5, 1.2, 1.9)}, HOLDS),
    ("0.9", lambda c: c, {"payload.tcp.v09.off.cross.large.bandwidth": (9e7, 8e7, 1e8)}, HOLDS),
    ("0.9", lambda c: c, {"payload.tcp.v09.off.cross.large.bandwidth": (9e8, 8e8, 1e9)}, FAILS),
    ("1.2", lambda c: c, {"shared_dict.published.slower.largest": (145, 120, 170)}, HOLDS),
    ("1.2", lambda c: c, {"shared_dict.published.slower.largest": (95, 90, 110)}, UNDECIDED),
    (
        *("1.2", lambda c: replace(c, quantities=c.fair)),
        *({"shared_dict.published.message_slower.largest": (0.5, 0.4, 0.6)}, FAILS),
    ),
    ("2.10", lambda c: c, {"multiplexer.threshold.code": (4096, 4096, 4096)}, FAILS),
    ("2.10", lambda c: c, {"multiplexer.threshold.code": (8192, 8192, 8192)}, HOLDS),
    ("4.1", lambda c: c, {"file_io.overlap.read_ratio": (1.0, 0.96, 1.04)}, HOLDS),
    ("4.1", lambda c: c, {"file_io.overlap.read_ratio": (0.8, 0.7, 0.9)}, FAILS),
    ("4.5", lambda c: c, {"file_io.serial.growth": (0.1, 0.05, 0.2)}, HOLDS),
    ("4.5", lambda c: c, {"file_io.serial.growth": (-0.1, -0.2, -0.05)}, FAILS),
    ("4.5", lambda c: c, {"file_io.serial.growth": (0.1, -0.05, 0.2)}, UNDECIDED),
    ("4.13", lambda c: c, {"file_io.map.large.cold.ratio": (1.2, 1.1, 1.3)}, HOLDS),
    ("4.13", lambda c: c, {"file_io.map.large.cold.ratio": (0.8, 0.7, 0.9)}, FAILS),
]


@pytest.mark.parametrize(("number", "method", "facts", "word"), CASES)
def test_verdicts_on_both_sides_of_a_rule(number, method, facts, word) -> None:
    made = {name: Fact(name, value, "1", "3 x 100", low, high) for name, (value, low, high) in facts.items()}
    assert judge(method(BY_ID[number]), made).word == word


def test_placement_decides_the_fair_round_trip_and_not_the_published_one() -> None:
    facts = {}
    for size in round_trip.NAMES:
        for place, shm in (("same", 10.0), ("cross", 100.0)):
            for stem in (f"round_trip.{{}}.{place}.{size}", f"round_trip.published.{{}}.{place}.{size}"):
                for backend, value in ((round_trip.SHM, shm), (round_trip.ZMQ, 150.0)):
                    name = stem.format(backend)
                    facts[name] = Fact(name, value, "ns", "3 x 100", value, value)
    verdicts = judge_all(BY_ID["3.1"], OWN, facts)
    assert [each.word for each in verdicts] == [HOLDS, HOLDS, HOLDS]
    facts[f"round_trip.{round_trip.ZMQ}.same.small"] = Fact("x", 5.0, "ns", "3 x 100", 5.0, 5.0)
    assert [each.word for each in judge_all(BY_ID["3.1"], OWN, facts)] == [HOLDS, HOLDS, FAILS]


def test_what_a_claim_needs_comes_before_what_was_measured() -> None:
    need = Need("machine.cores", 4, "needs {least} CPUs, here are {here}")
    claim = replace(BY_ID["0.8"], needs=(need,), unstated="")
    facts = {"payload.kept_speedup.write": Fact("x", 1.0, "1"), "machine.cores": Fact("machine.cores", 2, "text")}
    verdicts = judge_all(claim, facts, facts)
    assert [each.word for each in verdicts] == [HOLDS, NOT_TESTABLE, NOT_TESTABLE]
    assert verdicts.here.need is need
    assert {name: fact.value for name, fact in need.figures(facts).items()} == {"least": 4, "here": 2}
    facts["machine.cores"] = Fact("machine.cores", 4, "text")
    assert judge_all(claim, facts, facts).here.word == HOLDS


@pytest.mark.parametrize("claim", [claim for claim in CLAIMS if claim.needs], ids=lambda claim: claim.id)
def test_what_is_needed_is_said_in_words(claim: Claim) -> None:
    for need in claim.needs:
        assert {name for name, _ in prose.placeholders(need.words)} <= {"least", "here"}
        assert not need.met({need.fact: Fact(need.fact, need.least - 1, "count")})
        assert need.met({need.fact: Fact(need.fact, need.least, "count")})


def test_intervals_are_the_widest_that_their_parts_allow() -> None:
    a, b = Quantity(4, 3, 5), Quantity(2, 1, 4)
    assert a / b == Quantity(2, 0.75, 5)
    assert a - b == Quantity(2, -1, 4)
    assert a + b == Quantity(6, 4, 9)
    assert a * b == Quantity(8, 3, 20)
    assert a * -1.0 == Quantity(-4, -5, -3)
    assert a / Quantity(1, -1, 2) == Quantity(4, -inf, inf)
    assert (a / exact(0)).high == inf
    assert b.over(8) == Quantity(4, 2, 8)


def test_the_counts_of_verdicts_add_up() -> None:
    facts = audited({}, Paths(ROOT))
    for method in registry.METHODS:
        counts = [int(facts[f"audit.{method}.{key}"].value or 0) for key in registry.KEYS.values()]
        assert sum(counts) == facts["audit.claims"].value == len(CLAIMS)
    assert facts["audit.own.fails"].value == len(FAIL_ON_OWN_TABLE)
    assert facts["audit.own.untestable"].value == len(UNSTATED)
    assert facts["audit.source.0.1"].value == "seed 000, 4.1 [2]"
    assert facts["audit.derived.wrong"].value == sum(WRONG.values())


def test_corrected_sentences_are_for_claims_and_state_their_numbers_or_nothing() -> None:
    facts = audited({}, Paths(ROOT))
    for each in corrected.CORRECTIONS:
        assert set(each.claims) <= BY_ID.keys()
        assert each.own or each.here
        assert not digits(each.own)
        assert not digits(each.here)
    wrong = {name for each in corrected.CORRECTIONS for name in each.claims}
    assert wrong >= FAIL_ON_OWN_TABLE
    assert facts["audit.own.reads.low"].value == pytest.approx(1.25)
    assert facts["audit.here.reads.low"].value is None
    first = corrected.CORRECTIONS[0]
    assert corrected.told(first.own, facts)
    assert not corrected.told(first.here, facts)
    assert not corrected.told("", facts)


def test_the_quantity_that_decides_is_shown() -> None:
    claim = Claim("x", "000", "1", "en", "q", "m", lambda facts: [exact(3), exact(1), exact(9)], at_least(2))
    assert deciding(claim, judge(claim, {})).value == 1
    assert reference(claim) == 2
    assert reference(replace(claim, bounds=(2.0, 8.0))) == 4


KNOWN = {
    "payload.tcp.v09.off.cross.large": Fact("", 17e6, "ns", "3 x 10", 16e6, 18e6),
    "payload.handover.shm-mmap.cross.large": Fact("", 2e5, "ns", "3 x 10", 1.5e5, 3e5),
    "payload.moved.large": Fact("", 1_384_120, "B"),
    "payload.tcp.v09.off.cross.large.bandwidth": Fact("", 8e7, "B/s", "3 x 10", 7e7, 1e8),
    "run.machine": Fact("", "abc", "text"),
}
GOOD = """
[[claim]]
id = "A.1"
language = "en"
text = "Shared memory is at least {low:int} times as fast as TCP."
rule = "payload.tcp.v09.off.cross.large / payload.handover.shm-mmap.cross.large at_least 18"
[claim.figures]
low = 18
"""


def judged(rule: str, **more: str) -> Claim:
    text = GOOD.replace("payload.tcp.v09.off.cross.large / payload.handover.shm-mmap.cross.large at_least 18", rule)
    text = text.replace(
        "[claim.figures]", "\n".join(f'{key} = "{value}"' for key, value in more.items()) + "\n[claim.figures]"
    )
    return parse(text, "mine.toml", KNOWN)[0]


@pytest.mark.parametrize(
    ("rule", "word", "value"),
    [
        ("payload.tcp.v09.off.cross.large / payload.handover.shm-mmap.cross.large at_least 18", HOLDS, 85),
        ("payload.tcp.v09.off.cross.large at_most 18 ms", HOLDS, 17e6),
        ("payload.tcp.v09.off.cross.large at_most 17000 us", UNDECIDED, 17e6),
        ("payload.tcp.v09.off.cross.large between 1 ms and 2 ms", FAILS, 17e6),
        ("payload.moved.large / payload.tcp.v09.off.cross.large at_most 125 MB/s", HOLDS, 1_384_120 / 0.017),
        ("(payload.tcp.v09.off.cross.large - 1 ms) * 2 at_least 20 ms", HOLDS, 32e6),
        ("payload.moved.large - 4 * 2 B at_least 1.3 MiB", HOLDS, 1_384_112),
        ("payload.tcp.v09.off.cross.large.bandwidth / 1 GB/s at_most 15 %", HOLDS, 0.08),
        ("1 + 2 * 3 between 6.9 and 7.1", HOLDS, 7),
    ],
)
def test_a_rule_is_arithmetic_over_facts_with_units(rule: str, word: str, value: float) -> None:
    claim = judged(rule)
    found = judge_all(claim, {}, KNOWN)
    assert found.here.word == word
    assert found.here.value == pytest.approx((value, value))
    assert found.own.word == NOT_TESTABLE
    assert claim.unstated


def test_a_rule_has_a_fair_method_and_a_table_of_its_own() -> None:
    text = GOOD + '[claim.published]\n"payload.tcp.v09.off.cross.large" = "10 ms"\n'
    text += '"payload.handover.shm-mmap.cross.large" = "1 ms"\n'
    text = text.replace("[claim.figures]", 'fair = "payload.tcp.v09.off.cross.large / 1 ms"\n[claim.figures]')
    (claim,) = parse(text, "mine.toml", KNOWN)
    assert [each.word for each in judge_all(claim, OWN, KNOWN)] == [FAILS, HOLDS, UNDECIDED]


BAD = [
    ("id = ", 'id = "A.1" oops', 3, "newline"),
    ("at_least 18", "at_least", 6, "ends where a number"),
    ("at_least 18", "more_than 18", 6, "no comparison"),
    ("at_least 18", "between 2", 6, "ends where and"),
    ("at_least 18", "at_least 18 ms", 6, "a plain number with a time"),
    ("at_least 18", "at_least eighteen", 6, "no number"),
    ("at_least 18", "at_least 18 19", 6, "left over"),
    ("payload.tcp.v09.off.cross.large /", "payload.tcp.v09.off.crss.large /", 6, "payload.tcp.v09.off.cross.large"),
    ("payload.tcp.v09.off.cross.large /", "run.machine /", 6, "no number"),
    ("payload.tcp.v09.off.cross.large /", "payload.moved.large + payload.tcp.v09.off.cross.large /", 6, "no meaning"),
    ("payload.tcp.v09.off.cross.large /", "__import__('os') /", 6, "'os'"),
    ("payload.tcp.v09.off.cross.large /", "(payload.tcp.v09.off.cross.large /", 6, "not closed"),
    ("payload.tcp.v09.off.cross.large /", "payload.tcp.v09.off.cross.large ** 2 /", 6, "stands where"),
    ('language = "en"', 'language = "fr"', 4, "no language 'fr'"),
    ('language = "en"', 'langage = "en"', 4, "language"),
    ('language = "en"', "language = 3", 4, "no text"),
    ("{low:int}", "{lo:int}", 5, "no fact is named 'lo'"),
    ("{low:int}", "{low:parsecs}", 5, "parsecs"),
    ("low = 18", 'low = "eighteen"', 8, "no number"),
    ("[[claim]]", "[claims]", 2, "[[claim]]"),
]


@pytest.mark.parametrize(("old", "new", "line", "why"), BAD)
def test_a_malformed_file_is_refused_with_the_line(old: str, new: str, line: int, why: str) -> None:
    text = GOOD.replace('id = "A.1"', new) if old == "id = " else GOOD.replace(old, new)
    assert text != GOOD
    with pytest.raises(UsageError) as error:
        parse(text, "mine.toml", KNOWN)
    assert str(error.value).startswith(f"mine.toml, line {line}: ")
    assert why in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("more", "line", "why"),
    [
        ('[claim.translations]\nfr = "oui"\n', 10, "no language 'fr'"),
        ('[claim.published]\n"payload.moved.largr" = "1 B"\n', 10, "payload.moved.large"),
        ('[claim.published]\n"payload.moved.large" = "1 ms"\n', 10, "is bytes, not a time"),
        ("[claim.other]\n", 9, "no 'other'"),
        (GOOD.replace("{low:int}", "x").replace("[claim.figures]\nlow = 18", ""), 11, "two claims"),
    ],
)
def test_a_malformed_table_is_refused_with_the_line(more: str, line: int, why: str) -> None:
    with pytest.raises(UsageError) as error:
        parse(GOOD + more, "mine.toml", KNOWN)
    assert str(error.value).startswith(f"mine.toml, line {line}: "), str(error.value)
    assert why in str(error.value)


def test_deep_and_long_rules_are_refused_and_nothing_is_executed() -> None:
    source = (ROOT / "ipclab/claims/rule.py").read_text().replace("re.compile(", "")
    for rule in ("(" * 50 + "1" + ")" * 50 + " at_least 1", "1 + " * 1000 + "1 at_least 1"):
        with pytest.raises(UsageError, match=r"at most|brackets"):
            judged(rule)
    assert not re.search(r"\b(eval|exec|compile|__import__|getattr)\(", source)


def test_the_documented_file_of_claims_is_read() -> None:
    (example,) = blocks(ROOT / "docs/claims.md", "toml")
    reference_facts = json.loads(next((ROOT / "data/reference").glob("*/facts.json")).read_text())
    known = {name: Fact(**fact) for name, fact in reference_facts.items()}
    claims = parse(example, "claims.toml", known)
    assert len(claims) == 2
    assert judge_all(claims[0], {}, known).own.word != NOT_TESTABLE
    assert set(claims[0].translations) == {"en", "ko", "zh"}
    for claim in claims:
        assert judge_all(claim, {}, known).here.word in (HOLDS, FAILS, UNDECIDED)


def test_the_manifest_knows_the_file_of_claims(tmp_path: Path) -> None:
    paths = Paths(ROOT)
    run = next((ROOT / "data/reference").glob("*/run.json")).parent
    mine = tmp_path / "mine.toml"
    mine.write_text(GOOD)
    assert inputs(paths, [run])["claims"] == {}
    about = {"runs": [str(run)], "inputs": inputs(paths, [run], mine), "made": {}, "claims": str(mine)}
    (tmp_path / MANIFEST).write_text(json.dumps(about))
    assert not [cause for cause in stale(paths, tmp_path) if cause.startswith("claims")]
    mine.write_text(GOOD.replace("18", "19"))
    assert "claims: mine.toml changed since the report" in stale(paths, tmp_path)
    mine.unlink()
    assert "claims: mine.toml was removed since the report" in stale(paths, tmp_path)


def view(**facts: float) -> View:
    """Return a view of a run with these measured facts."""
    made = {name.replace("__", "."): plain(name, value) for name, value in facts.items()}
    every = audited(made, Paths(ROOT)) | made
    return View("en", {}, every, Rows(), Catalogue("en"), Formatter("en"), Path())


def test_a_table_has_one_row_a_claim_and_says_what_is_missing() -> None:
    need = Need("machine__cores", 4, "needs {least} CPUs, here are {here}")
    stated = [BY_ID["0.1"], BY_ID["0.7"], replace(BY_ID["0.8"], needs=(need,)), BY_ID["0.12"]]
    seen = view(payload__share__write__flush=0.003)
    cores = {"machine__cores": Fact("machine__cores", 2, "count")}
    table = tables.claims(replace(seen, facts={**seen.facts, **cores}), stated, OWN)
    assert [row[0] for row in table.rows] == ["0.1", "0.7", "0.8", "0.12"]
    assert [row[2] for row in table.rows] == ["2 to 3", "≥ 10%", "≤ 2", "= 84\u00a0B"]
    assert table.rows[0][3] == "fails: 3.14"
    assert table.rows[0][4].startswith("not testable here (not measured in this run: payload.published.")
    assert table.rows[1][3] == "not testable here (the text does not time the parts of a write)"
    assert table.rows[1][4] == "fails: 0.300%"
    assert table.rows[2][4] == "not testable here (needs 4 CPUs, here are 2)"
    assert table.rows[2][5] == "as published"
    absent = tables.claims(view(), [BY_ID["1.2"]], OWN).rows[0]
    assert absent[4] == "not testable here (the study shared_dict is not in this run)"
    assert "(seed 000)" in table.caption


@pytest.mark.parametrize(
    ("number", "rule"), [("0.1b", "> 1"), ("4.4", "> 0%"), ("4.4b", "< 0%"), ("4.11", "< 1"), ("2.11", "= 0")]
)
def test_a_rule_is_written_as_it_is_meant(number: str, rule: str) -> None:
    assert tables.bounds(view(), BY_ID[number]) == rule


def test_the_other_tables_of_the_audit() -> None:
    seen = view()
    assert len(tables.derived(seen).rows) == sum(WRONG.values())
    assert len(tables.corrected(seen).rows) == len(corrected.CORRECTIONS)
    counts = tables.summary(seen).rows
    assert len(counts) == 3 * (len(registry.TEXTS) + 1)
    assert all(sum(map(int, row[2:6])) == int(row[6]) for row in counts)
    assert [row[6] for row in counts[-3:]] == [str(len(CLAIMS))] * 3


def test_the_glance_shows_every_claim_and_is_the_same_each_time() -> None:
    drawn = []
    for _ in range(2):
        with style.canvas("en", 7.0, 8.4) as canvas:
            figures.glance(view(), canvas)
            drawn.append(style.svg(canvas))
            labels = [label.get_text() for axes in canvas.axes for label in axes.get_yticklabels()]
    assert sorted(labels) == sorted(claim.id for claim in CLAIMS)
    assert drawn[0] == drawn[1]


def test_the_claims_of_a_file_reach_the_notebook_of_claims_alone() -> None:
    asking = [path.stem for path in sorted((ROOT / "notebooks").glob("0*.ipynb")) if "claims" in parameters_of(path)]
    assert asking == ["06_claims"]


def test_own_facts_are_not_needed_where_a_text_only_counts() -> None:
    assert judge(BY_ID["3.6"], {}).word == FAILS
    assert shared_dict.CLAIMS[0].fair is not None
    assert payload.together(OWN).value == pytest.approx(14.72, abs=0.01)
