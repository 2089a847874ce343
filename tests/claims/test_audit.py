"""The audit: the texts' tables, their claims judged three ways, what they derive, and what corrects
them.
"""

import re
from decimal import Decimal
from functools import cache, partial
from importlib import import_module
from math import exp, inf
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from ipclab.backends.codecs import CODECS, published_dictionary
from ipclab.claims import computed
from ipclab.claims.audit import claims, claims_table, corrections
from ipclab.claims.claim import FAILS, HOLDS, NOT_TESTABLE, Claim, decide
from ipclab.claims.computed import compute
from ipclab.claims.published import (
    Recomputed,
    _follows,
    published,
    recompute,
    rounded,
    texts,
    worded,
)
from ipclab.claims.rules import read_rule, read_sum
from ipclab.claims.texts import shared_dict
from ipclab.claims.told import above, at, between, each, exact, log
from ipclab.claims.values import ValueSource
from ipclab.claims.verdicts import NEEDS, with_interval
from ipclab.frames.address import Address
from ipclab.paths import Paths, checkout
from ipclab.prose.language import RuleError, placeholders
from ipclab.report.lab import lab_of
from ipclab.report.pages.words import digits
from ipclab.stats.quantity import Quantity
from ipclab.store.bundle import opened
from ipclab.store.run import RunFolder
from ipclab.studies.file_io.sets import file_sets
from tests.support.commands import ROOT

PATHS = Paths(ROOT)
TEXTS = texts(PATHS)
TABLE = ValueSource(partial(worded, PATHS), partial(worded, PATHS), loose=True)
CLAIMS = [claim for file in TEXTS.values() for claim in file.claims]
FAIL_ON_OWN_TABLE = {
    *("0.2", "0.3", "0.12", "0.14", "1.2b", "1.6", "2.10", "2.11", "3.6"),
}
UNSTATED = {
    "0.6",
    "0.7",
    "0.8",
    "0.9",
    "0.13",
    "0.15",
    "0.16",
    "1.5",
    "1.7",
    "1.8",
    "1.9",
    "1.10",
    "1.11",
    "2.7",
    "2.9",
    "4.2",
}
# Constants and settings, what a program prints, and absolute times of a machine that a text does
# not name.
UNTESTABLE = {"0.4", "0.5", "0.9", "0.11", "0.12", "1.9", "2.10", "2.11", "3.3", "3.6"}
SI = {
    **{"ns": (1, "ns"), "us": (1e3, "ns"), "ms": (1e6, "ns"), "s": (1e9, "ns")},
    **{"B": (1, "B"), "KB": (1e3, "B"), "MB": (1e6, "B"), "KiB": (2**10, "B"), "MiB": (2**20, "B")},
    **{"GiB": (2**30, "B"), "MB/s": (1e6, "B/s"), "GB/s": (1e9, "B/s"), "MiB/s": (2**20, "B/s")},
    **{"Gbps": (1.25e8, "B/s"), "%": (0.01, "share"), "x": (1, "1"), "count": (1, "count")},
}
# Every number that does not follow from its text's own table, by section, quantity and how often.
WRONG = {
    **{
        ("payload", "4.1", name): 1
        for name in ("small_bandwidth_high", "read_faster_low", "spread_high")
    },
    ("payload", "6.1", "spread_bound"): 1,
    ("payload", "4.3", "past_latency_low"): 1,
    ("payload", "4.3", "past_latency_high"): 1,
    ("shared_dict", "数据大小", "bytes_per_entry"): 1,
    ("shared_dict", "性能倍数对比", "write_slower"): 1,
    ("multiplexer", "핵심 성과 요약", "indirection"): 1,
    ("multiplexer", "기술적 인사이트", "memory_saved"): 1,
    ("multiplexer", "기술적 인사이트", "threshold_text"): 1,
    ("file_io", "Multithread Sync vs Overlapped IO", "delta"): 1,
    ("file_io", "Multithread Sync vs Overlapped IO", "compute_mean"): 1,
    ("file_io", "Do Read Call Task as soon as possible", "bytes"): 1,
    ("file_io", "Massive File Count", "bytes"): 1,
    ("file_io", "Read Call Task Overhead", "bytes"): 1,
    **{
        ("file_io", "Read Call Task Overhead", f"compute_{name}"): 1
        for name in ("low", "high", "mean", "variance")
    },
}


@cache
def outcomes() -> list[tuple[str, Recomputed]]:
    """Return by study what follows from its own table: computed for all tests of it together."""
    return [
        (study, each)
        for study, file in TEXTS.items()
        for each in recompute(file, partial(worded, PATHS))
    ]


def _rows(study: str) -> list[Any]:
    return list(published(PATHS, study).itertuples())


@pytest.mark.parametrize("study", TEXTS)
def test_every_table_is_tidy_and_its_si_values_follow_from_what_is_printed(study: str) -> None:
    for row in _rows(study):
        factor, unit = SI[row.printed_unit]
        assert row.seed == TEXTS[study].seed
        assert row.unit == unit
        assert row.kind in ("published", "estimate")
        if not (
            row.printed_unit == "KB" and row.value == 8192
        ):  # a constant of code, which counts in 1024
            assert row.value == pytest.approx(float(Decimal(row.printed)) * factor, rel=1e-9), row


def test_every_claim_is_there_once_in_the_order_of_the_texts() -> None:
    ids = [claim.id for claim in CLAIMS]
    assert len(ids) == len(set(ids)) == 73
    assert [file.seed for file in TEXTS.values()] == ["000", "001", "002", "003", "004"]


@pytest.mark.parametrize("study", TEXTS)
def test_every_claim_has_a_function_below_its_quotation(study: str) -> None:
    stated = import_module(f"ipclab.claims.texts.{study}").claim
    assert [*stated] == [claim.id for claim in TEXTS[study].claims]
    assert [function.__doc__ for function in stated.values()] == [
        claim.text for claim in TEXTS[study].claims
    ]
    names = [function.__name__ for function in stated.values()]
    assert len(names) == len({*names})


def test_arithmetic_of_terms_is_that_of_the_language() -> None:
    write, read = "multiplexer.text[].indirection", "multiplexer.text[].threshold_check"
    for made, told in (
        (at(write) / at(read) - 1, f"{write} / {read} - 1"),
        (1 - at(write) * 2, f"1 - {write} * 2"),
        (1 / (1 + at(write)), f"1 / (1 + {write})"),
        (each(at(write), 3) + exact("50 %"), f"each({write}, 3) + 50 %"),
        (log(10) / at(read), f"log(10) / {read}"),
    ):
        assert made(TABLE) == read_sum(told)(TABLE)
        assert made.addresses == read_sum(told).addresses
    for rule, told in (
        (between(at(write), "9 %", "10 %", rounded=True), f"{write} between 9 % and 10 % rounded"),
        (above(at(write), "1 %"), f"{write} above 1 %"),
    ):
        found = read_rule(told)
        assert (rule.low, rule.high, rule.unit) == (found.low, found.high, found.unit)
        assert (rule.open, rule.written) == (found.open, found.written)
    with pytest.raises(RuleError, match="is no address"):
        at("write / read")


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_every_claim_is_told_in_full_and_judged_on_its_own_table(claim) -> None:
    found = decide(claim.rule, claim.own or claim.rule.term, TABLE)
    expected = FAILS if claim.id in FAIL_ON_OWN_TABLE else HOLDS
    assert bool(claim.unstated) == (claim.id in UNSTATED)
    assert bool(claim.untestable) == (claim.id in UNTESTABLE)
    assert claim.untestable.startswith("needs ") == bool(claim.untestable)
    assert claim.unstated or found.word == expected
    assert claim.text and claim.section and claim.rule.low <= claim.rule.high
    assert {name for name, _ in placeholders(claim.meaning)} <= claim.figures.keys()
    assert bool(claim.fair) == bool(claim.adds)
    assert claim.needs.keys() <= NEEDS.keys()
    assert not [
        problem
        for msgid in (claim.meaning, claim.unstated, claim.untestable, claim.adds)
        for problem in digits(msgid)
    ]


def test_what_calling_a_function_costs_is_not_judged_between_processes() -> None:
    (calling,) = (claim for claim in CLAIMS if claim.id == "2.8")
    assert not calling.fair


FLIGHT = {1: 9, 4: 20, 16: 10}
THREADS = {
    ("mmap", 2): 3,
    ("mmap", 4): 9,
    ("overlapped", 2): 4,
    ("overlapped", 4): 5,
    ("overlapped", 8): 2,
}


def _files(study: str) -> pd.DataFrame:
    """Return a run's frame in which latency falls again, and maps lose to reads by as many threads."""
    assert study == "file_io"
    flight = [
        {"arm": "overlap", "op": "file.latency", "depth": depth, "value": ns}
        for depth, ns in FLIGHT.items()
    ]
    maps = [
        {
            "arm": "map",
            "op": "elapsed",
            "backend": backend,
            "threads": threads,
            "cache": cache,
            "value": ns,
        }
        | {"direct": "yes" if (backend, cache) == ("overlapped", "cold") else "no"}
        for (backend, threads), ns in THREADS.items()
        for cache in ("cold", "warm")
    ]
    same = {
        "set": "exp-small",
        "advice": "none",
        "metric": "p50",
        "unit": "ns",
        "study": study,
        "point": "p",
    }
    rows = pd.DataFrame(
        [{"backend": "overlapped", "cache": "cold", **row} for row in [*flight, *maps]]
    ).assign(**same)
    return rows.assign(low=rows.value, high=rows.value, launches=5, samples=10, flags="")


@pytest.mark.parametrize(("name", "decides"), [("4.2", 0.5), ("4.12", 1.8), ("4.12b", 1.8)])
def test_every_step_and_as_many_threads_are_what_is_compared(name: str, decides: float) -> None:
    (claim,) = (claim for claim in CLAIMS if claim.id == name)
    found = decide(claim.rule, claim.rule.term, ValueSource(_files))
    assert (found.word, len(found.found)) == (FAILS, 2)
    assert found.deciding is not None
    assert found.deciding.value == pytest.approx(decides)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_a_rounded_bound_is_a_figure_of_its_claim(claim) -> None:
    stated = [0.0, *(figure.value for figure in claim.figures.values())]
    saved = [1 - figure for figure in stated]
    added = [1 + figure for figure in stated]
    bounds = [end for end in claim.rule.written if abs(end) < inf and claim.rule.rounded]
    assert all(end in [pytest.approx(known) for known in stated + saved + added] for end in bounds)


def test_numbers_that_do_not_follow_are_these_and_no_others() -> None:
    wrong = [
        (study, each.row.section, _printed(study, each.row.metric))
        for study, each in outcomes()
        if not each.follows
    ]
    said = {name: wrong.count(name) for name in wrong}
    assert said == WRONG
    assert (len(outcomes()), len(wrong)) == (113, 20)
    assert all(not digits(each.by) for _, each in outcomes())


def _printed(study: str, metric: str) -> str:
    return {
        name.rpartition(".")[2]: quantity for quantity, name in TEXTS[study].printed.items()
    }.get(metric, metric)


def outcome(study: str, by: str, **columns: object) -> Recomputed:
    found = [each for name, each in outcomes() if name == study and by in each.by]
    (one,) = [
        each
        for each in found
        if all(getattr(each.row, name) == value for name, value in columns.items())
    ]
    return one


@pytest.mark.parametrize(
    ("study", "by", "columns", "stated", "computed", "follows"),
    [
        ("payload", "for the largest payload", {}, 0.1, 0.3304, False),
        ("shared_dict", "one over the total", {}, 145, 145.379, True),
        ("shared_dict", "one write", {}, 145, 0.4846, False),
        ("multiplexer", "longer chunks", {}, 0.936, 0.9357, True),
        ("multiplexer", "with the pool", {}, 0.9, -0.5437, False),
        ("multiplexer", "the constant", {}, 8192, 4096, False),
        ("file_io", "less the time", {"label": "serial.longest.5"}, -4.49e6, 4.49e6, False),
        ("file_io", "files times", {}, 4187593113.6, 4.096e9, False),
    ],
)
def test_single_derivations(study, by, columns, stated, computed, follows) -> None:
    found = outcome(study, by, **columns)
    assert (found.stated.value, found.computed.value) == pytest.approx((stated, computed), rel=1e-3)
    assert found.follows is follows


def test_numbers_in_the_files_are_those_of_the_code() -> None:
    sizes = [
        len(CODECS["pickle"].encode(published_dictionary(count)))
        for count in (10, 100, 1000, 10_000)
    ]
    counted = zip(sizes, (10, 100, 1000, 10_000), strict=True)
    per_entry = [cell.value for cell in shared_dict.ENTRY_BYTES(TABLE).cells.values()]
    assert per_entry == [pytest.approx(size / count) for size, count in counted]
    sets = {name: file_sets("full")[name].size for name in ("exp-small", "exp-large")}
    for label, name in (("soon.exp-small", "exp-small"), ("soon.exp-large", "exp-large")):
        found = outcome("file_io", "expected size", label=label).computed
        size = sets[name]
        clamped = size.low + size.mean * (exp(-size.low / size.mean) - exp(-size.high / size.mean))
        assert found.value == pytest.approx(clamped * 10_000, rel=1e-6)
        assert found.ends[1] - found.value == pytest.approx(4 * sets[name].mean * 100, rel=1e-6)


@pytest.mark.parametrize(
    ("printed", "unit", "value", "low", "high"),
    [
        ("0.040", "ms", 40_000, 39_500, 40_500),
        ("18", "x", 18, 17.5, 18.5),
        ("22", "count", 22, 22, 22),
        ("-4.49", "ms", -4_490_000, -4.495e6, -4.485e6),
        ("0", "%", 0, -0.005, 0.005),
    ],
)
def test_a_printed_number_stands_for_all_that_round_to_it(printed, unit, value, low, high) -> None:
    found = rounded(SimpleNamespace(printed=printed, printed_unit=unit, value=value, unit="ns"))
    assert found.ends == pytest.approx((low, high))
    assert (found / 2).ends == pytest.approx((low / 2, high / 2))
    assert (1 - found).ends == pytest.approx((1 - high, 1 - low))


@pytest.mark.parametrize(
    ("sense", "computed", "follows"),
    [
        ("equal", 2.06, False), ("equal", 2.04, True), ("truncated", 2.09, True), ("truncated", 1.99, False),
        ("lowest", 1.9, False), ("lowest", 2.1, True), ("highest", 2.1, False), ("highest", 1.9, True),
    ],
)  # fmt: skip
def test_whether_a_number_follows_changes_with_the_table(
    sense: str, computed: float, follows: bool
) -> None:
    assert _follows(sense, Quantity(2.0, "1", 1.95, 2.05), Quantity(computed)) is follows


def test_corrected_sentences_are_for_claims_and_state_their_numbers() -> None:
    every = [correction for file in TEXTS.values() for correction in file.corrections]
    assert {name for correction in every for name in correction.claims} >= FAIL_ON_OWN_TABLE
    for correction in every:
        assert correction.own or correction.here
        for msgid, terms in (
            (correction.own, correction.own_values),
            (correction.here, correction.here_values),
        ):
            assert not digits(msgid)
            assert {name for name, _ in placeholders(msgid)} == terms.keys()


@pytest.mark.parametrize(
    ("bound", "printed"),
    [
        (1.0, "0.72600 [0.60900–0.99990]"),
        (2.0, "0.726 [0.609–1.000]"),
        (0.609, "0.726 [0.609–1.000]"),
    ],
)
def test_a_printed_interval_never_reaches_a_bound_that_it_does_not(
    bound: float, printed: str
) -> None:
    lab = lab_of(opened(checkout(), checkout().reference), checkout(), "en")
    decides = Quantity(0.726, "1", 0.609, 0.9999)
    assert with_interval(lab, decides, (bound, inf)) == printed
    no_ends = Quantity(0.50733, "share", -inf, inf)
    assert (
        with_interval(lab, no_ends, (bound, inf)) == "50.7% [no interval: too few or too scattered]"
    )


def claim_of(name: str) -> Claim:
    (found,) = (claim for claim in CLAIMS if claim.id == name)
    return found


def test_every_word_of_likeness_has_one_tolerance() -> None:
    """1.15, 20 %, 5 % and a factor of 2 once meant "about equal" in four claims."""
    alike = {1 / 1.25, 1.25}
    for claim in CLAIMS:
        if re.search(r"factor of|does not depend", claim.meaning) and claim.id != "1.7":
            ends = {end for end in claim.rule.written if abs(end) < inf}
            assert ends <= alike, claim.id
    assert claim_of("1.7").rule.written == (3 / 1.25, 3 * 1.25)
    assert {claim_of(name).rule.low for name in ("0.6", "1.5")} == {0.5}


def test_opening_dominates_by_its_own_time_and_not_by_any_fixed_cost() -> None:
    named = {str(address) for address in claim_of("0.6").rule.term.addresses}
    parts = {name.split("[")[0].partition(".")[2] for name in named}
    assert parts == {
        *("write", "write.open", "write.map", "write.unmap", "write.close"),
        *("read", "read.open", "read.map", "read.unmap", "read.close"),
    }


def test_a_range_is_tested_at_both_ends() -> None:
    written = {name: claim_of(name).rule.written for name in ("0.1", "0.10", "0.14", "3.2")}
    assert written["0.10"] == (18, 58)
    assert written["3.2"] == (3.075, 3.981)
    assert all(low > -inf and high < inf for low, high in written.values())


@pytest.mark.slow
def test_no_claim_stands_among_the_right_ones_and_is_put_right() -> None:
    lab = lab_of(opened(checkout(), checkout().reference), checkout(), "en")
    found = claims(lab)
    failing = {*found.id[(found[["own", "here", "fair"]] == FAILS).any(axis="columns")]}
    named = corrections(lab, of=failing).claims.str.split(", ").explode()
    assert failing >= {*named[named.str.fullmatch(r"\d\.\d+\w?")]}
    assert {"1.7", "2.3"}.isdisjoint(named)  # which are undecided


@pytest.mark.slow
def test_the_reference_run_is_judged_and_every_rule_reads_it() -> None:
    lab = lab_of(opened(checkout(), checkout().reference), checkout(), "en")
    found = claims(lab)
    assert len(found) == 73
    untestable = found[found.here == NOT_TESTABLE]
    assert all(untestable.here_reason.str.startswith("needs "))
    assert set(untestable.id) >= UNTESTABLE
    assert set(found.id[found.fair == NOT_TESTABLE]) >= UNTESTABLE
    assert set(found[found.own == NOT_TESTABLE].id) == UNSTATED
    assert not (corrections(lab)["own"] + corrections(lab)["here"] == "––").any()
    table = claims_table(lab, "payload")
    assert table.name == "payload-claims"
    assert [row[2] for row in table.rows[:2]] == ["2 to 3 (rounded)", "> 1"]
    assert table.rows[0][3] == "holds: 3.14"
    multiplexer = {row[0]: row[3] for row in claims_table(lab, "multiplexer").rows}
    assert multiplexer["2.10"] == "fails: 4,096\u00a0B (its code)"
    assert table.rows[7][3] == "not testable here (the text does not time the parts of a write)"
    assert (
        compute(lab, "payload.write[arm=published,size_bytes=1384120].size_bytes").value
        == 1_384_120
    )
    assert compute(lab, "payload.write[arm=published,size_bytes=7]").value is None


def test_a_lab_looks_up_each_value_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 792 look-ups of the page of claims, two of three were of what it had found."""
    computed._kept.cache_clear()
    lab = lab_of(opened(checkout(), checkout().reference), checkout(), "en")
    found = list[Address]()
    find = Address.find

    def noted(address: Address, *given: Any, **named: Any) -> Any:
        rows = find(address, *given, **named)
        found.append(address)
        return rows

    monkeypatch.setattr(Address, "find", noted)
    told = claims(lab, "payload")
    count = len(found)
    assert count > 10
    pd.testing.assert_frame_equal(claims(lab, "payload"), told)
    assert len(found) == count
    name = "payload.write[arm=mapping,mapping=kept,size_bytes=84].p50"
    lab.say(f"A write takes {{{name}}}, or {{{name}:interval}}.")
    assert len(found) == count + 1


def test_what_claims_look_up_is_looked_up_once_for_readers_of_all_languages() -> None:
    run = opened(checkout(), checkout().reference)
    korean, english = (lab_of(run, checkout(), lang) for lang in ("ko", "en"))
    before = claims(korean, "payload")
    found = dict(english._sources[1].cached)
    assert found and claims(english, "payload").here.equals(before.here)
    assert english._sources[1].cached == found
    changed = lab_of(RunFolder(run.path, {**run.about, "begun": "2026-01-01"}), checkout(), "en")
    assert changed._sources[1] is not english._sources[1]


def test_a_copy_beside_a_write_is_of_the_most_bytes_and_told_with_its_size() -> None:
    """What lies in a cache moves more in a second than memory does, of which the claim speaks."""
    lab = lab_of(opened(checkout(), checkout().reference), checkout(), "en")
    (said,) = (here for here in corrections(lab, of=["0.8"]).here if "memcpy" in here)
    assert "memcpy alone, of 256,000,000\u00a0B at a time, " in said
