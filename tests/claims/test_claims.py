"""Numbers of frames, comparisons, verdicts on both sides of them, and files of a person's own
claims, refused with the line.
"""

from collections.abc import Sequence
from functools import partial
from math import inf, log
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ipclab.claims.amounts import RuleError
from ipclab.claims.audit import audited, with_own
from ipclab.claims.claim import FAILS, HOLDS, NOT_TESTABLE, UNDECIDED
from ipclab.claims.comparison import Bounds, Rule
from ipclab.claims.extremes import (
    bandwidth,
    best_over_best,
    change,
    growth,
    matched,
    pairs,
    power,
)
from ipclab.claims.lines import Lines
from ipclab.claims.numbers import ALL, Numbers, Values, listed, look, several
from ipclab.claims.simultaneous import simultaneous
from ipclab.claims.verdicts import decide, on_run, on_table
from ipclab.errors import LabError, UsageError
from ipclab.frames.address import Address, MissingError, value_at
from ipclab.lab.lab import Lab
from ipclab.paths import checkout
from ipclab.stats.quantity import Quantity, of
from ipclab.words.numbers import Formatter
from tests.project.test_documents import blocks
from tests.support.commands import ROOT
from tests.support.told import reference

COLUMNS = ("op", "metric", "placement", "size_bytes", "unit", "value", "low", "high")
ROWS = [
    ("write", "p50", "same", 84, "ns", 200, 190, 210),
    ("write", "p50", "cross", 84, "ns", 300, 280, 330),
    ("write", "p50", "same", 1000, "ns", 800, 700, 900),
    ("read", "p50", "same", 84, "ns", 100, 95, 105),
    ("read", "p50", "cross", 84, "ns", 100, 90, 120),
    ("read", "p50", "same", 1000, "ns", 200, 190, 210),
    ("read", "mean", "same", 84, "ns", 110, 100, 120),
    ("copy", "bandwidth", "same", 84, "B/s", 8e7, 7e7, 1e8),
]


def frame(rows: Sequence[tuple[object, ...]]) -> pd.DataFrame:
    made = pd.DataFrame(rows, columns=COLUMNS)
    return made.assign(study="payload", point="p", launches=5, samples=10, flags="")


FRAME = frame(ROWS)
RUN = Numbers("payload", {"payload": FRAME, "shared_dict": FRAME.iloc[:0]}, {"cpus": 2})


def points(study: str) -> pd.DataFrame:
    return RUN.frames[study]


def values(series: Values) -> list[float]:
    return [float(each.value) for each in series]


def test_series_pair_equal_levels() -> None:
    writes = RUN.each("write", placement="same", size_bytes=ALL)
    reads = RUN.each("read", placement="same", size_bytes=ALL)
    assert (writes / reads).index.tolist() == [84, 1000]
    assert values(writes / reads) == pytest.approx([2, 4])
    placed = RUN.each("write", placement=["same", "cross"], size_bytes=84)
    ratios = placed / RUN.each("read", placement=ALL, size_bytes=84)
    assert (ratios["same"].value, ratios["cross"].value) == (2, 3)
    two = RUN.each(["write", "read"], placement="same", size_bytes=84)
    assert (two["write"].value, two["read"].value) == (200, 100)
    assert look("write", placement="same", size_bytes="max")(RUN).value == 800
    size = look("write", "size_bytes", placement="same", size_bytes="{42*cpus}")
    assert size(RUN).value == 84
    both = RUN.each("write", placement=ALL, size_bytes=ALL)
    assert both.index.names == ["placement", "size_bytes"]
    assert len(matched(both, RUN.each("read", placement=ALL, size_bytes=ALL))) == 3


def test_a_look_up_finds_in_any_numbers_what_its_arithmetic_says() -> None:
    write, read = (look(op, placement="same", size_bytes=84) for op in ("write", "read"))
    assert ((write - read) / (1 + write / read) * 3).as_unit("B")(RUN).value == pytest.approx(100)
    assert (1 - read / write)(RUN).value == pytest.approx(0.5)
    assert (write / 2)(RUN).value == 100 and isinstance(write(RUN), Quantity)
    sizes = look("write", placement="same", size_bytes=ALL)
    assert values((sizes / look("read", placement="same", size_bytes=ALL))(RUN)) == [2, 4]
    assert values(several(read, sizes)(RUN)) == [100, 200, 800]
    assert values(sizes.pipe(growth, "size_bytes")(RUN)) == [4]
    assert values((read / sizes)(RUN)) == [0.5, 0.125]
    with pytest.raises(MissingError):
        (write / look("flush"))(RUN)


def test_steps_along_a_factor_and_powers() -> None:
    writes = RUN.each("write", placement="same", size_bytes=ALL)
    assert values(growth(writes, "size_bytes")) == [4]
    assert values(change(writes, "size_bytes")) == [600]
    (found,) = power(growth(writes, "size_bytes"), 10)
    assert found.value == pytest.approx(log(4) / log(10))
    assert found.ends[0] < found.value < found.ends[1]
    (shrunk,) = power(growth(writes, "size_bytes"), 0.1)
    assert shrunk.ends[0] < shrunk.value < shrunk.ends[1]
    several = RUN.each("write", placement=ALL, size_bytes=ALL)
    assert values(growth(several, "size_bytes")) == [4]  # of one placement there is one size
    with pytest.raises(MissingError):
        growth(writes.iloc[:1], "size_bytes")
    with pytest.raises(MissingError):
        power(listed([of(0.0)]), 10)
    assert bandwidth(of(84).as_unit("B"), writes[84]).value == pytest.approx(84 / 200e-9)


def test_an_extreme_is_judged_over_every_pair() -> None:
    """The ratio of the greatest to the least once held by an interval that began at a fifth."""
    near = listed([Quantity(1.0, "1", 0.98, 1.02), Quantity(1.1, "1", 1.08, 1.12)])
    wide = Quantity(1.05, "1", 0.3, 1.06)
    assert len(pairs(pd.concat([near, listed([wide])]))) == 3
    alike = Bounds.read("between 0.8 and 1.25")
    assert decide(alike, pairs(near)).word == HOLDS
    assert decide(alike, pairs(pd.concat([near, listed([wide])]))).word == UNDECIDED
    best = best_over_best(
        near, listed([Quantity(2.0, "1", 1.9, 2.1), Quantity(3.0, "1", 1.0, 9.0)])
    )
    assert best.value == pytest.approx(0.5)
    assert best.ends[1] > 1  # the other of both may be the best
    exact = best_over_best(listed([of(3.0), of(2.0)]), listed([of(4.0), of(8.0)]))
    assert exact.ends == (0.5, 0.5)


def test_what_is_not_there_is_missing() -> None:
    missing: list[dict[str, Any]] = [{"placement": "free"}, {"entries": 1}]
    for levels in [*missing, {"placement": ["same", "free"], "size_bytes": 84}]:
        with pytest.raises(MissingError):
            RUN.each("write", **levels)
    with pytest.raises(MissingError):
        RUN.of("shared_dict").each("write")
    with pytest.raises(MissingError):
        RUN.each("write", "p99")
    with pytest.raises(MissingError):
        Numbers("payload", {"payload": FRAME}).each("write", size_bytes="{42*cpus}")


def test_an_address_names_one_value_in_prose_and_never_two_in_one_place() -> None:
    assert value_at("payload.write[placement=same,size_bytes=84]", points, points) == Quantity(
        200.0, "ns", 190.0, 210.0, "5 x 10"
    )
    assert value_at("payload.write[placement=free]", points, points) == Quantity(None, "ns")
    assert value_at("payload", points, points) is None
    for address in ("payload.write[placement=same,size_bytes=*]", "payload.write[placement=same]"):
        with pytest.raises(LabError, match=r"2 values|2 rows"):
            value_at(address, points, points)
    found = Address.read("payload.write[placement=same]")
    assert found is not None
    with pytest.raises(LabError, match="2 rows"):
        RUN.at(found)


READ = "payload.read[placement=same,size_bytes=84]"


@pytest.mark.parametrize(
    ("rule", "word"),
    [
        (f"{READ} at_least 90 ns", HOLDS),
        (f"{READ} at_most 90 ns", FAILS),
        (f"{READ} at_most 0.1 us", UNDECIDED),
        (f"{READ} between 95 ns and 105 ns", HOLDS),
        (f"{READ} between 106 ns and 120 ns", FAILS),
        (f"payload.write[placement=*,size_bytes=84] / {READ} above 1", HOLDS),
        (f"{READ} / payload.write[placement=*,size_bytes=84] below 1", HOLDS),
        (f"1 / {READ} at_least 9M msg/s", HOLDS),
        (f"1 / {READ} at_least 11,000,000 1/s", FAILS),
        ("payload.write[placement=same,size_bytes=84].size_bytes exactly 84 B", HOLDS),
        ("payload.write[placement=same,size_bytes=84].size_bytes above 84 B", FAILS),
        ("payload.read[placement=*,size_bytes=84] at_most 110 ns", UNDECIDED),
        ("payload.write[size_bytes={500*cpus}] at_least 1 ns", HOLDS),
        ("payload.write[].p99 at_least 1 ns", NOT_TESTABLE),
    ],
)
def test_verdicts_on_both_sides_of_a_rule(rule: str, word: str) -> None:
    read_ = Rule.read(rule)
    assert on_run(read_.bounds, read_.compared, RUN).word == word


def test_a_verdict_needs_an_interval() -> None:
    """'fails: 0.915 [no interval]' stood in a report."""
    for low, high, word in ((0.9, 1.1, HOLDS), (-inf, inf, UNDECIDED), (1e-6, 0.4, UNDECIDED)):
        found = decide(Bounds.read("between 0.5 and 1.5"), Quantity(1.0, "1", low, high, "3 x 1"))
        assert found.word == word


@pytest.mark.parametrize(("count", "word"), [(1, FAILS), (40, UNDECIDED)])
def test_one_of_many_fails_only_by_intervals_that_hold_together(count: int, word: str) -> None:
    """Of forty intervals of 95 % two miss by luck, and one was enough to call a claim wrong."""
    rows = [
        ("write", "p50", "same", size, "ns", 106.0, 102.0, 110.0) for size in range(1, count + 1)
    ]
    run = Numbers("payload", {"payload": frame(rows)})
    every = run.each("write", size_bytes=ALL)
    found = decide(Bounds.read("at_most 101 ns"), every)
    assert found.word == word
    assert decide(Bounds.read("at_most 110 ns"), every).word == HOLDS  # each alone has to


def test_the_interval_of_one_of_many_keeps_its_scale_and_exact_ones_stay() -> None:
    measured = Quantity(100.0, "ns", 80.0, 125.0, "5 x 10")
    wide = simultaneous(measured, 10)
    assert wide.ends[0] < 80 and wide.ends[1] > 125
    assert wide.ends[0] * wide.ends[1] == pytest.approx(10_000)
    assert simultaneous(measured, 1) == measured
    assert simultaneous(Quantity(3.0), 10) == Quantity(3.0)
    unended = Quantity(3.0, "1", -inf, inf)
    assert simultaneous(unended, 10) == unended


def test_one_of_ten_lies_as_far_out_as_t_at_a_tenth_of_the_error() -> None:
    """Of five launches: t of four degrees is 2.776 at 97.5 %, and 5.598 at 99.75 %."""
    further = 5.598 / 2.776
    times = simultaneous(Quantity(100.0, "ns", 80.0, 125.0, "5 x 10"), 10)
    assert times.ends == pytest.approx((100 * 0.8**further, 100 * 1.25**further), rel=1e-3)
    difference = simultaneous(Quantity(1.0, "ns", -1.0, 4.0, "5 x 10"), 10)
    assert difference.ends == pytest.approx((1 - 2 * further, 1 + 3 * further), rel=1e-3)


def test_what_decides_is_the_quantity_that_is_printed() -> None:
    found = decide(Bounds.read("at_least 2"), listed([of(4), of(1), of(9)]))
    assert found.deciding is not None
    assert (found.word, found.deciding.value) == (FAILS, 1)
    at_most = Bounds.read("at_most 110 ns")
    reads = RUN.each("read", placement=ALL, size_bytes=84)
    assert decide(at_most, reads).deciding == simultaneous(reads["cross"], 2)
    one_missing = listed([of(1).as_unit("ns"), Quantity(None, "ns")])
    assert decide(at_most, one_missing).word == NOT_TESTABLE


def _given(printed: Quantity, _table: Numbers) -> Quantity:
    return printed


def test_a_printed_table_fails_where_no_rounding_of_it_gives_the_rule() -> None:
    bounds = Bounds.read("at_least 15 rounded")
    for value, word in ((14.4, HOLDS), (13.0, FAILS)):
        printed = Quantity(value, "1", value - 0.2, value + 0.2)
        found = on_table(bounds, partial(_given, printed), RUN)
        assert found.word == word
        assert found.deciding is not None and found.deciding.ends == (value, value)


@pytest.mark.parametrize(
    ("text", "near", "written"),
    [
        ("between 2 and 3 rounded", (1.5, 3.5), (2, 3)),
        ("between -10 % and 30.0 % rounded", (-0.105, 0.3005), (-0.1, 0.3)),
        ("exactly 1.09 rounded", (1.085, 1.095), (1.09, 1.09)),
        ("at_least 1.85 GB/s rounded", (1.845e9, inf), (1.85e9, inf)),
        ("at_most 0.907 rounded", (-inf, 0.9075), (-inf, 0.907)),
        ("at_most 0.907", (-inf, 0.907), (-inf, 0.907)),
    ],
)
def test_a_rounded_bound_stands_for_all_that_round_to_it(
    text: str, near: tuple[float, float], written: tuple[float, float]
) -> None:
    bounds = Bounds.read(text)
    assert (bounds.low, bounds.high) == pytest.approx(near)
    assert bounds.written == pytest.approx(written)
    assert bounds.rounded is text.endswith("rounded")


def test_a_bound_that_is_excluded_is_not_rounded() -> None:
    with pytest.raises(RuleError, match="above excludes its bound"):
        Bounds.read("above 2 rounded")


def test_a_number_without_end_is_printed_in_few_digits() -> None:
    for value in (inf, 1e300):
        assert len(Formatter("en").format(of(value), "interval")) < 60


LEFT = "payload.write[arm=published,size_bytes=max]"
GOOD = f"""
[[claim]]
id = "A.1"
language = "en"
text = "A write takes {{low:int}} times as long as a read."
rule = "{LEFT} / payload.read[arm=published,size_bytes=max] at_least 1.5"
[claim.figures]
low = 2
"""


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab.of(reference(), checkout(), "en")


@pytest.fixture
def judged(lab: Lab, tmp_path: Path):
    def judge(text: str) -> pd.DataFrame:
        (tmp_path / "mine.toml").write_text(text)
        return audited(with_own(lab, str(tmp_path / "mine.toml")), "own")

    return judge


def test_a_claim_has_a_fair_method_needs_and_an_amount_of_its_own(judged) -> None:
    address = "payload.write[arm=mapping,mapping=kept,size_bytes=max]"
    fair = f'adds = "a mapping"\npublished = "20 us"\nfair = "{address}"\n[claim.figures]'
    ratio = f"{LEFT} / payload.read[arm=published,size_bytes=max] at_least 1.5"
    text = GOOD.replace("[claim.figures]", fair).replace(ratio, f"{LEFT} at_least 15 us")
    (row,) = judged(text).itertuples()
    assert (row.table, row.fairly, row.adds, row.concedes) == (HOLDS, True, "a mapping", "")
    assert row.here == HOLDS and row.fair_value < row.here_value
    with pytest.raises(UsageError, match=r"line 8: .*a plain number with a time"):
        judged(text.replace('"20 us"', "1.2"))
    needs = GOOD.replace("[claim.figures]", "needs = { cpus = 4000 }\n[claim.figures]")
    (row,) = judged(needs).itertuples()
    assert [row.table, row.here, row.fair] == [NOT_TESTABLE] * 3
    assert "4,000" in row.here_reason


def test_what_a_sweep_may_lack_is_not_testable_rather_than_unknown(judged) -> None:
    """Of a size that was not measured, a run does not tell which operations and metrics there are."""
    for left in (
        "payload.flush[arm=published,size_bytes=999]",
        "payload.write[size_bytes=999].cpu",
    ):
        (row,) = judged(GOOD.replace(LEFT, left)).itertuples()
        assert row.here == NOT_TESTABLE


BAD = [
    ('id = "A.1"', 'id = "A.1" oops', 3, "newline"),
    ("at_least 1.5", "at_least", 6, "ends where a number"),
    ("at_least 1.5", "more_than 18", 6, "no comparison"),
    ("at_least 1.5", "between 2", 6, "between has 1 bounds"),
    ("at_least 1.5", "at_least 18 ms", 6, "a plain number with a time"),
    ("at_least 1.5", "at_least eighteen", 6, "no number"),
    ("at_least 1.5", "at_least 1e400", 6, "too large"),
    (LEFT, "payload.wrte[arm=published,size_bytes=max]", 6, "'write'"),
    (LEFT, "payload.write[amr=published,size_bytes=max]", 6, "'arm'"),
    (LEFT, "payload.write[arm=publishd,size_bytes=max]", 6, "did you mean 'published'"),
    (LEFT, "payload.handover[backend=shm-mmp]", 6, "did you mean 'shm-mmap'"),
    (LEFT, "payload.write[arm=published,size_bytes=max].p51", 6, "'p50'"),
    (LEFT, "payloads.write[size_bytes=84]", 6, "'payload'"),
    (LEFT, "text.payload.write[]", 6, "is no address"),
    (LEFT, "__import__('os')", 6, "is no address"),
    (LEFT, "payload.write[arm=published,size_bytes=max].placement", 6, "told in words"),
    (LEFT, "payload.write[]", 6, "rows have"),
    ('id = "A.1"', 'id = "A.1"\nneeds = { cpu = 4000 }', 4, "did you mean 'cpus'"),
    ('id = "A.1"', 'id = "A.1"\nneeds = { cpus = nan }', 4, "cpus = nan is no least number"),
    ('id = "A.1"', 'id = "A.1"\nfair = "3"', 4, "'3' is no address"),
    ('id = "A.1"', 'id = "A.1"\npublished = "-3 ms"', 4, "a plain number"),
    ('id = "A.1"', 'id = "{low}"', 3, "id holds a brace"),
    (GOOD, f"[document]\nauthor = 'Kim {{A}}'\n{GOOD}", 2, "author holds a brace"),
    ("low = 2", f"low = {'9' * 5000}", 1, "write it as 1e30"),
    ("low = 2", "low = true", 8, "no number"),
    ("rule = ", "rule = 3 # ", 6, "rule: expected str"),
    ('language = "en"', 'langage = "en"', 4, "language"),
    ('language = "en"', "language = 3", 4, "expected str"),
    ("[[claim]]", "[claims]", 2, "[[claim]]"),
    ("A write takes", "A \U0001f680 takes", 5, "U+1F680"),
    ("A write takes", "A \u202e takes", 5, "U+202E"),
    (GOOD, "claim = [{ id = 'A', language = 'en', text = 'x', rule = 'x' }]\n", 1, "comparison"),
    (GOOD, "claim = " + "[" * 5000 + "]" * 5000, 1, ""),
    ("low = 2", "low." + "a." * 3000 + "a = 1", 2, "nests too deeply"),
    (GOOD, "claim = []\n", 1, "[[claim]]"),
    ("[claim.figures]", "[claim.other]", 7, "no 'other'"),
    (GOOD, GOOD + GOOD, 11, "two claims"),
]


@pytest.mark.parametrize(("old", "new", "line", "why"), BAD, ids=range(len(BAD)))
def test_a_malformed_file_is_refused_with_the_line(
    judged, old: str, new: str, line: int, why: str
) -> None:
    text = GOOD.replace(old, new)
    assert text != GOOD
    with pytest.raises(UsageError) as error:
        judged(text)
    assert str(error.value).startswith(f"mine.toml, line {line}: "), str(error.value)
    assert why in str(error.value)
    assert "\n" not in str(error.value)


def test_the_documented_file_of_claims_is_read(tmp_path: Path, judged) -> None:
    (example,) = blocks(ROOT / "docs/claims.md", "toml")
    (row,) = judged(example).itertuples()
    assert (row.id, row.table) == ("A.1", FAILS)
    (tmp_path / "claims.toml").write_text(example)
    file = Lines.read(tmp_path / "claims.toml").parsed()
    (first,), (required,) = file.claims, file.requirements
    assert set(first.translations) == {"ko", "zh"}
    assert (required.statistic, required.coverage) == ("max", "95/95")
    with pytest.raises(UsageError, match="cannot read the claims"):
        Lines.read(tmp_path / "none.toml")
