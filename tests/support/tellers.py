"""Who says prose in tests: translates and fills in as it is told, answers nothing."""

from collections.abc import Callable, Mapping
from typing import Any

from ipclab.prose.language import placeholders
from ipclab.prose.questions import ProseQuestion
from ipclab.prose.sentences import told_sentences
from ipclab.prose.teller import Teller


class Plain(Teller):
    """Says prose with a translation and values of a test's own; the first alternative of each
    question is taken.
    """

    def __init__(
        self,
        translate: Callable[[str], str] = str,
        fill: Callable[[str], str] = str,
        measured: bool = True,
    ) -> None:
        self._translate, self._fill, self._measured = translate, fill, measured

    def translate(self, msgid: str) -> str:
        return self._translate(msgid)

    def fill(self, text: str, more: Mapping[str, Any] | None = None) -> str:
        return self._fill(text)

    def tell(self, text: str, more: Mapping[str, Any] | None = None) -> str:
        return self.fill(told_sentences(text, lambda part: not self.is_measured(part, more)), more)

    def is_measured(self, text: str, more: Mapping[str, Any] | None = None) -> bool:
        return self._measured or not placeholders(text)

    def answer(self, question: ProseQuestion) -> tuple[str | None, Mapping[str, Any]]:
        return next(iter(question.alternatives.values())), {}
