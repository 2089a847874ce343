"""The three READMEs are in step, and each translation names the English text that it renders."""

import hashlib
import re
import runpy

import pytest

from ipclab.session.room import minutes_of
from ipclab.studies.profile import profile
from tests.support.commands import ROOT

NAMES = {"en": "English", "ko": "한국어", "zh": "中文"}
RENEWED = runpy.run_path(str(ROOT / "scripts/pictures.py"))
FILES: dict[str, str] = RENEWED["READMES"]
SCRIPTS = {"ko": "[가-힣]", "zh": "[\u4e00-\u9fff]"}
TRANSLATIONS = tuple(SCRIPTS)
COMMENT = re.compile(r"(?:^|\s+)#.*$")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
RECORD = re.compile(r"\n<!-- source: README\.md sha256 ([0-9a-f]{64}) -->\n\Z")


def text(lang: str) -> str:
    return (ROOT / FILES[lang]).read_text(encoding="utf-8")


def prose(lang: str) -> str:
    """Return the text without its code blocks and without the comment that records its source."""
    return RECORD.sub("\n", FENCE.sub("", text(lang)))


def commands(lang: str) -> list[tuple[str, list[str]]]:
    return [
        (kind, [COMMENT.sub("", line) for line in code.splitlines()])
        for kind, code in FENCE.findall(text(lang))
    ]


def links(lang: str) -> list[str]:
    """Return where the links lead, in order, but for the other languages and the picture."""
    found = re.findall(r"(?<!!)\[[^\]]+\]\(([^)]+)\)", prose(lang))
    return [link for link in found if link not in FILES.values()]


def spans(lang: str) -> list[str]:
    return re.findall(r"`[^`]+`", prose(lang))


@pytest.mark.parametrize("lang", TRANSLATIONS)
@pytest.mark.parametrize("part", [commands, links, spans], ids=lambda part: part.__name__)
def test_a_translation_is_in_step(lang, part) -> None:
    assert part("en"), part.__name__
    assert part(lang) == part("en")


@pytest.mark.parametrize("lang", TRANSLATIONS)
def test_a_translation_is_translated(lang: str) -> None:
    words = re.sub(r"^# ipclab$|^\*\[.*\]\(.*\)\*$|`[^`]+`", "", prose(lang), flags=re.MULTILINE)
    cells = [
        line.strip("|").split("|")[1] for line in words.splitlines() if re.match(r"\|(?!-)", line)
    ]
    labels = re.findall(r"\[([^\]]+)\]\(", words)
    told = [cell for cell in cells if re.search(r"[^\W\d_]", cell)]  # others are numbers
    for part in [*re.split(r"\n\s*\n", words.strip()), *told, *labels]:
        assert re.search(SCRIPTS[lang], part), part


@pytest.mark.parametrize("lang", FILES)
def test_each_readme_leads_to_the_two_others_and_shows_its_own_pictures(lang: str) -> None:
    others = " · ".join(f"[{NAMES[other]}]({FILES[other]})" for other in FILES if other != lang)
    assert text(lang).splitlines()[2] == f"*{others}*"
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text(lang))
    assert shown == [f"docs/pictures/{name}.{lang}.png" for name in RENEWED["GALLERY"].values()]
    assert all((ROOT / picture).is_file() for picture in shown)


@pytest.mark.parametrize("lang", TRANSLATIONS)
def test_a_translation_was_read_against_todays_english(lang: str) -> None:
    digest = hashlib.sha256((ROOT / FILES["en"]).read_bytes()).hexdigest()
    recorded = RECORD.search(text(lang))
    assert recorded, (
        f"{FILES[lang]} must end with the line: <!-- source: README.md sha256 {digest} -->"
    )
    assert recorded[1] == digest, (
        f"README.md has changed since {FILES[lang]} was last read against it. Look at what changed,"
        f" say the same in {FILES[lang]}, and only then record it:\nsed -i 's/README.md sha256 .*"
        f" -->/README.md sha256 {digest} -->/' {FILES[lang]}"
    )


@pytest.mark.parametrize("lang", FILES)
def test_a_readme_says_how_long_each_profile_takes(lang: str) -> None:
    for name in ("quick", "standard", "published"):
        (said,) = re.findall(r"\d+", minutes_of(profile(name)))
        assert re.search(rf"(?<!\d){said}(?: minutes|분|分钟)", text(lang)), (name, said)
