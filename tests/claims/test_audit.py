"""The audit: the texts' tables, their claims judged three ways, what they derive, and what corrects
them.
"""

import re
from decimal import Decimal
from functools import cache
from math import exp, inf
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from ipclab.claims import computed
from ipclab.claims.audit import audited, claims_table, corrections
from ipclab.claims.claim import FAILS, HOLDS, NOT_TESTABLE, Claim
from ipclab.claims.numbers import Numbers
from ipclab.claims.published import (
    TEXTS,
    Recomputed,
    _follows,
    printed_numbers,
    recompute,
    rounded,
    table_of,
)
from ipclab.claims.verdicts import on_run, on_table
from ipclab.claims.wording import NEEDS, with_interval
from ipclab.frames.address import Address
from ipclab.frames.remembered import forget
from ipclab.lab.lab import Lab
from ipclab.paths import Paths, checkout
from ipclab.report.pages.words import digits
from ipclab.stats.quantity import Quantity
from ipclab.store.bundle import opened
from ipclab.store.run import RunFolder
from ipclab.studies.file_io.sets import file_sets
from ipclab.words.filling import placeholders
from tests.support.commands import ROOT

PATHS = Paths(ROOT)
CLAIMS = [(study, claim) for study, text in TEXTS.items() for claim in text.claims]
FAIL_ON_OWN_TABLE = {
    *("0.2", "0.3", "0.12", "1.2b", "1.6", "2.10", "2.11", "2.13", "3.6"),
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
UNTESTABLE = {"0.4", "0.5", "0.9", "0.11", "0.12", "1.8", "1.9", "2.10", "2.11", "3.3", "3.6"}
# What a text advises, beside its 73 statements.
ADVICE = {"0.17", "1.12", "1.13", "2.13", "2.14", "4.18"}
SI = {
    **{"ns": (1, "ns"), "us": (1e3, "ns"), "ms": (1e6, "ns"), "s": (1e9, "ns")},
    **{"B": (1, "B"), "KB": (1e3, "B"), "MB": (1e6, "B"), "KiB": (2**10, "B"), "MiB": (2**20, "B")},
    **{"GiB": (2**30, "B"), "MB/s": (1e6, "B/s"), "GB/s": (1e9, "B/s"), "MiB/s": (2**20, "B/s")},
    **{"Gbps": (1.25e8, "B/s"), "%": (0.01, "share"), "x": (1, "1"), "count": (1, "count")},
}
# Every number that does not follow from its text's own table, by section, quantity and how often.
WRONG = {
    ("payload", "4.1", "small_bandwidth_high"): 1,
    ("payload", "4.1", "spread_high"): 1,
    ("payload", "6.1", "spread_bound"): 1,
    ("payload", "4.3", "past_latency_high"): 1,
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
        for study, text in TEXTS.items()
        for each in recompute(text, table_of(PATHS, study))
    ]


def _rows(study: str) -> list[Any]:
    return list(printed_numbers(PATHS, study).itertuples())


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
    ids = [claim.id for _, claim in CLAIMS]
    assert len(ids) == len(set(ids))
    assert {*ids} >= ADVICE
    assert len({*ids} - ADVICE) == 73
    assert [text.seed for text in TEXTS.values()] == ["000", "001", "002", "003", "004"]


@pytest.mark.parametrize(("study", "claim"), CLAIMS, ids=[claim.id for _, claim in CLAIMS])
def test_every_claim_is_told_in_full_and_judged_on_its_own_table(study: str, claim: Claim) -> None:
    expected = FAILS if claim.id in FAIL_ON_OWN_TABLE else HOLDS
    assert bool(claim.unstated) == (claim.id in UNSTATED)
    assert bool(claim.untestable) == (claim.id in UNTESTABLE)
    assert claim.untestable.startswith("needs ") == bool(claim.untestable)
    if not claim.unstated:
        assert (
            on_table(claim.bounds, claim.own or claim.here, table_of(PATHS, study)).word == expected
        )
    assert claim.quote and claim.section and claim.bounds.low <= claim.bounds.high
    assert {name for name, _ in placeholders(claim.meaning)} <= claim.figures.keys()
    assert bool(claim.fair) == bool(claim.adds)
    assert claim.needs.keys() <= NEEDS.keys()
    assert not [
        problem
        for msgid in (claim.meaning, claim.unstated, claim.untestable, claim.adds, claim.concedes)
        for problem in digits(msgid)
    ]


def test_what_calling_a_function_costs_is_not_judged_between_processes() -> None:
    assert claim_of("2.8").fair is None


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
            "roles": f"{threads}SYNC" if backend == "mmap" else f"{threads}RnC",
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
    claim = claim_of(name)
    found = on_run(claim.bounds, claim.here, Numbers("file_io", {"file_io": _files("file_io")}))
    assert (found.word, len(found.found)) == (FAILS, 2)
    assert found.deciding is not None
    assert found.deciding.value == pytest.approx(decides)


@pytest.mark.parametrize("claim", [claim for _, claim in CLAIMS], ids=lambda claim: claim.id)
def test_a_rounded_bound_is_a_figure_of_its_claim(claim: Claim) -> None:
    stated = [0.0, *(figure.value for figure in claim.figures.values())]
    saved = [1 - figure for figure in stated]
    added = [1 + figure for figure in stated]
    bounds = [end for end in claim.bounds.written if abs(end) < inf and claim.bounds.rounded]
    assert all(end in [pytest.approx(known) for known in stated + saved + added] for end in bounds)


def test_numbers_that_do_not_follow_are_these_and_no_others() -> None:
    wrong = [
        (study, each.row.section, _printed(study, each.row.metric))
        for study, each in outcomes()
        if not each.follows
    ]
    said = {name: wrong.count(name) for name in wrong}
    assert said == WRONG
    assert (len(outcomes()), len(wrong)) == (108, 13)
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
        ("file_io", "less the time", {"label": "serial.longest.5"}, -4.49e6, 4.49e6, False),
        ("file_io", "files times", {}, 4187593113.6, 4.096e9, False),
    ],
)
def test_single_derivations(study, by, columns, stated, computed, follows) -> None:
    found = outcome(study, by, **columns)
    assert (found.stated.value, found.computed.value) == pytest.approx((stated, computed), rel=1e-3)
    assert found.follows is follows


def test_numbers_in_the_files_are_those_of_the_code() -> None:
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
    found = rounded(SimpleNamespace(printed=printed, printed_unit=unit, value=value, unit="1"))
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
    every = [
        (study, correction) for study, text in TEXTS.items() for correction in text.corrections
    ]
    assert {name for _, correction in every for name in correction.claims} >= FAIL_ON_OWN_TABLE
    for study, correction in every:
        assert correction.own or correction.here
        assert not digits(correction.own) + digits(correction.here)
        values = correction.own_values(table_of(PATHS, study))
        assert {name for name, _ in placeholders(correction.own)} == values.keys()


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
    lab = Lab.of(opened(checkout(), checkout().reference), checkout(), "en")
    decides = Quantity(0.726, "1", 0.609, 0.9999)
    assert with_interval(lab, decides, (bound, inf)) == printed
    no_ends = Quantity(0.50733, "share", -inf, inf)
    assert with_interval(lab, no_ends, (bound, inf)) == "50.7% [no interval]"


def claim_of(name: str) -> Claim:
    (found,) = (claim for _, claim in CLAIMS if claim.id == name)
    return found


def test_every_word_of_likeness_has_one_tolerance() -> None:
    """1.15, 20 %, 5 % and a factor of 2 once meant "about equal" in four claims."""
    alike = {1 / 1.25, 1.25}
    for _, claim in CLAIMS:
        if re.search(r"factor of|does not depend", claim.meaning) and claim.id != "1.7":
            ends = {end for end in claim.bounds.written if abs(end) < inf}
            assert ends <= alike, claim.id
    assert claim_of("1.7").bounds.written == (3 / 1.25, 3 * 1.25)
    assert {claim_of(name).bounds.low for name in ("0.6", "1.5")} == {0.5}


def test_a_range_is_tested_at_both_ends() -> None:
    written = {name: claim_of(name).bounds.written for name in ("0.1", "0.10", "0.14", "3.2")}
    assert written["0.10"] == (18, 58)
    assert written["3.2"] == (3.075, 3.981)
    assert all(low > -inf and high < inf for low, high in written.values())


@pytest.mark.slow
def test_no_claim_stands_among_the_right_ones_and_is_put_right() -> None:
    lab = Lab.of(opened(checkout(), checkout().reference), checkout(), "en")
    found = audited(lab)
    failing = {*found.id[(found[["own", "here", "fair"]] == FAILS).any(axis="columns")]}
    named = corrections(lab, of=failing).claims.str.split(", ").explode()
    assert failing >= {*named[named.str.fullmatch(r"\d\.\d+\w?")]}
    assert {"1.7", "2.3"}.isdisjoint(named)  # which are undecided


@pytest.mark.slow
def test_the_reference_run_is_judged_and_every_rule_reads_it() -> None:
    lab = Lab.of(opened(checkout(), checkout().reference), checkout(), "en")
    found = audited(lab)
    assert len(found) == len(CLAIMS)
    untestable = found[found.here == NOT_TESTABLE]
    assert all(untestable.here_reason.str.startswith("needs "))
    assert set(untestable.id) >= UNTESTABLE
    assert set(found.id[found.fair == NOT_TESTABLE]) >= UNTESTABLE
    assert set(found[found.own == NOT_TESTABLE].id) == UNSTATED
    assert not (corrections(lab)["own"] + corrections(lab)["here"] == "––").any()
    table = claims_table(lab, "payload")
    assert table.name == "payload-claims"
    rows = {row[0]: row for row in table.rows}
    assert [rows[name][2] for name in ("0.1", "0.1b")] == ["2 to 3 (rounded)", "> 1"]
    assert rows["0.1"][3] == "holds: 3.14"
    multiplexer = {row[0]: row[3] for row in claims_table(lab, "multiplexer").rows}
    assert multiplexer["2.10"] == "fails: 4,096\u00a0B (its code)"
    assert rows["0.7"][3] == "not testable here (the text does not time the parts of a write)"


def test_what_claims_look_up_is_looked_up_once_for_readers_of_all_languages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 792 look-ups of the page of claims, two of three were of what it had found."""
    forget()
    run = opened(checkout(), checkout().reference)
    korean, english = (Lab.of(run, checkout(), lang) for lang in ("ko", "en"))
    found = list[Address]()
    find = Address.find

    def noted(address: Address, *given: Any, **named: Any) -> Any:
        found.append(address)
        return find(address, *given, **named)

    monkeypatch.setattr(Address, "find", noted)
    before = audited(korean, "payload")
    count = len(found)
    assert count > 10
    assert audited(english, "payload").here.equals(before.here)
    assert len(found) == count
    changed = RunFolder(run.path, {**run.about, "begun": "2026-01-01"})
    assert computed.of_text(changed, "payload") is not computed.of_text(run, "payload")


def test_what_this_run_decides_stands_first_and_nothing_is_left_out() -> None:
    lab = Lab.of(opened(checkout(), checkout().reference), checkout(), "en")
    found = audited(lab, "shared_dict")
    names = [row[0] for row in claims_table(lab, "shared_dict").rows]
    decided = {*found.id[found.decided]}
    assert {*names[: len(decided)]} == decided and 0 < len(decided) < len(names)
    assert [*names] != sorted(names) and {*names} == {*found.id}


def test_a_table_of_claims_says_what_its_text_concedes_and_how_far_it_was_rerun() -> None:
    lab = Lab.of(opened(checkout(), checkout().reference), checkout(), "en")
    table = claims_table(lab, "shared_dict")
    (conceded,) = (note for note in table.notes if "each reader and iteration" in note)
    assert all(f"{name}" in conceded for name in ("1.2", "1.2b", "1.7", "1.12"))
    assert {row[-1] for row in table.rows} == {
        "Writes of LMDB and shared memory (10 of 1)",
        "not run by the text",
    }
    told = {row[0]: row[-1] for row in claims_table(lab, "payload").rows}
    assert (told["0.1"], told["0.16"]) == ("the same", "not run by the text")


def test_the_text_pins_nothing_and_neither_does_what_judges_it() -> None:
    """Where 50,000 round trips were made on CPUs that the kernel chose, these decide."""
    rows: list[dict[str, Any]] = [
        {"arm": "published", "op": "round-trip", "metric": metric, "placement": placement}
        | {"backend": backend, "size_bytes": size, "value": value * (2 if metric == "p50" else 1)}
        for placement in ("free", "cross")
        for metric in ("mean", "p50")
        for size in (100, 10000, 500000, 2000000)
        for backend, value in (
            ("zmq-ipc", 300.0 if placement == "free" else 50.0),
            ("shm-rpc-bridge", 100.0),
        )
    ]
    same: dict[str, Any] = {
        "unit": "ns",
        "study": "round_trip",
        "point": "p",
        "launches": 5,
        "samples": 10,
    }
    frame = pd.DataFrame(rows).assign(**same, flags="")
    frame = frame.assign(low=frame.value, high=frame.value)
    claim = claim_of("3.1")
    found = on_run(claim.bounds, claim.here, Numbers("round_trip", {"round_trip": frame}))
    assert found.deciding is not None
    assert (found.word, found.deciding.value) == (HOLDS, 3.0)
    every = frame[frame.placement == "free"].assign(arm="whole")
    every = every.assign(value=every.value.where(every.backend != "zmq-ipc", every.value * 2))
    once = every.size_bytes > 10_000  # of which there is one launch, and so no interval
    low, high = every.value.mask(once, -inf), every.value.mask(once, inf)
    whole = pd.concat([frame, every.assign(low=low, high=high)], ignore_index=True)
    found = on_run(claim.bounds, claim.here, Numbers("round_trip", {"round_trip": whole}))
    assert [each.value for each in found.found] == [6.0, 6.0, 3.0, 3.0]
    pinned = frame[(frame.placement == "cross") | (frame.size_bytes == 100)]
    found = on_run(claim.bounds, claim.here, Numbers("round_trip", {"round_trip": pinned}))
    assert [each.value for each in found.found] == [3.0, 0.5, 0.5, 0.5]


def test_a_copy_beside_a_write_is_of_the_most_bytes_and_told_with_its_size() -> None:
    """What lies in a cache moves more in a second than memory does, of which the claim speaks."""
    lab = Lab.of(opened(checkout(), checkout().reference), checkout(), "en")
    (said,) = (here for here in corrections(lab, of=["0.8"]).here if "memcpy" in here)
    assert "memcpy alone, of 256,000,000\u00a0B at a time, " in said
