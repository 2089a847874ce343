"""Whatever value is missing, no sentence has a hole: every text of the catalogues and every cell of
prose, with one value after the other taken away. Nothing is rendered or measured.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from ipclab.frames.address import PATTERN
from ipclab.prose import prose
from ipclab.prose.language import placeholders
from ipclab.prose.questions import ProseQuestion, parts
from ipclab.prose.sentences import ends_sentence, told_sentences
from ipclab.stats import judge
from ipclab.words import filling
from ipclab.words.catalogue import LANGUAGES, SOURCE, Catalogue
from tests.support.questions import NOTEBOOKS, OWN, cells, parsed
from tests.support.tellers import Plain

HOLE, VALUE = "⟨hole⟩", "⟨value⟩"
CATALOGUES = [lang for lang in LANGUAGES if lang != SOURCE]
# A finding that begins so speaks of a sentence before it.
_SPEAKS_OF = re.compile(r"\d+\. \**(?:It|Its|They|Their|Those(?! that)|These|This)\b")
_MARKS = re.compile("[\ue000-\ue002]")
PROSE = [
    pytest.param(path, text, id=f"{path.stem}-{place}")
    for path in NOTEBOOKS
    for place, (is_prose, text) in enumerate(cells(path))
    if is_prose
]

_ADDRESS = re.compile(PATTERN)


class Lacking(Plain):
    """Says prose of which one value is missing; each question is answered with `side`."""

    def __init__(self, lacking: str, side: str) -> None:
        super().__init__()
        self.lacking, self.side = lacking, side

    def fill(self, text: str, more: Mapping[str, Any] | None = None) -> str:
        return filling.PLACEHOLDER.sub(lambda m: HOLE if m[1] == self.lacking else VALUE, text)

    def is_measured(self, text: str, more: Mapping[str, Any] | None = None) -> bool:
        return self.lacking not in names(text)

    def answer(self, question: ProseQuestion) -> tuple[str | None, Mapping[str, Any]]:
        lacks = self.lacking in asked_for(question)
        return question.alternatives.get(judge.MISSING if lacks else self.side), {}


def names(text: str) -> set[str]:
    return {name for name, _ in placeholders(text)}


def lacks(lacking: str, text: str) -> bool:
    return lacking in names(text)


def asked_for(question: ProseQuestion) -> set[str]:
    """Return the values that a question asks about, attributes of others as prose names them."""
    addresses = set(_ADDRESS.findall(question.asked))
    text = _ADDRESS.sub("0", question.asked)
    assert parsed(text)
    return addresses | set(re.findall(r"[A-Za-z_][\w.]*", text))


def values(text: str) -> set[str]:
    """Return every value that a cell of prose names."""
    found: set[str] = set()
    for part in parts(text):
        if isinstance(part, ProseQuestion):
            found |= asked_for(part)
            for alternative in part.alternatives.values():
                found |= names(alternative)
        else:
            found |= names(part)
    return found - OWN


def holes(shown: str) -> Iterator[str]:
    """Yield each line with a hole; the cell of a table may be one."""
    for line in shown.splitlines():
        cell_by_cell = line.split("|") if line.startswith("|") else [line]
        for text in cell_by_cell:
            if HOLE in text and (len(cell_by_cell) == 1 or text.strip() != HOLE):
                yield line


@pytest.mark.parametrize(("notebook", "text"), PROSE)
def test_no_cell_of_prose_has_a_hole(notebook: Path, text: str) -> None:
    found = []
    for lacking, side in product(sorted(values(text)), (judge.ABOVE, judge.BELOW, judge.UNDECIDED)):
        shown = prose.render(text, Lacking(lacking, side))
        found += [f"without {lacking}: {line}" for line in holes(shown)]
        found += [
            f"without {lacking} nothing is spoken of: {line}"
            for line in shown.splitlines()
            if _SPEAKS_OF.match(line)
        ]
        assert not _MARKS.search(shown)
    assert not found, "\n".join(sorted(set(found)))


@pytest.mark.parametrize("lang", CATALOGUES)
def test_no_text_of_the_catalogues_has_a_hole(lang: str) -> None:
    wrong = []
    for text in {each for pair in Catalogue.load(lang).words.items() for each in pair}:
        for lacking in names(text):
            kept = told_sentences(text, partial(lacks, lacking))
            values_alone = not filling.PLACEHOLDER.sub("", kept).strip(" ,.")
            cut_short = ends_sentence(text) and not ends_sentence(kept) and not values_alone
            if lacking in names(kept) or cut_short:
                wrong.append(f"{text!r} without {lacking}: {kept!r}")
    assert not wrong, "\n".join(sorted(wrong))
