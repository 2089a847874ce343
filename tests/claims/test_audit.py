"""The audit: the texts' tables, their claims judged three ways, what they derive, and what corrects
them.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache
from math import inf
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
from ipclab.claims.texts import payload
from ipclab.claims.verdicts import in_unit, on_run, on_table
from ipclab.claims.wording import NEEDS, with_interval
from ipclab.commands.report import decided
from ipclab.lab.lab import Lab
from ipclab.paths import checkout
from ipclab.stats.quantity import Quantity
from ipclab.store.run import RunFolder
from ipclab.words.filling import placeholders
from ipclab.words.words import Words
from tests.support.told import reference

PATHS = checkout()
CLAIMS = [(study, claim) for study, text in TEXTS.items() for claim in text.claims]
FAIL_ON_OWN_TABLE = {"0.2", "0.3", "0.12", "1.2b", "1.6", "2.10", "2.11", "2.13", "3.6"}
UNSTATED = {
    *("0.6", "0.7", "0.8", "0.9", "0.13", "0.15", "0.16"),
    *("1.5", "1.7", "1.8", "1.9", "1.10", "1.11", "2.7", "2.9", "4.2"),
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
def tables() -> dict[str, Numbers]:
    """Return the table of each text, by its study."""
    return {study: table_of(PATHS, study) for study in TEXTS}


@cache
def outcomes() -> list[tuple[str, Recomputed]]:
    """Return by study what follows from its own table: computed for all tests of it together."""
    return [
        (study, each) for study, text in TEXTS.items() for each in recompute(text, tables()[study])
    ]


def claim_of(name: str) -> Claim:
    (found,) = (claim for _, claim in CLAIMS if claim.id == name)
    return found


@pytest.mark.parametrize("study", TEXTS)
def test_every_table_is_tidy_and_its_si_values_follow_from_what_is_printed(study: str) -> None:
    row: Any
    for row in printed_numbers(PATHS, study).itertuples():
        factor, unit = SI[row.printed_unit]
        assert (row.text, row.unit) == (TEXTS[study].number, unit)
        assert row.kind in ("published", "estimate")
        # a constant of code counts its KB in 1024
        if (row.printed_unit, row.value) != ("KB", 8192):
            assert row.value == pytest.approx(float(Decimal(row.printed)) * factor, rel=1e-9), row


def test_every_claim_is_there_once_in_the_order_of_the_texts() -> None:
    ids = {claim.id for _, claim in CLAIMS}
    assert len(ids) == len(CLAIMS) == 73 + len(ADVICE) and ids > ADVICE
    assert [text.number for text in TEXTS.values()] == ["000", "001", "002", "003", "004"]


@pytest.mark.parametrize(("study", "claim"), CLAIMS, ids=[claim.id for _, claim in CLAIMS])
def test_every_claim_is_told_in_full_and_judged_on_its_own_table(study: str, claim: Claim) -> None:
    assert bool(claim.unstated) == (claim.id in UNSTATED)
    assert bool(claim.untestable) == (claim.id in UNTESTABLE)
    assert claim.untestable.startswith("needs ") == bool(claim.untestable)
    assert claim.quote and claim.section and claim.bounds.low <= claim.bounds.high
    assert {name for name, _ in placeholders(claim.meaning)} <= claim.figures.keys()
    assert bool(claim.fair) == bool(claim.adds)
    assert claim.needs.keys() <= NEEDS.keys()
    if not claim.unstated:
        own = on_table(claim.bounds, claim.table or claim.here, tables()[study])
        assert own.word == (FAILS if claim.id in FAIL_ON_OWN_TABLE else HOLDS)
    if claim.bounds.rounded:  # what is rounded stands in the text: a figure, or 1 more or less
        figures = [0.0, *(figure.value for figure in claim.figures.values())]
        stated = [pytest.approx(end) for x in figures for end in (x, 1 - x, 1 + x)]
        assert all(end in stated for end in claim.bounds.written if abs(end) < inf)


def test_bounds_are_as_wide_as_the_words_of_their_texts() -> None:
    """1.15, 20 %, 5 % and a factor of 2 once meant "about equal" in four claims."""
    written = {claim.id: claim.bounds.written for _, claim in CLAIMS}
    alike = ["factor of", "does not depend"]
    for claim in (claim for _, claim in CLAIMS if any(word in claim.meaning for word in alike)):
        ends = {end for end in claim.bounds.written if abs(end) < inf}
        assert ends <= {1 / 1.25, 1.25} or claim.id == "1.7", claim.id
    assert written["1.7"] == (3 / 1.25, 3 * 1.25)
    assert written["0.6"][0] == written["1.5"][0] == 0.5
    assert (written["0.10"], written["3.2"]) == ((18, 58), (3.075, 3.981))
    assert all(abs(end) < inf for name in ("0.1", "0.14") for end in written[name])


def on_rows(name: str, study: str, rows: Sequence[Mapping[str, Any]]) -> tuple[str, list[float]]:
    """Return the verdict of a claim on a run of these rows, and the values that it compares.

    A row without ends has a value without spread.
    """
    known: dict[str, Any] = {"study": study, "point": "p", "unit": "ns", "flags": ""}
    frame = pd.DataFrame(rows).assign(**known, launches=5, samples=10)
    for end in ("low", "high"):
        frame[end] = frame[end].fillna(frame.value) if end in frame else frame.value
    claim = claim_of(name)
    run = Numbers(study, {study: frame})
    compared = in_unit(claim.here(run), claim.bounds.unit)
    found = on_run(claim.bounds, claim.here, run)
    return found.word, [float(each.value) for each in compared]


def test_latency_has_to_grow_at_every_step() -> None:
    at = {"arm": "overlap", "op": "file.latency", "backend": "overlapped", "cache": "cold"}
    rows = [
        at | {"metric": "p50", "depth": 4**step, "value": ns} for step, ns in enumerate((9, 20, 10))
    ]
    word, compared = on_rows("4.2", "file_io", rows)
    assert word == FAILS and compared == pytest.approx([20 / 9, 0.5])


@pytest.mark.parametrize(
    ("name", "cache", "direct"), [("4.12", "cold", "yes"), ("4.12b", "warm", "no")]
)
def test_maps_are_compared_with_reads_by_as_many_threads(
    name: str, cache: str, direct: str
) -> None:
    at = {"arm": "map", "op": "elapsed", "metric": "p50", "set": "exp-small", "advice": "none"}
    at |= {"cache": cache, "roles": "any"}
    maps = [("mmap", 2, 3, "no"), ("mmap", 4, 9, "no")]
    reads = [("overlapped", threads, ns, direct) for threads, ns in ((2, 4), (4, 5), (8, 2))]
    columns = ("backend", "threads", "value", "direct")
    rows = [at | dict(zip(columns, row, strict=True)) for row in maps + reads]
    word, compared = on_rows(name, "file_io", rows)
    assert word == FAILS and compared == pytest.approx([0.75, 1.8])


SIZES = (100, 10_000, 500_000, 2_000_000)


def trips(zmq: float, sizes: Sequence[int], **at: Any) -> list[dict[str, Any]]:
    """Return rows of round trips through ZeroMQ, and through shared memory, which take 100 ns."""
    return [
        {"op": "round-trip", "metric": "mean", "backend": backend, "size_bytes": size, "value": ns}
        | at
        for backend, ns in (("zmq-ipc", zmq), ("shm-rpc-bridge", 100.0))
        for size in sizes
    ]


def test_the_text_pins_nothing_and_neither_does_what_judges_it() -> None:
    """Where 50,000 round trips were made on CPUs that the kernel chose, these decide."""
    free = {"arm": "published", "placement": "free"}
    whole = {"arm": "whole", "placement": "free"}
    cross = trips(50.0, SIZES, arm="published", placement="cross")
    published = trips(300.0, SIZES, **free) + cross
    assert on_rows("3.1", "round_trip", published) == (HOLDS, [3.0] * 4)
    # of large ones there is one launch, and so no interval
    once = trips(600.0, SIZES[2:], **whole, low=-inf, high=inf)
    all_made = published + trips(600.0, SIZES[:2], **whole) + once
    assert on_rows("3.1", "round_trip", all_made)[1] == [6.0, 6.0, 3.0, 3.0]
    pinned = trips(300.0, SIZES[:1], **free) + cross
    assert on_rows("3.1", "round_trip", pinned)[1] == [3.0, 0.5, 0.5, 0.5]


def test_numbers_that_do_not_follow_are_these_and_no_others() -> None:
    wrong = [
        (study, each.row.section, _printed(study, each.row.metric))
        for study, each in outcomes()
        if not each.follows
    ]
    assert {name: wrong.count(name) for name in wrong} == WRONG
    assert (len(outcomes()), len(wrong)) == (108, 13)


def _printed(study: str, metric: str) -> str:
    quantities = {
        name.rpartition(".")[2]: quantity for quantity, name in TEXTS[study].printed.items()
    }
    return quantities.get(metric, metric)


@pytest.mark.parametrize(
    ("study", "by", "label", "stated", "computed"),
    [
        ("payload", "for the largest payload", "", 0.1, 0.3304),
        ("file_io", "less the time", "serial.longest.5", -4.49e6, 4.49e6),
    ],
)
def test_what_does_not_follow_is_told_with_what_does(study, by, label, stated, computed) -> None:
    (found,) = (
        each
        for name, each in outcomes()
        if name == study and by in each.by and label in ("", each.row.label)
    )
    assert not found.follows
    assert (found.row.value, found.computed.value) == pytest.approx((stated, computed), rel=1e-3)


@pytest.mark.parametrize(
    ("printed", "unit", "value", "low", "high"),
    [
        ("-4.49", "ms", -4_490_000, -4.495e6, -4.485e6),
        ("22", "count", 22, 22, 22),
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
        assert correction.table or correction.here
        values = correction.table_values(tables()[study])
        assert {name for name, _ in placeholders(correction.table)} == values.keys()


def test_a_printed_interval_never_reaches_a_bound_that_it_does_not() -> None:
    lab: Any = SimpleNamespace(words=Words.load("en"))
    decides = Quantity(0.726, "1", 0.609, 0.9999)
    assert with_interval(lab, decides, (1.0, inf)) == "0.72600 [0.60900–0.99990]"
    for bound in (2.0, 0.609):
        assert with_interval(lab, decides, (bound, inf)) == "0.726 [0.609–1.000]"
    no_ends = Quantity(0.50733, "share", -inf, inf)
    assert with_interval(lab, no_ends, (1.0, inf)) == "50.7% [no interval]"


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab.of(reference(), PATHS, "en")


@pytest.fixture(scope="module")
def judged(lab: Lab) -> pd.DataFrame:
    """Every claim with its verdicts on the reference run."""
    return audited(lab)


@pytest.mark.slow
def test_the_reference_run_is_judged_and_every_rule_reads_it(
    lab: Lab, judged: pd.DataFrame
) -> None:
    assert len(judged) == len(CLAIMS)
    untestable = judged[judged.here == NOT_TESTABLE]
    assert all(untestable.here_reason.str.startswith("needs "))
    assert {*untestable.id} >= UNTESTABLE
    assert {*judged.id[judged.fair == NOT_TESTABLE]} >= UNTESTABLE
    assert {*judged.id[judged.table == NOT_TESTABLE]} == UNSTATED
    assert not (corrections(lab)["table"] + corrections(lab)["here"] == "––").any()
    told = judged.set_index("id")
    assert [*told.bounds[["0.1", "0.1b"]]] == ["2 to 3 (rounded)", "> 1"]
    assert told.table_told["0.1"] == "holds: 3.14"
    assert told.table_told["2.10"] == "fails: 4,096\u00a0B (its code)"
    not_timed = "not testable here (the text does not time the parts of a write)"
    assert told.table_told["0.7"] == not_timed


@pytest.mark.slow
def test_the_end_of_a_report_counts_the_statements_that_the_machine_can_test(
    judged: pd.DataFrame,
) -> None:
    count = int(judged.here.isin([HOLDS, FAILS]).sum())
    testable = len(judged) - judged.here_reason.str.startswith("needs ").sum()
    assert 0 < count < testable < len(judged)
    said = f"Decided: {count} of the {testable} statements that this machine can test."
    assert decided(reference(), PATHS) == said


@pytest.mark.slow
def test_no_claim_stands_among_the_right_ones_and_is_put_right(
    lab: Lab, judged: pd.DataFrame
) -> None:
    failing = {*judged.id[(judged[["table", "here", "fair"]] == FAILS).any(axis="columns")]}
    named = corrections(lab, of=failing).claims.str.split(", ").explode()
    assert failing >= {*named[named.str.fullmatch(r"\d\.\d+\w?")]}
    assert {"1.7", "2.3"}.isdisjoint(named)  # which are undecided


@pytest.mark.slow
def test_a_table_of_claims_leaves_none_out_and_says_what_its_text_concedes(
    lab: Lab, judged: pd.DataFrame
) -> None:
    """What this run decides stands first; how far it was rerun, last."""
    found = judged[judged.study == "shared_dict"]
    table = claims_table(lab, "shared_dict")
    names = [row[0] for row in table.rows]
    decided_here = {*found.id[found.decided]}
    assert table.name == "shared-dict-claims" and {*names} == {*found.id}
    assert {*names[: len(decided_here)]} == decided_here and 0 < len(decided_here) < len(names)
    (conceded,) = (note for note in table.notes if "each reader and iteration" in note)
    assert all(name in conceded for name in ("1.2", "1.2b", "1.7", "1.12"))
    assert {row[-1] for row in table.rows} == {
        "Writes of LMDB and shared memory (10 instead of 1)",
        "not run by the text",
    }


def test_a_ratio_has_one_definition_in_all_documents(lab: Lab) -> None:
    """The appendix compares transfers as v1.0 makes them; the corrected sentences once took another
    method's.
    """
    told = corrections(lab).set_index("claims").here
    run = computed.of_text(lab.run, "payload")
    write, read = (payload.as_v10(op)(run) for op in payload.ENDS)
    past, both = payload.as_v09()(run), write + read
    for claim, value in {"0.10": past / both, "0.11": both * 20, "0.14": past / write}.items():
        spec = "ms,interval" if claim == "0.11" else "x,interval"
        assert lab.words.numbers.format(value, spec) in told[claim]
        assert "as v1.0 makes" in told[claim]


def test_a_copy_beside_a_write_is_of_the_most_bytes_and_told_with_its_size(lab: Lab) -> None:
    """What lies in a cache moves more in a second than memory does, of which the claim speaks."""
    (said,) = (here for here in corrections(lab, of=["0.8"]).here if "memcpy" in here)
    assert "memcpy alone, of 256,000,000\u00a0B at a time, " in said


def test_what_claims_look_up_is_looked_up_once_for_readers_of_all_languages(lab: Lab) -> None:
    """Of 792 look-ups of the page of claims, two of three were of what it had found."""
    korean, english = (Lab.of(lab.run, PATHS, lang) for lang in ("ko", "en"))
    found = audited(korean, "payload").here
    looked_up = {**computed.of_text(lab.run, "payload").looked_up}
    assert len(looked_up) > 10
    assert audited(english, "payload").here.equals(found)
    again = computed.of_text(lab.run, "payload").looked_up
    assert len(again) == len(looked_up)
    assert all(again[address] is values for address, values in looked_up.items())
    changed = RunFolder(lab.run.path, {**lab.run.about, "begun": "2026-01-01"})
    assert computed.of_text(changed, "payload").looked_up == {}
