"""Who says a notebook's prose: translates it, fills in values, has questions answered."""

import re
from collections.abc import MutableMapping
from functools import partial
from typing import TYPE_CHECKING, Any

from ipclab.prose import prose, sentences
from ipclab.prose.questions import (
    MOST_WITHIN,
    ProseQuestion,
    by_level,
    factor_within,
    without_factor,
)
from ipclab.stats import judge
from ipclab.stats.quantity import Quantity
from ipclab.words.catalogue import N_
from ipclab.words.filling import Variables

if TYPE_CHECKING:
    from ipclab.report.lab import ReportLab

# Korean writes intervals of ratios as in "15.0배(구간 10.3~16.5배)"
_RATIO = re.compile(r"(배|(?<![\d.])1/[\d.,]+) \\?\[([\d.,/]+)\\?~([\d.,/]+)\\?\]")
LEVEL, LEVEL_IN_CELL = N_("Reason: level of the contest."), N_("(level of the contest)")
FEW = N_("The launches of this run are too few to test it, whatever the difference.")


class Teller:
    """Says a notebook's prose: translates it, fills in values, has questions answered."""

    def __init__(self, lab: "ReportLab") -> None:
        self.lab = lab
        self.lang = lab.words.lang
        self.names_answers = True  # the first of several tellers does

    @classmethod
    def of(cls, lab: "ReportLab") -> "list[Teller]":
        """Return the tellers of a lab, its own first, and those of readers of other languages."""
        own, *others = map(cls, (lab, *lab.others))
        for other in others:
            other.names_answers = False
        return [own, *others]

    def translate(self, msgid: str) -> str:
        """Return `msgid` in the reader's language."""
        return self.lab.words.translate(msgid)

    def fill(self, text: str, more: Variables | None = None) -> str:
        """Return Markdown with placeholders filled: from `more`, the notebook and the run."""
        filled: str = self.lab._filled(text, more)
        return _RATIO.sub(_in_korean, filled) if self.lab.words.lang == "ko" else filled

    def tell(self, text: str, more: Variables | None = None) -> str:
        """Return what of Markdown lacks no value, filled as `fill` does; "" where nothing stays."""
        kept = sentences.told_sentences(text, lambda part: not self.is_measured(part, more))
        return self.fill(kept, more) if kept else ""

    def is_measured(self, text: str, more: Variables | None = None) -> bool:
        """Return whether each value that `text` names is there."""
        return self.lab._is_measured(text, more)

    def answer(self, question: ProseQuestion) -> tuple[str | None, Variables]:
        """Return the alternative (a msgid) that the judge chooses, and what it may tell.

        What was not tested is undecided, with why, and so is what the level of its contest leaves
        undecided beside intervals that lie apart; what is missing is None, if no words are for it.
        """
        lab = self.lab
        names = self.lab._names()
        asked = question.value(names, lab._lookup)
        bound = question.limit(names, lab._lookup)
        side = question.side(asked, bound, lab.run.questions.same)
        factor = factor_within(asked, bound)
        more: dict[str, Any] = {"it": asked, "within": factor}
        untested = side == judge.NOT_TESTED and not question.is_row
        alternative = question.alternatives.get(judge.UNDECIDED if untested else side)
        if alternative and (untested or (side == judge.UNDECIDED and not _tells(factor))):
            alternative = without_factor(alternative)
        why = FEW if untested else ""
        if side == judge.UNDECIDED and by_level(asked, bound):
            why = LEVEL_IN_CELL if question.is_row else LEVEL
        if why and alternative and (question.is_row or sentences.ends_sentence(alternative)):
            more[prose.WHY] = why
        if question.name and self.names_answers and isinstance(names, MutableMapping):
            names[question.name] = said = self._sentence(alternative or "", more)
            for other in lab.others:
                again = Teller(other)._sentence(alternative or "", more)
                other.words.noted[said] = partial(str, again)
        return alternative, more

    def _sentence(self, alternative: str, more: Variables) -> str:
        """Return an answer as a value of the notebook; nothing where a value of it is missing."""
        lab = self.lab
        said = [lab.words.translate(text) for text in (alternative, more.get(prose.WHY, ""))]
        kept = [
            sentences.whole_sentences(text, lambda part: not lab._is_measured(part, more))
            for text in said
        ]
        return " ".join(lab._filled(text, more, markdown=False) for text in kept if text)


def _in_korean(match: re.Match[str]) -> str:
    """Return a ratio with its interval as Korean writes it."""
    unit = "배" if match[1] == "배" else ""
    return f"{match[1]}(구간 {match[2]}~{match[3]}{unit})"


def _tells(factor: Quantity) -> bool:
    return bool(factor) and factor.value <= MOST_WITHIN
