"""The language of rules, verdicts on both sides of them, and files of a person's own claims,
refused with the line.
"""

import re
from math import inf, log
from pathlib import Path

import pandas as pd
import pytest

from ipclab.claims.claim import FAILS, HOLDS, NOT_TESTABLE, UNDECIDED, decide, judge_all
from ipclab.claims.file import File
from ipclab.claims.lines import Lines
from ipclab.claims.rules import read_names, read_rule, read_sum
from ipclab.claims.simultaneous import simultaneous
from ipclab.claims.values import ValueSource
from ipclab.errors import LabError, UsageError
from ipclab.frames.address import Address, MissingError, value_at
from ipclab.prose.language import RuleError, amount
from ipclab.stats.quantity import Quantity
from ipclab.words.numbers import Formatter
from tests.project.test_documents import blocks
from tests.support.commands import ROOT

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
FRAME = pd.DataFrame(ROWS, columns=COLUMNS).assign(
    study="payload", point="p", launches=5, samples=10, flags=""
)
EMPTY = FRAME.iloc[:0]


def points(study: str) -> pd.DataFrame:
    if study not in ("payload", "shared_dict"):
        raise UsageError(
            f"no study {study!r}", "there are payload, shared_dict", "did you mean 'payload'?"
        )
    return FRAME if study == "payload" else EMPTY


RUN = ValueSource(points, known={"cpus": 2})


def values(expression: str, source: ValueSource = RUN) -> list[float]:
    return sorted(each.value for each in read_sum(expression)(source).cells.values())


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("payload.write[placement=same,size_bytes=84] / 1 ns", [200]),
        (
            (
                "payload.write[placement=same,size_bytes=max] /"
                " payload.read[placement=same,size_bytes=max]"
            ),
            [4],
        ),
        (
            (
                "payload.write[placement=same,size_bytes=*] /"
                " payload.read[placement=same,size_bytes=*]"
            ),
            [2, 4],
        ),
        (
            (
                "payload.write[placement=*,size_bytes=84] /"
                " payload.read[placement=cross|same,size_bytes=84]"
            ),
            [2, 3],
        ),
        (
            (
                "payload.write|read[placement=same,size_bytes=84] /"
                " payload.read[placement=same,size_bytes=84]"
            ),
            [1, 2],
        ),
        (
            (
                "max(payload.write[placement=*,size_bytes=84]) /"
                " min(payload.write[placement=*,size_bytes=84])"
            ),
            [1.5],
        ),
        ("each(payload.read[placement=same,size_bytes=84].mean / 1 ns, 7)", [7, 110]),
        ("growth(payload.write[placement=same,size_bytes=*], size_bytes)", [4]),
        ("change(payload.write[placement=same,size_bytes=*], size_bytes) / 1 ns", [600]),
        ("log(growth(payload.write[placement=same,size_bytes=*], size_bytes))", [log(4)]),
        ("payload.write[placement=same,size_bytes={42*cpus}].size_bytes / 1 B", [84]),
        ("count(payload.write[placement=*,size_bytes=84].p99)", [0]),
        ("floor(payload.write[placement=same,size_bytes=84] / 150 ns)", [1]),
        ("1 + 2 * 3 - 4", [3]),
        ("1 MiB / 16 KiB + 2", [66]),
    ],
)
def test_what_expressions_give(expression: str, found: list[float]) -> None:
    assert values(expression) == pytest.approx(found)


def test_intervals_and_given_tables_go_through_the_arithmetic() -> None:
    (found,) = read_sum("about(4, 1)")(RUN).cells.values()
    assert found.ends == (3, 5)
    given = {"payload.write[size_bytes=84]": Quantity(3e6, "ns", 2e6, 5e6)}
    (found,) = read_sum("payload.write[size_bytes=84] * 2")(ValueSource(points, given=given)).shown(
        "ms"
    )
    assert (found.value, *found.ends) == pytest.approx((6, 4, 10))
    with pytest.raises(MissingError):
        values("payload.read[size_bytes=84]", ValueSource(points, given=given))


ABSENT = ("placement=free", "entries=1", "placement=same|free,size_bytes=84")


@pytest.mark.parametrize(
    "address",
    ["shared_dict.write[]", "payload.write[].p99", *(f"payload.write[{a}]" for a in ABSENT)],
)
def test_what_is_not_there_is_missing(address: str) -> None:
    found = Address.read(address)
    assert found is not None
    with pytest.raises(MissingError):
        found.find(points(found.study))
    assert value_at(address, points, points) == Quantity(None, "ns" if not found.metric else "1")


def test_an_address_names_one_value_in_prose_and_never_two_in_one_place() -> None:
    assert value_at("payload.write[placement=same,size_bytes=84]", points, points) == Quantity(
        200.0, "ns", 190.0, 210.0, "5 x 10"
    )
    assert value_at("payload", points, points) is None
    for address in ("payload.write[placement=same,size_bytes=*]", "payload.write[placement=same]"):
        with pytest.raises(LabError, match=r"2 values|2 rows"):
            value_at(address, points, points)


@pytest.mark.parametrize(
    ("rule", "word"),
    [
        ("payload.read[placement=same,size_bytes=84] at_least 90 ns", HOLDS),
        ("payload.read[placement=same,size_bytes=84] at_most 90 ns", FAILS),
        ("payload.read[placement=same,size_bytes=84] at_most 0.1 us", UNDECIDED),
        ("payload.read[placement=same,size_bytes=84] between 95 ns and 105 ns", HOLDS),
        ("payload.read[placement=same,size_bytes=84] between 106 ns and 120 ns", FAILS),
        ("payload.write[placement=same,size_bytes=84].size_bytes exactly 84 B", HOLDS),
        ("payload.write[placement=same,size_bytes=84].size_bytes above 84 B", FAILS),
        ("payload.write[placement=same,size_bytes=84].size_bytes at_least 84 B", HOLDS),
        ("1 - 1 above 0 %", FAILS),
        ("1 - 1 at_least 0 %", HOLDS),
        ("each(payload.read[placement=*,size_bytes=84]) at_most 110 ns", UNDECIDED),
        ("each(payload.read[placement=*,size_bytes=84], 9 us) at_most 110 ns", FAILS),
        ("84 B / payload.write[placement=same,size_bytes=84] at_most 500 MB/s", HOLDS),
        ("payload.copy[].bandwidth / 1 GB/s at_most 15 %", HOLDS),
        ("0 - 5 % between -6 % and -4 %".replace("0 - 5 %", "0 - 0.05"), HOLDS),
        ("payload.write[].p99 at_least 1 ns", NOT_TESTABLE),
    ],
)
def test_verdicts_on_both_sides_of_a_rule(rule: str, word: str) -> None:
    read_ = read_rule(rule)
    assert decide(read_, read_.term, RUN).word == word


@pytest.mark.parametrize(("count", "word"), [(1, FAILS), (40, UNDECIDED)])
def test_one_of_many_fails_only_by_intervals_that_hold_together(count: int, word: str) -> None:
    """Of forty intervals of 95 % two miss by luck, and one was enough to call a claim wrong."""
    rows = [
        ("write", "p50", "same", size, "ns", 106.0, 102.0, 110.0) for size in range(1, count + 1)
    ]
    frame = pd.DataFrame(rows, columns=COLUMNS).assign(
        study="payload", point="p", launches=5, samples=10, flags=""
    )
    source = ValueSource(lambda _: frame)
    rule = read_rule("each(payload.write[size_bytes=*]) at_most 101 ns")
    found = decide(rule, rule.term, source)
    assert found.word == word
    assert len(found.found) == count
    lies = read_rule("each(payload.write[size_bytes=*]) at_most 110 ns")
    assert decide(lies, lies.term, source).word == HOLDS  # each alone has to


def test_the_interval_of_one_of_many_keeps_its_scale_and_exact_ones_stay() -> None:
    measured = Quantity(100.0, "ns", 80.0, 125.0, "5 x 10")
    wide = simultaneous(measured, 10)
    assert wide.ends[0] < 80 and wide.ends[1] > 125
    assert wide.ends[0] * wide.ends[1] == pytest.approx(10_000)
    assert simultaneous(measured, 1) == measured
    assert simultaneous(Quantity(3.0), 10) == Quantity(3.0)
    unended = Quantity(3.0, "1", -inf, inf)
    assert simultaneous(unended, 10) == unended


def test_what_decides_is_the_quantity_that_is_printed() -> None:
    rule = read_rule("each(4, 1, 9) at_least 2")
    found = decide(rule, rule.term, RUN)
    assert found.deciding is not None
    assert (found.word, found.deciding.value, len(found.found)) == (FAILS, 1, 3)
    rule = read_rule("each(payload.read[placement=*,size_bytes=84]) at_most 110 ns")
    found = decide(rule, rule.term, RUN)
    assert found.deciding is not None
    (alone,) = read_sum("payload.read[placement=cross,size_bytes=84]")(RUN).shown("ns")
    assert found.deciding == simultaneous(alone, 2)
    assert found.deciding.ends[0] < 90 and found.deciding.ends[1] > 120
    assert (rule.low, rule.high) == (-inf, 110)


@pytest.mark.parametrize(
    ("bounds", "near", "written"),
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
    bounds: str, near: tuple[float, float], written: tuple[float, float]
) -> None:
    rule = read_rule(f"1 {bounds}")
    assert (rule.low, rule.high) == pytest.approx(near)
    assert rule.written == pytest.approx(written)
    assert rule.rounded is bounds.endswith("rounded")


def test_a_bound_that_is_excluded_is_not_rounded() -> None:
    with pytest.raises(RuleError, match="above excludes its bound"):
        read_rule("1 above 2 rounded")


GOOD = """
[[claim]]
id = "A.1"
language = "en"
text = "A write takes {low:int} times as long as a read."
rule = "payload.write[placement=same,size_bytes=84] / payload.read[placement=same,size_bytes=84] at_least 1.5"
[claim.figures]
low = 2
"""
LEFT = "payload.write[placement=same,size_bytes=84] /"


def told(text: str) -> File:
    lines = Lines(text, "mine.toml")
    lines.check(found := lines.parsed(), RUN)
    return found


def test_a_claim_has_a_fair_method_needs_and_a_table_of_its_own() -> None:
    more = (
        'fair = "each(payload.write[placement=*,size_bytes=84] /'
        ' payload.read[placement=*,size_bytes=84])"\n'
    )
    table = '[claim.published]\n"payload.write[size_bytes=84, placement=same]" = "1 us"\n'
    table += '"payload.read[placement=same,size_bytes=84]" = "1 us"\n'
    (claim,) = told(GOOD.replace("[claim.figures]", more + "[claim.figures]") + table).claims
    assert [each.word for each in judge_all(claim, RUN, RUN)] == [FAILS, HOLDS, HOLDS]
    (claim,) = told(GOOD.replace("[claim.figures]", "needs = { cpus = 4 }\n[claim.figures]")).claims
    verdicts = judge_all(claim, RUN, RUN)
    assert [each.word for each in verdicts] == [NOT_TESTABLE] * 3
    assert verdicts.here.need == "cpus"
    assert claim.unstated
    assert claim.figures["low"].value == 2


def test_what_a_sweep_may_lack_is_not_testable_rather_than_unknown() -> None:
    """Of a size or placement that was not measured, a run does not tell which operations and
    metrics there are.
    """
    for left in (
        "payload.flush[placement=same,size_bytes=999] /",
        "payload.write[placement=free].cpu_ns /",
    ):
        (claim,) = told(GOOD.replace(LEFT, left)).claims
        assert judge_all(claim, RUN, RUN).here.word == NOT_TESTABLE


BAD = [
    ('id = "A.1"', 'id = "A.1" oops', 3, "newline"),
    ("at_least 1.5", "at_least", 6, "ends where a number"),
    ("at_least 1.5", "more_than 18", 6, "no comparison"),
    ("at_least 1.5", "between 2", 6, "between has 1 bounds"),
    ("at_least 1.5", "at_least 18 ms", 6, "a plain number with a time"),
    ("at_least 1.5", "at_least eighteen", 6, "no number"),
    ("at_least 1.5", "at_least 18 19", 6, "no number"),
    ("at_least 1.5", "at_least 1e400", 6, "too large"),
    (LEFT, "payload.wrte[placement=same,size_bytes=84] /", 6, "'write'"),
    (LEFT, "payload.write[placment=same,size_bytes=84] /", 6, "'placement'"),
    (LEFT, "payload.write[size_bytes=84].p51 /", 6, "'p50'"),
    (LEFT, "payloads.write[size_bytes=84] /", 6, "'payload'"),
    (LEFT, f"payload.write[placement=same,size_bytes=84].size_bytes + {LEFT}", 6, "no meaning"),
    (LEFT, "__import__('os') /", 6, "'__import__'"),
    (LEFT, f"({LEFT}", 6, "never closed"),
    (LEFT, "each /", 6, "'each'"),
    (LEFT, "2 ** 2 /", 6, "more than sums can"),
    (LEFT, f"sqrt(2, 3) * {LEFT}", 6, "sqrt does not take 2 parts"),
    (LEFT, f"payload.write[size_bytes=84].placement * {LEFT}", 6, "told in words"),
    (LEFT, f"payload.write[] + {LEFT}", 6, "3 rows have"),
    ('id = "A.1"', 'id = "A.1"\nneeds = { cpu = 4000 }', 4, "did you mean 'cpus'"),
    ('id = "A.1"', 'id = "A.1"\nneeds = { cpus = nan }', 4, "cpus = nan is no least number"),
    ("low = 2", f"low = {'9' * 5000}", 1, "write it as 1e30"),
    ('id = "A.1"', 'id = "{low}"', 3, "id holds a brace"),
    (GOOD, f"[document]\nauthor = 'Kim {{A}}'\n{GOOD}", 2, "author holds a brace"),
    ("low = 2", "low = true", 8, "no number"),
    ("rule = ", "rule = 3 # ", 6, "rule: expected str"),
    ('language = "en"', 'langage = "en"', 4, "language"),
    ('language = "en"', "language = 3", 4, "expected str"),
    ("low = 2", 'low = "eighteen"', 8, "no number"),
    ("low = 2", 'low = "1e400 ms"', 8, "too large"),
    ("[[claim]]", "[claims]", 2, "[[claim]]"),
    ("A write takes", "A \U0001f680 takes", 5, "U+1F680"),
    ("A write takes", "A \x07 takes", 5, "U+0007"),
    ("A write takes", "A \u202e takes", 5, "U+202E"),
    (
        GOOD,
        "claim = [{ id = 'A.1', language = 'en', text = 'x', rule = '1 at_least x' }]\n",
        1,
        "no number",
    ),
    (GOOD, "claim = " + "[" * 5000 + "]" * 5000, 1, ""),
]


@pytest.mark.parametrize(("old", "new", "line", "why"), BAD, ids=range(len(BAD)))
def test_a_malformed_file_is_refused_with_the_line(old: str, new: str, line: int, why: str) -> None:
    text = GOOD.replace(old, new)
    assert text != GOOD
    with pytest.raises(UsageError) as error:
        told(text)
    assert str(error.value).startswith(f"mine.toml, line {line}: ")
    assert why in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("more", "line", "why"),
    [
        ('[claim.published]\n"payload.write" = "1 B"\n', 10, "no address"),
        ("[claim.other]\n", 9, "no 'other'"),
        (GOOD.replace("{low:int}", "x").replace("[claim.figures]\nlow = 2", ""), 11, "two claims"),
    ],
)
def test_a_malformed_table_is_refused_with_the_line(more: str, line: int, why: str) -> None:
    with pytest.raises(UsageError) as error:
        told(GOOD + more)
    assert str(error.value).startswith(f"mine.toml, line {line}: "), str(error.value)
    assert why in str(error.value)


def test_deep_and_long_rules_are_refused_and_nothing_is_executed() -> None:
    for rule in (
        "sqrt(" * 150 + "1" + ")" * 150,
        "1 + " * 200 + "1",
        "1 + " * 1000 + "1",
        "(" * 500 + "1",
    ):
        with pytest.raises(RuleError, match=r"at most|inside|cannot be read"):
            read_sum(rule)
    for names in ({"a": "a"}, {"a": "1 + b", "b": "a"}):
        with pytest.raises(RuleError, match="stands for itself"):
            read_names(names)
    for rule in (
        "(lambda: 1)()",
        "payload.__class__",
        "[1][0]",
        "each(*(1, 2))",
        "log(x=1)",
        "1 if 1 else 2",
        "-1",
        "'a'",
    ):
        with pytest.raises(RuleError):
            read_sum(rule)
    for file in ("claims/rules.py", "prose/language.py", "prose/asked.py", "prose/questions.py"):
        source = (ROOT / "ipclab/report" / file).read_text().replace("re.compile(", "")
        assert not re.search(r"\b(eval|exec|compile|__import__)\(", source)


def named(names: dict[str, str], rule: str) -> File:
    """Read a claim by `rule` that uses `names`, and check it."""
    told_names = "\n".join(f"{name} = '{text}'" for name, text in names.items())
    return told(GOOD.replace(LEFT, f"{rule} *{LEFT}") + f"[names]\n{told_names}\n")


def test_names_are_computed_once_and_what_they_make_is_bounded() -> None:
    """Four times each other they made 4 to the power of their number, and a report that never
    ended.
    """
    for sign, depth, why in (
        ("+", 30, r"the name a\d+: more than 100 parts"),
        (",", 20, "the rule: it makes too many"),
    ):
        parts = {f"a{n}": f"each({sign.join([f'a{n + 1}'] * 4)})" for n in range(depth)}
        with pytest.raises(UsageError, match=rf"line \d+: {why}"):
            named(parts | {f"a{depth}": "1"}, "a0")
    sums = {f"a{n}": "+".join([f"a{n + 1}"] * 4) for n in range(20)}
    assert named(sums | {"a20": "1"}, "a0").claims
    count = read_sum("count(a)", read_names({"a": "each(each(1, 2), each(3, 4))"}))
    assert [each.value for each in count(RUN).cells.values()] == [4]


def test_a_claim_whose_needs_the_run_does_not_tell_is_not_judged() -> None:
    (claim,) = told(
        GOOD.replace("[claim.figures]", "needs = { large_files = 2 }\n[claim.figures]")
    ).claims
    assert [each.word for each in judge_all(claim, RUN, RUN)] == [NOT_TESTABLE] * 3


def test_a_table_of_ones_own_in_another_unit_is_refused_with_the_line() -> None:
    table = '[claim.published]\n"payload.write[placement=same,size_bytes=84]" = "1 B"\n'
    table += '"payload.read[placement=same,size_bytes=84]" = "1 us"\n'
    with pytest.raises(
        UsageError, match=r"mine.toml, line 6: the rule: it compares .* with a plain number"
    ):
        told(GOOD + table)


@pytest.mark.parametrize(
    "rule", ["floor(1 / (1 - 1)) at_least 1", "floor(1/(1-1) - 1/(1-1)) at_most 1", "1e300 above 2"]
)
def test_numbers_without_end_are_judged_and_printed(rule: str) -> None:
    read_ = read_rule(rule)
    found = decide(read_, read_.term, RUN)
    assert found.deciding is not None
    assert len(Formatter("en").format(found.deciding, "interval")) < 60


def test_the_documented_file_of_claims_is_read(tmp_path: Path) -> None:
    (example,) = blocks(ROOT / "docs/claims.md", "toml")
    (tmp_path / "claims.toml").write_text(example)
    file = Lines.read(tmp_path / "claims.toml").parsed()
    (first,), (required,) = file.claims, file.requirements
    assert set(first.translations) == {"ko", "zh"}
    assert (
        decide(first.rule, first.rule.term, ValueSource(points, given=first.published)).word
        == FAILS
    )
    assert first.unstated == ""
    assert (required.statistic, required.coverage) == ("max", "95/95")
    with pytest.raises(UsageError, match="cannot read the claims"):
        Lines.read(tmp_path / "none.toml")


def test_amounts_are_in_si_units() -> None:
    assert amount("125 MB/s") == Quantity(125e6, "B/s", kind="published")
    assert amount("10 %") == Quantity(0.1, "share", kind="published")
    assert amount("-2 ms") == Quantity(-2e6, "ns", kind="published")
