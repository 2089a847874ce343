import re
from dataclasses import replace
from pathlib import Path

import pytest

from ipclab.claims.published import called_in_text
from ipclab.report.pages import words
from ipclab.words.catalogue import catalogue_path, translations
from tests.report.conftest import KO, write_notebook


def test_complete_catalogues_pass(sources: words.Sources) -> None:
    assert words.gate(sources) == []
    assert list(words.msgids(sources))[:4] == [
        "Time of a write",
        "Mechanism",
        "Time",
        "All on one CPU.",
    ]
    assert set(words.msgids(sources)) <= translations("ko", sources.locale).keys()


def test_update_keeps_translations_and_changes_nothing_twice(sources: words.Sources) -> None:
    path = catalogue_path("ko", sources.locale, "demo")
    before = path.read_bytes()
    assert words.update(sources) == {"ko": 0, "zh": 0}
    assert path.read_bytes() == before
    assert translations("ko", sources.locale) == KO


def test_the_gate_names_what_is_untranslated_obsolete_or_typed(
    sources: words.Sources, tmp_path: Path
) -> None:
    write_notebook(tmp_path / "new.ipynb", prose="It took 84 bytes.\n\n| {a} | 7 |\n|---|---|")
    other = replace(sources, notebooks=tmp_path)
    problems = words.gate(other)
    assert "new.ipynb: a digit is typed into prose, '84' in 'It took 84 bytes.'" in problems
    assert "new.ipynb: a digit is typed into prose, '7' in '7'" in problems
    assert "zh: untranslated: 'It took 84 bytes.'" in problems
    assert "ko: obsolete: 'mapping'" in problems


@pytest.mark.parametrize(
    ("lang", "msgid", "msgstr", "problems"),
    [
        ("ko", "{x}", "{x}은 크다", 1),
        ("ko", "{x:ms}", "**{x:ms}**로 간다", 1),
        ("ko", "{x}", "{x}에서 {x}까지 {x}이상", 0),
        ("ko", "{x}", "{x}이다(약 {x})", 1),
        ("ko", "{x}", "{x}을(를) 쓴다", 1),
        ("ko", "[{x}](#a)", "[{x}](#a)은 크다", 1),
        ("ko", "{x}", "{x}(으)로 간다", 1),
        ("zh", "a", "写入,读取", 1),
        ("zh", "{x}", "用了{x},再读", 1),
        ("zh", "a", "写入，读取（平均）。[链接](http://a,b)", 0),
        ("zh", "{x} {y:ms}", "{x} {y}", 1),
        ("ko", "{x}", "{y}", 1),
        ("ko", "a", "12개", 1),
        ("ko", "a", "p991", 1),
        ("ko", "a", "POSIX.1, float32, v0.9, p99.9에서, `UTF-8`", 0),
        ("ko", "a", "`84`", 1),
        ("ko", "2.1. a", "2.1. 가", 0),
        ("ko", "a", "원보고서의 방법", 1),
        ("ko", "{x:x,interval}", "{x:x,interval} 수준이다", 1),
        ("ko", "{x:x}", "{x:x}만큼 걸린다", 1),
        ("zh", "a", "原报告的方法", 1),
        ("zh", "a", "每次启动的中位数", 1),
        ("zh", "a", "会启动若干线程", 0),
        ("zh", ": What to do {#advice}", ": 建议 {#advice}", 0),
        ("zh", ": What to do {#advice}", "：建议 {#advice}", 1),
    ],
)
def test_translations_are_held_to_the_rules(
    lang: str, msgid: str, msgstr: str, problems: int
) -> None:
    assert len(words.translation_faults(lang, msgid, msgstr)) == problems


def test_what_a_spread_layout_or_a_pair_of_names_gives_a_figure_is_translated(
    sources: words.Sources, tmp_path: Path
) -> None:
    cell = """panels = {"whole scenario": 1, "one message": 2}
width, title = 7, "What takes longer?"
layout = {"size": (width, 2), "names": [*panels, "the text"]}
with lab.figure("f", title, **layout) as ax:
    pass"""
    write_notebook(tmp_path / "new.ipynb", cell)
    given = words.msgids(replace(sources, notebooks=tmp_path))
    assert {"whole scenario", "one message", "the text", "What takes longer?"} <= given.keys()


def test_names_that_are_added_to_a_dictionary_are_translated(
    sources: words.Sources, tmp_path: Path
) -> None:
    code = 'names = {"a": "One"}\nnames |= {"b": "Two"}\nlab.table(rows, "Title", names=names)'
    write_notebook(tmp_path / "new.ipynb", code)
    found = words.msgids(replace(sources, packages=(), notebooks=tmp_path))
    assert list(found) == ["Title", "One", "Two"]


def test_no_word_of_a_report_is_a_path_a_key_or_a_number_of_ours() -> None:
    reproduced = "Clone the repository"  # where a reader is told the place of the published loops
    named = re.compile(r"\b(docs|packages|notebooks)/|\{seed\}|\bseed \d|\b[a-z_]+\.[a-z-]+\.\d")
    found = []
    for lang in ("ko", "zh"):
        for msgid, said in translations(lang).items():
            if not msgid.startswith(reproduced) and named.search(f"{msgid} {said}"):
                found.append((lang, msgid))
    assert found == []


def test_a_number_is_called_as_its_text_calls_it_never_by_a_key_of_ours() -> None:
    keys = ["serial.longest.5", "soon.exp-small", "massive", "map.page"]
    texts = [
        "지연 ~10-35ms (low)",
        "버퍼 풀링: 90% 메모리 절약",
        "8KB 임계값",
        "145 倍慢",
        "Write 1 MB",
    ]
    assert [*map(called_in_text, keys)] == [""] * 4
    said = [text.removesuffix(" (low)") for text in texts]  # which end it is, we have added
    assert [*map(called_in_text, texts)] == said


def test_what_a_text_did_is_translated_without_facts_and_names_of_programs(
    sources: words.Sources, tmp_path: Path
) -> None:
    (tmp_path / "text.toml").write_text("""names = ["loop.py"]
[[experiment]]
name = "Writes"
row = [
    { what = "Program", text = "loop.py", here = "the same calls", how = "rebuilt" },
    { what = "Sizes", text = [1, 2], level = "size_bytes" },
    { what = "Python", text = "newest", fact = "python" },
]
""")
    found = words.msgids(replace(sources, packages=(tmp_path,), notebooks=tmp_path / "none"))
    assert list(found) == ["Writes", "Program", "the same calls", "rebuilt", "Sizes"]
