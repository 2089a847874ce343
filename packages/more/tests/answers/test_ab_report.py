"""The answers of `ipclab ab`, read by other programs' parsers."""

import json

import jsonschema
import pytest
from junitparser import JUnitXml
from markdown_it import MarkdownIt

from ipclab.stats.compare import SLOWER, UNDECIDED
from ipclab_more.ab.report import TrialReport
from ipclab_more.ab.trial import LIMITS, A, B, TrialAnswer, trial_judged
from tests.answers.test_ab import answered

NUMBERS = {name: {"type": "number"} for name in ("value", "lower_value", "upper_value")}
MEASURE = {"type": "object", "properties": NUMBERS, "required": ["value"]}
BMF = {  # https://bencher.dev/bmf.json
    "$schema": "http://json-schema.org/draft-07/schema",
    "type": "object",
    "patternProperties": {".+": {"type": "object", "patternProperties": {".+": MEASURE}}},
}
NONE = trial_judged([], 0.05, failure="it <broke> & | ended")
ANSWERS = [answered(0.5), answered(-0.5), answered(again=0.5), NONE]
LABELS = {A: "old `cmd` | 'x' <a>", B: 'new & "y"'}


def told(answer: TrialAnswer) -> TrialReport:
    return TrialReport(answer, LABELS[A], LABELS[B], "ns")


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.verdict)
def test_junit_is_read_by_its_parser(answer):
    top = JUnitXml.fromstring(told(answer).junit().encode())
    ((case,),) = top
    counts = top.tests, top.failures, top.errors, top.skipped
    assert counts == (1, int(answer.verdict == SLOWER), 0, int(answer.verdict == UNDECIDED))
    assert [each._tag for each in case.result] == {SLOWER: ["failure"], UNDECIDED: ["skipped"]}.get(
        answer.verdict, []
    )
    assert case.name == f"{LABELS[B]} over {LABELS[A]}"
    assert all(answer.reason in each.message for each in case.result)
    assert case.system_out == told(answer).line()


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.verdict)
def test_bencher_metric_format_conforms_to_its_schema(answer):
    found = json.loads(told(answer).bmf())
    jsonschema.Draft7Validator(BMF).validate(found)
    if answer is not NONE:
        assert set(found) == {LABELS[A], LABELS[B], f"{LABELS[B]} over {LABELS[A]}"}
        ratio = found[f"{LABELS[B]} over {LABELS[A]}"]["ratio"]
        assert ratio["lower_value"] <= ratio["value"] <= ratio["upper_value"]


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.verdict)
def test_markdown_has_a_table_row_for_each_arm_and_the_line_verdict_and_controls(answer):
    tokens = MarkdownIt("commonmark").enable("table").parse(told(answer).markdown())
    assert [token.type for token in tokens].count("tr_open") == 4
    assert answer.verdict in told(answer).markdown()
    line = told(answer).line()
    assert "\n" not in line
    assert line.startswith(answer.verdict)
    assert "A again over A" in line
    assert LIMITS in line


def test_equal_labels_stay_apart_in_bencher_metric_format():
    same = TrialReport(answered(0.0), "x", "x", "ns")
    assert set(json.loads(same.bmf())) == {"A: x", "B: x", "x over x"}


def test_the_last_words_of_a_command_break_no_answer():
    spoken = told(trial_judged([], 0.05, failure="it said \x1b[31mno\x00"))
    ((case,),) = JUnitXml.fromstring(spoken.junit().encode())
    assert "it said ?[31mno?" in case.result[0].message
    assert all(text.replace("\n", "").isprintable() for text in (spoken.line(), spoken.markdown()))
