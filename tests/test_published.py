"""The transcribed tables, and every number that the texts derive from them."""

import re
from decimal import Decimal

import pytest

from ipclab.claims import derivations, derivations_framing
from ipclab.claims.claim import Quantity, exact
from ipclab.claims.derivations import DERIVATIONS
from ipclab.claims.derived import HIGHEST, LOWEST, TRUNCATED, Derivation, Outcome, do_not_follow, recompute
from ipclab.claims.published import Book, books, rounding
from ipclab.facts.fact import Fact
from ipclab.paths import Paths
from ipclab.render.words import digits
from tests.commands import ROOT

BOOKS = books(Paths(ROOT))
OUTCOMES = list(recompute(DERIVATIONS, BOOKS))
COLUMNS = {"seed", "section", "label", "size_bytes", "quantity", "value", "unit", "value_si", "unit_si", "kind"}
SI = {
    **{"ns": (1, "ns"), "us": (1e3, "ns"), "ms": (1e6, "ns"), "s": (1e9, "ns")},
    **{"B": (1, "B"), "KB": (1e3, "B"), "MB": (1e6, "B"), "KiB": (2**10, "B"), "MiB": (2**20, "B")},
    **{"GiB": (2**30, "B"), "MB/s": (1e6, "B/s"), "GB/s": (1e9, "B/s"), "MiB/s": (2**20, "B/s")},
    **{"Gbps": (1.25e8, "B/s"), "%": (0.01, "share"), "x": (1, "1"), "count": (1, "count")},
}
# Every number that does not follow from its text's own table: (seed, section, quantity, how it was computed).
WRONG = {
    ("000", "2.2", "size", derivations.COUNTED): 3,
    ("000", "2.2", "size", derivations.DIMENSIONS): 2,
    ("000", "3.1", "bandwidth", derivations.BY_BYTES): 6,
    ("000", "5.2", "bandwidth_rounded", derivations.BY_BYTES): 2,
    ("000", "4.1", "small_bandwidth_high", derivations.BELOW_BOUND): 1,
    ("000", "4.1", "read_faster_low", derivations.WRITE_OVER_READ): 1,
    ("000", "4.1", "read_faster_high", derivations.WRITE_OVER_READ): 1,
    ("000", "4.1", "spread_high", derivations.SPREAD): 1,
    ("000", "6.1", "spread_bound", derivations.LARGE_SPREAD): 1,
    ("000", "4.3", "past_latency_low", derivations.SIZE_OVER_SPEED): 1,
    ("000", "4.3", "past_latency_high", derivations.SIZE_OVER_SPEED): 1,
    ("000", "5.1", "improvement_low", derivations.TRANSFER_OVER_PAST): 1,
    ("001", "数据大小", "bytes_per_entry", derivations.PICKLED): 1,
    ("001", "性能倍数对比", "write_slower", derivations.PER_MESSAGE): 1,
    ("002", "핵심 성과 요약", "size_label", derivations_framing.LABELLED): 1,
    ("002", "기술적 인사이트", "memory_saved", derivations_framing.BY_POOL): 1,
    ("002", "벤치마크 결과", "mean", derivations_framing.LOWEST_OF_THREE): 2,
    ("002", "핵심 성과 요약", "indirection", derivations_framing.REST): 1,
    ("002", "기술적 인사이트", "threshold_text", derivations_framing.CODE): 1,
    ("004", "Multithread Sync vs Overlapped IO", "delta", "DELTA"): 1,
    ("004", "Read Call Task Overhead", "bytes", "ALL_FILES"): 1,
    ("004", "Do Read Call Task as soon as possible", "bytes", "DRAWN"): 1,
    ("004", "Massive File Count", "bytes", "DRAWN"): 1,
    ("004", "Read Call Task Overhead", "compute_low", "MICROSECONDS"): 1,
    ("004", "Read Call Task Overhead", "compute_high", "MICROSECONDS"): 1,
    ("004", "Read Call Task Overhead", "compute_mean", "MICROSECONDS"): 1,
    ("004", "Read Call Task Overhead", "compute_variance", "MICROSECONDS"): 1,
    ("004", "Multithread Sync vs Overlapped IO", "compute_mean", "MICROSECONDS"): 1,
}


def by_name(name: str) -> str:
    """Return the msgid of a name in the list above."""
    from ipclab.claims import derivations_reading

    return getattr(derivations_reading, name) if name.isupper() else name


def outcome(seed: str, by: str, **key: str | int) -> Outcome:
    """Return the one derivation of a text with this msgid and these columns."""
    wanted = {name: str(value) for name, value in key.items()}
    found = [each for each in OUTCOMES if each.derivation.by == by and wanted.items() <= each.row.items()]
    (one,) = [each for each in found if each.derivation.seed == seed]
    return one


@pytest.mark.parametrize("seed", ["000", "001", "002", "003", "004"])
def test_every_table_is_tidy_and_its_si_values_follow_from_what_is_printed(seed: str) -> None:
    for row in BOOKS[seed].rows:
        assert row.keys() >= COLUMNS
        assert row["seed"] == seed
        assert all(row[name] for name in ("section", "label", "quantity", "value", "kind"))
        factor, unit = SI[row["unit"]]
        assert row["unit_si"] == unit
        if not (row["unit"] == "KB" and row["value_si"] == "8192"):  # a constant of code, which counts in 1024
            assert float(row["value_si"]) == pytest.approx(float(Decimal(row["value"])) * factor, rel=1e-9), row
        assert row["kind"] in ("published", "estimate")


def test_every_number_is_recomputed_and_those_that_do_not_follow_are_these() -> None:
    found: dict[tuple[str, str, str, str], int] = {}
    for each in OUTCOMES:
        if not each.follows:
            key = (each.derivation.seed, each.row["section"], each.row["quantity"], each.derivation.by)
            found[key] = found.get(key, 0) + 1
    assert found == {(*key[:3], by_name(key[3])): count for key, count in WRONG.items()}
    assert do_not_follow(DERIVATIONS, BOOKS) == [each for each in OUTCOMES if not each.follows]
    per_text = {seed: sum(each.derivation.seed == seed for each in OUTCOMES) for seed in BOOKS}
    assert all(per_text[seed] >= 7 for seed in BOOKS)


def test_eighty_four_bytes_were_not_what_was_tested() -> None:
    wrong = outcome("000", derivations.COUNTED, size_bytes=84)
    assert (wrong.stated.value, wrong.computed.value) == (84, 88)


def test_mb_and_mib_are_mixed() -> None:
    label = outcome("000", derivations.BY_LABEL, op="write", size_bytes=1_382_400)
    by_bytes = outcome("000", derivations.BY_BYTES, op="write", size_bytes=1_382_400, section="3.1")
    assert label.follows
    assert by_bytes.factor == pytest.approx(2**20 / 1e6, rel=1e-3)


def test_the_spreads_are_not_what_the_text_says_twice() -> None:
    assert round(outcome("000", derivations.LARGE_SPREAD).computed.value, 3) == 0.330
    (every,) = [each for each in OUTCOMES if each.row["quantity"] == "spread_high"]
    assert round(every.computed.value, 3) == 0.379
    spreads = derivations.spreads(BOOKS["000"])
    assert all(each.value > 0.10 for each in spreads)


def test_reads_are_never_two_to_three_times_as_fast() -> None:
    ratios = [each.value for each in derivations.ratios(BOOKS["000"])]
    assert [round(each, 2) for each in ratios] == [1.25, 1.76, 3.14]
    assert not any(2 <= each <= 3 for each in ratios)


def test_145_times_is_300_messages_against_one() -> None:
    total, each = (outcome("001", by) for by in (derivations.PER_TOTAL, derivations.PER_MESSAGE))
    assert total.follows
    assert total.computed.value / each.computed.value == pytest.approx(300)
    assert each.computed.value < 0.5


def test_an_entry_has_half_the_bytes() -> None:
    sizes = [each.value for each in derivations.entry_sizes()]
    assert [round(each * count) for each, count in zip(sizes, (10, 100, 1000, 10_000), strict=True)] == [
        *(521, 5_105, 55_039, 577_129),
    ]
    assert not outcome("001", derivations.PICKLED).follows


def test_the_saving_is_that_of_the_chunks_and_the_pool_alone_costs() -> None:
    chunks = outcome("002", derivations_framing.BY_CHUNKS)
    pool = outcome("002", derivations_framing.BY_POOL)
    assert chunks.follows
    assert round(chunks.computed.value, 3) == 0.936
    assert pool.computed.value < -0.5
    assert (derivations_framing.frames(1 << 10), derivations_framing.frames(16 << 10)) == (1026, 66)


def test_the_threshold_is_half_of_what_is_written() -> None:
    wrong = outcome("002", derivations_framing.CODE)
    assert (wrong.stated.value, wrong.computed.value) == (8192, 4096)


def test_the_delta_of_five_threads_has_the_wrong_sign() -> None:
    wrong = outcome("004", by_name("DELTA"), label="serial.longest.5")
    assert wrong.computed.value == -wrong.stated.value == 4.49e6
    assert all(outcome("004", by_name("DELTA"), label=f"serial.longest.{count}").follows for count in (6, 7, 8))


def test_microseconds_were_divided_by_1024() -> None:
    found = [each for each in OUTCOMES if each.derivation.by == by_name("MICROSECONDS")]
    assert sorted(each.computed.value for each in found) == [50e3, 400e3, 400e3, 5e6, 5e6]
    assert not any(each.follows for each in found)


def test_a_million_files_of_4_kib_are_not_3_9_gib() -> None:
    wrong = outcome("004", by_name("ALL_FILES"))
    assert wrong.computed.value / 2**30 == pytest.approx(3.815, abs=1e-3)


def test_the_advantage_of_large_files_shrinks() -> None:
    book = BOOKS["004"]
    saved = []
    for case in ("base", "big"):
        serial, overlapped = (book("elapsed", label=f"serial.{case}.{roles}").value for roles in ("4SYNC", "1R+3C"))
        saved.append(1 - overlapped / serial)
    assert [round(each, 3) for each in saved] == [0.237, 0.014]


@pytest.mark.parametrize(
    ("value", "unit", "si", "low", "high"),
    [
        ("0.040", "ms", "40000", 39_500, 40_500),
        ("263.4", "MB/s", "263400000", 263.35e6, 263.45e6),
        ("18", "x", "18", 17.5, 18.5),
        ("22", "count", "22", 22, 22),
        ("84", "B", "84", 84, 84),
        ("-4.49", "ms", "-4490000", -4.495e6, -4.485e6),
        ("0", "%", "0", -0.005, 0.005),
    ],
)
def test_a_printed_number_stands_for_all_that_round_to_it(value: str, unit: str, si: str, low: float, high: float):
    found = rounding({"value": value, "unit": unit, "value_si": si})
    assert (found.low, found.high) == pytest.approx((low, high))


@pytest.mark.parametrize(
    ("sense", "computed", "follows"),
    [
        ("equal", 2.06, False),
        ("equal", 2.04, True),
        (TRUNCATED, 2.09, True),
        (TRUNCATED, 1.99, False),
        (LOWEST, 1.9, False),
        (LOWEST, 2.1, True),
        (HIGHEST, 2.1, False),
        (HIGHEST, 1.9, True),
    ],
)
def test_whether_a_number_follows_changes_with_the_table(sense: str, computed: float, follows: bool) -> None:
    row = {"quantity": "q", "value": "2.0", "unit": "x", "value_si": "2.0"}
    each = Derivation("x", {"quantity": "q"}, lambda book: exact(computed), "by", sense)
    (found,) = recompute([each], {"x": Book([row])})
    assert found.follows is follows


def test_a_number_that_is_not_printed_or_printed_with_two_values_is_refused() -> None:
    rows = [{"quantity": "q", "value_si": value, "value": value, "unit": "x"} for value in ("1", "2")]
    with pytest.raises(LookupError, match="2 rows"):
        Book(rows).row("q")
    with pytest.raises(LookupError, match="0 rows"):
        Book(rows).row("other")


def test_how_numbers_are_computed_is_said_without_digits() -> None:
    assert not [problem for each in DERIVATIONS for problem in digits(each.by)]
    assert all(re.fullmatch(r"00\d", each.seed) for each in DERIVATIONS)


def test_facts_of_the_texts_name_their_source() -> None:
    from ipclab.claims.published import texts

    facts = texts(Paths(ROOT))
    stray = [name for name, fact in facts.items() if fact.kind != "computed" and not fact.source.startswith("seed 00")]
    assert stray == []
    assert all(isinstance(fact, Fact) for fact in facts.values())
    assert Quantity(1, 1, 1) == exact(1)
