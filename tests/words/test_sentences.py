"""Each sentence, in each language, for each kind, verdict and measure: direction, plural, numbers."""

import json
from itertools import product
from typing import Any

import pytest

from ipclab.errors import LabError
from ipclab.stats.quantity import Quantity
from ipclab.words.amounts import as_data, from_data, ratio
from ipclab.words.markdown import markdown
from ipclab.words.output import MIME, SCHEMA
from ipclab.words.phrases import LEVELS, MEASURES, TABLE, side
from ipclab.words.sentences import FILLS, SENTENCES, sentence
from ipclab.words.words import Words

LANGS = ("en", "ko", "zh")
WORDS = {lang: Words.load(lang) for lang in LANGS}
TOPIC = {"op": "round-trip", "size_bytes": 100, "placement": "cross"}
SIDES = [{"backend": "unix"}, {"backend": "pipe"}]
UP, DOWN, NEAR = [3.04, "1", 2.5, 4.0], [0.247, "1", 0.2, 0.3], [1.02, "1", 0.99, 1.04]


BEST = {"best": [10.0, "ns", 9.0, 11.0], "all": 4, "slower": 2, "next": {"backend": "pipe"}}
VALUES: dict[str, dict[str, Any]] = {
    "compare": {"a": [300.0, "ns"], "b": [100.0, "ns"], "quick": 0},
    "cheapest": {**BEST, "ratio": UP, "within": NEAR},
    "fastest": {**BEST, "ratio": UP, "within": NEAR}
    | {"busy": False, "fast": [10.0, "ns"], "slow": [20.0, "ns"]},
    "effect": {"all": 6, "by": "backend", "same": 0.05, "more": 2, "less": 3}
    | {"alike": 0, "few": 0, "state": 0}
    | {f"more_{name}": [{"backend": "tcp"}, UP] for name in ("most", "least")}
    | {f"less_{name}": [{"backend": "udp"}, DOWN] for name in ("most", "least")},
    "reach": {"x": "size_bytes", "way": "less", "first": 100, "last": 10_000, "next": 2_000_000}
    | {"at_first": DOWN, "at_last": DOWN, "at_next": UP},
    "spread": {
        "least": [{"backend": "unix"}, [1.0, "ns"]],
        "most": [{"backend": "tcp"}, [9.0, "ns"]],
    },
    "value": {"value": [10.0, "ns", 9.0, 11.0]},
}


def finding(kind: str, verdict: str, measure: str = "time", **values: Any) -> dict[str, Any]:
    """Return a finding of that kind and verdict, with values that fit it."""
    ratio = {"less": DOWN, "more": UP}.get(verdict, NEAR)
    known = VALUES[kind] | ({"ratio": ratio} if kind == "compare" else {}) | values
    about = {"kind": kind, "verdict": verdict, "measure": measure}
    return {**about, "topic": TOPIC, "sides": SIDES, "values": known}


CASES = [(kind, verdict) for kind in FILLS for verdict in SENTENCES[kind]]


@pytest.mark.parametrize(("kind", "verdict"), CASES)
def test_every_kind_and_verdict_has_a_sentence_in_each_language(kind: str, verdict: str) -> None:
    for measure, lang in product(MEASURES, LANGS):
        said = sentence(finding(kind, verdict, measure), WORDS[lang])
        assert said and said[-1] in ".。" and ".." not in said
        assert not any(bad in said for bad in ("{", "}", "None", "nan", "  ", "()", "（）"))
        assert "100" in said and (
            "unix" in said or kind in ("spread", "value", "fastest", "cheapest")
        )


def test_two_whose_ratio_may_be_0_are_within_nothing() -> None:
    assert "within" in sentence(finding("compare", "open"), WORDS["en"])
    open_below = finding("compare", "open", ratio=[1.02, "1", 0.0, 1.04])
    assert "within" not in sentence(open_below, WORDS["en"])


def test_every_phrase_is_in_each_language_and_has_its_forms() -> None:
    for factor, levels in LEVELS.items():
        for level, forms in levels.items():
            assert [len(forms[lang]) for lang in LANGS] == [2, 4, 2], (factor, level)
    for name, forms in TABLE["op"].items():
        assert len(forms["ko"]) == 3 and forms["en"] and forms["zh"], name
    for name, measure in MEASURES.items():
        assert all(
            measure[lang].keys() >= {"more", "more_pct", "less_pct", "alike"} for lang in LANGS
        ), name


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (
            "more",
            (
                "3.04 times as long [2.50–4.00] through unix as through pipe",
                "pipe 방식보다 unix 방식이 3.04배",
                "unix 的耗时是 pipe",
            ),
        ),
        (
            "less",
            (
                "4.05 times as fast [3.33–5.00] through unix",
                "pipe 방식보다 unix 방식이 4.05배",
                "unix（300 ns）的速度是 pipe 的 4.05 倍",
            ),
        ),
    ],
)
def test_a_ratio_is_one_number_above_one_with_a_verb_of_its_direction(
    verdict: str, said: tuple[str, ...]
) -> None:
    for lang, part in zip(LANGS, said, strict=True):
        assert part in sentence(finding("compare", verdict), WORDS[lang]).replace("\u00a0", " ")


def test_who_carries_less_is_told_by_who_carries_more() -> None:
    said = sentence(
        finding("compare", "less", "rate", a=[100.0, "1/s"], b=[400.0, "1/s"]), WORDS["en"]
    )
    assert (
        "carries 4.05 times as many messages a second [3.33–5.00] through pipe (400/s) as through unix"
        in said
    )


def test_below_a_half_more_it_is_per_cent_of_the_ratios_own_ends() -> None:
    assert ratio(Quantity(1.2, "1", 1.1, 1.4), WORDS["en"]) == (
        "more_pct",
        "20.0%",
        " [10.0–40.0%]",
    )
    assert ratio(Quantity(0.8, "1", 0.7, 0.9), WORDS["en"]) == (
        "less_pct",
        "20.0%",
        " [10.0–30.0%]",
    )
    assert ratio(Quantity(0.4), WORDS["en"]) == ("less", "2.50", "")


@pytest.mark.parametrize(
    ("slower", "said"), [(0, "None is shown"), (1, "The other one takes"), (3, "The other 3 take")]
)
def test_one_other_is_no_others(slower: int, said: str) -> None:
    assert said in sentence(finding("fastest", "tied", slower=slower), WORDS["en"])


def test_an_unknown_level_is_told_and_not_dropped() -> None:
    made = finding("compare", "more") | {"topic": TOPIC | {"hugepages": "2M"}}
    assert all("hugepages = 2M" in sentence(made, WORDS[lang]) for lang in LANGS)
    sides = finding("compare", "more") | {"sides": [{"hugepages": "2M"}, {"hugepages": "1G"}]}
    assert all("hugepages = 1G" in sentence(sides, WORDS[lang]) for lang in LANGS)


def test_what_a_run_calls_its_levels_is_no_template_and_no_markup() -> None:
    made = finding("compare", "more") | {"sides": [{"backend": "{a}*x*"}, {"backend": "pipe"}]}
    for lang in LANGS:
        assert "\\{a\\}\\*x\\*" in sentence(made, WORDS[lang])


def test_of_one_side_that_was_not_measured_nothing_is_said() -> None:
    made = finding("compare", "more") | {"verdict": "missing", "sides": SIDES[:1]}
    assert [sentence(made, WORDS[lang]) for lang in LANGS] == ["", "", ""]


def test_data_is_json_and_says_the_same_after_it() -> None:
    for (kind, verdict), lang in product(CASES, LANGS):
        made = {"schema": SCHEMA, "kind": "finding", "data": {"findings": [finding(kind, verdict)]}}
        assert markdown(json.loads(json.dumps({MIME: made}))[MIME], lang) == markdown(made, lang)


def test_an_endless_interval_survives_json() -> None:
    endless = Quantity(3.0, "1", 2.0, float("inf"))
    assert from_data(json.loads(json.dumps(as_data(endless)))) == endless


@pytest.mark.parametrize("value", [5.12, 1 / 5.12, 1.12, 0.88])
def test_an_interval_without_a_width_is_not_printed(value: float) -> None:
    for around, told in ((1e-9, ""), (0.1, "[")):
        over = Quantity(value, "x", value * (1 - around), value * (1 + around))
        assert all(ratio(over, WORDS[lang]).interval[1:2] == told for lang in LANGS)


def test_what_is_open_is_counted_by_reason() -> None:
    every = [finding("compare", verdict) for verdict in ("more", "open", "few", "state")]
    made = {"schema": SCHEMA, "kind": "open", "data": {"findings": every}}
    said = markdown(made, "en")
    assert said.startswith("3 of 4 findings") and said.count("\n- 1 ") == 3
    assert all("3" in markdown(made, lang) and "4" in markdown(made, lang) for lang in LANGS)


def test_levels_of_one_side_stand_apart_as_its_language_has_it() -> None:
    levels = {"placement": "cross", "cache": "cold"}
    chinese, english = (side(levels, WORDS[lang]).side for lang in ("zh", "en"))
    assert chinese == "冷缓存时、跨 CPU 时" and english == "from a cold cache on two CPUs"


def test_another_schema_is_refused() -> None:
    with pytest.raises(LabError, match="schema 2"):
        markdown({"schema": 2, "kind": "finding", "data": {}}, "en")


def test_in_korean_an_effect_is_of_what_is_measured_and_a_kind_takes_the_particles_of_a_mechanism() -> (
    None
):
    told = finding("effect", "more", "age") | {"topic": {"op": "staleness"}}
    assert "데이터를 읽을 때의 갱신 후 경과 시간은" in sentence(told, WORDS["ko"])
    kinds = [{"sends": sends, "backend": name} for sends, name in ((True, "tcp"), (False, "lmdb"))]
    told = finding("compare", "more") | {"sides": kinds}
    assert "공유 상태(lmdb) 방식보다 메시지 전송(tcp) 방식이" in sentence(told, WORDS["ko"])


@pytest.mark.parametrize(
    ("sides", "said"),
    [
        (SIDES, "unix 방식과 pipe 방식의 차이가"),
        ([{"pool": "yes"}, {"pool": "no"}], "풀을 쓸 때와 풀을 쓰지 않을 때의 차이가"),
        ([{"metric": "p99"}, {"metric": "p50"}], "p99와 중앙값의 차이가"),
    ],
)
def test_korean_joins_sides_by_how_the_first_one_ends(sides: Any, said: str) -> None:
    for kind in ("compare", "effect", "reach"):
        assert said in sentence(finding(kind, "open") | {"sides": sides}, WORDS["ko"])


@pytest.mark.parametrize(("quick", "said"), [(0, "unix 방식의 값이"), (1, "pipe 방식의 값이")])
def test_in_korean_who_beats_the_limit_has_one_particle(quick: int, said: str) -> None:
    assert said in sentence(finding("compare", "limit", quick=quick), WORDS["ko"])


@pytest.mark.parametrize(
    ("kind", "verdict", "said"),
    [
        ("compare", "open", "unix 방식과 pipe 방식의"),
        ("effect", "open", "unix 방식과 pipe 방식의"),
        ("effect", "all-more", "pipe 방식보다 unix 방식이"),
        ("reach", "open", "unix 방식과 pipe 방식의"),
        ("reach", "turns", "pipe 방식보다 unix 방식이"),
    ],
)
def test_in_korean_sides_that_are_not_compared_take_no_particle_of_a_comparison(
    kind: str, verdict: str, said: str
) -> None:
    assert said in sentence(finding(kind, verdict), WORDS["ko"]).replace("\u00a0", " ")


@pytest.mark.parametrize(("lang", "top"), [("en", "up to"), ("ko", "최대"), ("zh", "最多")])
def test_of_one_case_none_is_the_most(lang: str, top: str) -> None:
    for way in ("more", "less"):
        several, one = (finding("effect", way) for _ in range(2))
        several["values"][way], one["values"][way] = 2, 1
        assert top in sentence(several, WORDS[lang])
        assert top not in sentence(one, WORDS[lang])


@pytest.mark.parametrize(
    ("lang", "told"), [("en", "the best of each kind."), ("ko", "최선인"), ("zh", "最优者")]
)
def test_the_best_of_two_groups_are_told_as_such(lang: str, told: str) -> None:
    for verdict in ("more", "less", "open"):
        several, one = (finding("compare", verdict, best=best) for best in (True, False))
        assert told.rstrip(".") in sentence(several, WORDS[lang])
        assert told not in sentence(one, WORDS[lang])


def test_of_two_that_are_alike_either_is_taken() -> None:
    for verdict, told in (
        ("less", "| through unix |"),
        ("more", "| through pipe |"),
        ("alike", "either of unix, pipe"),
    ):
        made = {"findings": [finding("compare", verdict)], "title": "", "name": ""}
        assert told in markdown({"schema": SCHEMA, "kind": "advice", "data": made}, "en")


def test_of_those_not_told_apart_advice_names_the_ones_that_are_as_good() -> None:
    made = finding("cheapest", "tied", "cpu", as_good=1)
    made["sides"] = [{"backend": name} for name in ("pipe", "unix", "tcp")]
    said = markdown(
        {"schema": SCHEMA, "kind": "advice", "data": {"findings": [made], "title": "", "name": ""}},
        "en",
    )
    assert "| pipe (not told apart: unix) |" in said


def test_one_that_is_open_is_told_of_as_one() -> None:
    for count, told in ((1, "document, claims apart, is open"), (2, "2 of 2 findings")):
        made = {"findings": [finding("compare", "open")] * count}
        assert told in markdown({"schema": SCHEMA, "kind": "open", "data": made}, "en")


def test_several_that_are_open_are_parted_as_each_language_does() -> None:
    both = [finding("compare", "open") | {"topic": {"op": op}} for op in ("read", "write")]
    made = {"schema": SCHEMA, "kind": "open", "data": {"findings": both}}
    assert "or through pipe; a write" in markdown(made, "en")
    assert "pipe；单次写入" in markdown(made, "zh")


def test_whose_the_most_of_an_effect_is_tells_its_other_levels_too() -> None:
    told = {"backend": "shm-futex", "gap_ns": 10_000}
    said = sentence(finding("effect", "more", more_most=(told, UP)), WORDS["en"])
    assert "(shm-futex, after an idle gap of" in said
    alone = sentence(finding("effect", "more", more_most=({"gap_ns": 10_000}, UP)), WORDS["en"])
    assert alone.count("idle gap") == 1


def test_a_study_keeps_its_name_and_a_level_has_that_of_its_language() -> None:
    words = WORDS["ko"]
    assert words.level("study", "stream") == "stream"
    assert words.level("placement", "same") == "동일 CPU"
