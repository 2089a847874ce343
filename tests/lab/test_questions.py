"""Each question in the notebooks' prose: its alternatives are chosen rightly, proved with made-up
values.
"""

from dataclasses import replace
from math import inf, isclose
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ipclab.errors import LabError
from ipclab.paths import Paths
from ipclab.prose import prose
from ipclab.prose.questions import ProseQuestion, edged, factor_within, parts, with_answers
from ipclab.prose.teller import FEW, Teller
from ipclab.report.lab import lab_of
from ipclab.stats import judge
from ipclab.stats.quantity import Quantity, missing
from ipclab.store.bundle import opened
from ipclab.store.questions import Questions
from ipclab.words.numbers import Formatter
from tests.frames.test_ratios import DATA
from tests.support.commands import ROOT
from tests.support.questions import NOTEBOOKS, made_up, questions, unknown_names
from tests.support.tellers import Plain

MARGIN = 0.05
ASKED = [(path.stem, question) for path in NOTEBOOKS for question in questions(path)]
BOUNDED = [
    pytest.param(question, id=f"{stem}: {question.asked}")
    for stem, question in ASKED
    if question.bound
]


def bound_of(question: ProseQuestion) -> float:
    return question.limit({}, lambda _: pytest.fail("a bound is a number"))


@pytest.mark.parametrize("question", BOUNDED)
def test_made_up_values_choose_each_side_and_equality(question: ProseQuestion) -> None:
    bound = bound_of(question)
    step = abs(bound) or 1.0
    expected = {bound - 0.4 * step: judge.BELOW, bound + 0.4 * step: judge.ABOVE}
    for wanted, side in expected.items():
        found = made_up(question, wanted)
        assert found is not None, f"no value brings {question.asked} to {wanted}"
        assert isclose(found.value, wanted, rel_tol=1e-6, abs_tol=1e-9)
        assert question.side(found, bound, MARGIN) == side
    equal = made_up(question, bound)
    assert equal is not None
    equal = replace(equal, value=bound, low=bound, high=bound)
    alike = judge.INSIDE in question.alternatives and bound > 0
    assert question.side(equal, bound, MARGIN) == (judge.INSIDE if alike else judge.UNDECIDED)


@pytest.mark.parametrize("question", BOUNDED)
def test_an_interval_over_the_bound_decides_nothing(question: ProseQuestion) -> None:
    bound = bound_of(question)
    step = abs(bound) or 1.0
    over = Quantity(bound + 0.1 * step, "1", bound - 0.5 * step, bound + 0.5 * step)
    assert question.side(over, bound, MARGIN) == judge.UNDECIDED
    near = Quantity(bound + 0.02 * step, "1", bound + 0.01 * step, bound + 0.03 * step)
    alike = judge.INSIDE in question.alternatives and bound > 0
    assert question.side(near, bound, MARGIN) == (judge.INSIDE if alike else judge.ABOVE)
    assert question.side(replace(near, low=-inf, high=inf), bound, MARGIN) == judge.NOT_TESTED
    assert question.side(missing(), bound, MARGIN) == judge.MISSING


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_questions_name_what_the_notebook_has(path: Path) -> None:
    assert list(unknown_names(path)) == []


SOURCE = """One. Then
1. ? a / b : 50 %
   > More {it:x}
     of it.
   < Less.
   = Alike within {within:x}.
   ~
   Always.
? a : 1 as says
> | x | {it} |
< | y |  |
~"""


def test_questions_are_read_where_they_stand() -> None:
    first, second = (part for part in parts(SOURCE) if isinstance(part, ProseQuestion))
    assert (first.asked, first.bound, first.before) == ("a / b", "50 %", "1. ")
    assert first.alternatives[judge.ABOVE] == "More {it:x} of it."
    assert first.alternatives[judge.UNDECIDED] == ""
    assert (second.name, second.bound) == ("says", "1")
    said = ["One. Then", "More {it:x} of it.", "Always.", "Less.", "Alike within {within:x}."]
    assert prose.split(SOURCE.partition("? a : 1")[0]) == said
    rows = "| a | b |\n|---|---|\n? a : 1\n> | x | {it} |\n< | y |  |\n~"
    assert prose.split(rows) == ["a", "b", "x", "{it}", "y"]


def test_a_question_that_says_nothing_leaves_its_line_out() -> None:
    assert with_answers(SOURCE, lambda _: "").replace("\ue000", "") == "One. Then\n1. \n   Always."
    assert with_answers("1. One.\n2. ? a : 1\n   > X.\n   <\n   ~", lambda _: "") == "1. One."
    assert with_answers(SOURCE, lambda _: None) == "One. Then"  # nor what speaks of it
    shown = prose.render(
        "One.\n? a : 1\n>\n< Less.\n~\nTwo.", Plain({"One.": "하나.", "Two.": "둘."}.__getitem__)
    )
    assert shown == "하나. 둘."


def test_an_answer_is_translated_once_and_its_values_are_no_markup() -> None:
    names = {"a": Quantity(3.0, "1", 2.5, 3.5), "b": Quantity(1.0, "1", 0.9, 1.1), "it": "*x*"}
    source = "? a / b : 1\n> {it} more.\n< Less.\n~ Undecided.\n"
    shown = prose.render(source, Plain(lambda msgid: f"<{msgid}>"))
    assert shown.count("<") == 1
    question = next(part for part in parts(source) if isinstance(part, ProseQuestion))
    assert question.value(names, str).value == 3.0
    assert edged("| {a} |  |", str.upper) == "| \ue000{A}\ue000 |  |"


def test_alternatives_may_share_a_text() -> None:
    source = "? a : 1\n>< It differs\n   by {it:x}.\n=~\nMore."
    question, after = parts(source)
    assert isinstance(question, ProseQuestion) and after == "More."
    differs = dict.fromkeys((judge.ABOVE, judge.BELOW), "It differs by {it:x}.")
    assert question.alternatives == differs | dict.fromkeys((judge.INSIDE, judge.UNDECIDED), "")
    assert prose.split(source) == ["It differs by {it:x}.", "More."]


def test_a_question_lacking_a_side_is_refused() -> None:
    with pytest.raises(LabError, match=r"'a' in prose: it has no alternative < ~"):
        list(parts("? a : 1\n> More."))


def test_what_cannot_be_asked_is_named() -> None:
    question = ProseQuestion("wirte / 2", "1", {})
    with pytest.raises(LabError, match="no value is named 'wirte'; did you mean 'write'"):
        question.value({"write": Quantity(1.0)}, str)


@pytest.mark.parametrize(
    "asked",
    ["__import__('os')", "a.__class__", "(lambda: 1)()", "[a for a in (1,)]", "a if a else a",
     "open('x')", "a ** 9", "a[b for b in a]", "a := 2", "f'{a}'"],
)  # fmt: skip
def test_a_question_executes_nothing(asked: str) -> None:
    with pytest.raises(LabError, match="the question"):
        ProseQuestion(asked, "1", {}).value({"a": Quantity(1.0)}, str)


def test_a_question_is_in_the_language_of_claims_and_takes_parts_of_variables() -> None:
    names = {
        "gain": {"kept": Quantity(3e6, "ns")},
        "payload": SimpleNamespace(improvement=2.0),
        "many": [1, 2, 3],
    }
    for asked, bound, found, limit in (
        ("gain['kept'] / 2", "1.5 ms", 1.5e6, 1.5e6),
        ("gain['kept'] + 1 ms", "50 %", 4e6, 0.5),
        ("payload.improvement * 2", "-1", 4.0, -1),
        ("len(many)", "payload.improvement", 3, 2.0),
        ("max(payload.improvement, 1)", "1 KiB", 2.0, 1024),
    ):
        question = ProseQuestion(asked, bound, {})
        assert question.value(names, str).value == found
        assert question.limit(names, str) == limit


def test_values_by_address_and_presence() -> None:
    asked = ProseQuestion("payload.write[arm=mapping,size_bytes=max].p99.9 / base", "1", {})
    found = {"payload.write[arm=mapping,size_bytes=max].p99.9": Quantity(6.0)}
    assert asked.value({"base": Quantity(3.0)}, found.__getitem__).value == 2.0
    assert ProseQuestion("a, b", "", {}).value({"a": Quantity(1), "b": Quantity(2)}, str)
    assert not ProseQuestion("a, b", "", {}).value({"a": Quantity(1), "b": missing()}, str)


def test_the_factor_of_the_interval_is_rounded_as_its_ends_are() -> None:
    wide = Quantity(1.02, "1", 0.99, 1.041)
    assert Formatter("en").format(wide, "x,interval") == "1.02× [0.99–1.04]"
    assert factor_within(wide, 1).value == 1.04
    assert factor_within(Quantity(0.992, "1", 0.9532, 1.0264), 1).value == 1.05
    assert factor_within(Quantity(1.0, "1", 0.9999, 1.0001), 1).value == 1.0
    assert factor_within(Quantity(0.999, "1", 0.9974, 1.0021), 1).value == 1.01
    assert factor_within(Quantity(1.0, "1", -inf, inf), 1).value is None
    assert Formatter("en").format(factor_within(wide, 1), "x") == "1.04×"


def test_few_launches_are_said_to_be_why_nothing_is_decided() -> None:
    asked = ProseQuestion(
        "a", "1", {judge.ABOVE: "More.", judge.BELOW: "Less.", judge.UNDECIDED: "Undecided."}
    )
    run: Any = SimpleNamespace(questions=Questions(same=0.1))
    lab = replace(DATA, run=run, _names=lambda: {"a": Quantity(2.0, "1", -inf, inf)})
    alternative, more = Teller(lab).answer(asked)
    assert (alternative, more[prose.WHY]) == ("Undecided.", FEW)
    source = "1. ? a : 1\n   > More.\n   < Less.\n   ~ Whether a is more is undecided."
    assert prose.render(source, Teller(lab)) == f"1. Whether a is more is undecided. {FEW}"
    row = ProseQuestion(
        "a", "1", {judge.ABOVE: "| more |", judge.BELOW: "| less |", judge.UNDECIDED: ""}
    )
    assert not Teller(lab).answer(row)[0]  # no row of a table


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.9, 1.2, "Undecided, within {within:x}."),
        (0.034, 17.3, "Undecided."),
        (-0.1, 1.2, "Undecided."),
    ],
)
def test_a_factor_that_tells_nothing_is_not_told(low: float, high: float, said: str) -> None:
    undecided = "Undecided, within {within:x}."
    asked = ProseQuestion(
        "a", "1", {judge.ABOVE: "More.", judge.BELOW: "Less.", judge.UNDECIDED: undecided}
    )
    run: Any = SimpleNamespace(questions=Questions(same=0.1))
    lab = replace(DATA, run=run, _names=lambda: {"a": Quantity(1.0, "1", low, high)})
    assert Teller(lab).answer(asked)[0] == said
    source = f"? a : 1\n> More.\n< Less.\n~ {undecided}"
    assert prose.split(source) == ["More.", "Less.", undecided, "Undecided."]


class Judging(Plain):
    """Chooses the alternative that the question itself asks for."""

    def answer(self, question: ProseQuestion) -> tuple[str, dict[str, Any]]:
        return question.alternatives[question.asked], {}


@pytest.mark.parametrize(
    ("lang", "value", "told"),
    [
        ("en", Quantity(0.0643, "1", 0.05, 0.08), "It allocates 1/15.6 [1/20.0–1/12.5]."),
        ("zh", Quantity(0.0643, "1", 0.05, 0.08), "It allocates 1/15.6 [1/20.0–1/12.5]."),
        ("ko", Quantity(0.0643, "1", 0.05, 0.08), "It allocates 1/15.6(구간 1/20.0~1/12.5)."),
        ("ko", Quantity(0.643, "1", 0.5, 0.8), "It allocates 0.643배(구간 0.500~0.800배)."),
        ("en", Quantity(0.0643, "1", 0.05, 1.8), "It allocates 0.0643× [0.0500–1.80]."),
        ("en", Quantity(0.0643, "1"), "It allocates 1/15.6."),
        ("en", Quantity(0.0, "1"), "It allocates 0×."),
    ],
)
def test_a_ratio_far_below_one_is_told_as_a_fraction(lang: str, value: Quantity, told: str) -> None:
    paths = Paths(ROOT)
    teller = Teller(lab_of(opened(paths, paths.reference), paths, lang))
    said = teller.fill("It allocates {it:x,interval}.", {"it": value})
    assert said.replace("\\", "") == told
