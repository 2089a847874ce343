"""Text of a run, which anybody may have written, and how each kind of document takes it.

What reads a run from a disk gives its texts as `Text`. A document does not put such a text into
its own language as it is: it asks for the text in that language. Nothing of it is a template, a
pattern or code.
"""

import re

from ipclab.errors import plain

# what Markdown, and TeX between dollars in it, takes for more than a letter
_MARKDOWN = re.compile(r"([\\`*_\[\]<>#|$~&!{}])")
_BREAKS = re.compile(r"[ \t]*[\r\n]+[ \t]*")
# of a cell, where spreadsheets begin to calculate
_FORMULA = "=+-@\t\r"


class Text(str):
    """A text of a run: no character of it commands a terminal, and each property is safe to set."""

    __slots__ = ()

    def __new__(cls, text: str) -> "Text":
        """Make a text without characters that command (`ipclab.errors.plain`)."""
        return super().__new__(cls, plain(text))

    @property
    def line(self) -> str:
        """The text in one line; what blanks it has stay."""
        return _BREAKS.sub(" ", self)

    @property
    def markdown(self) -> str:
        """As Markdown that shows these letters: no markup, no element, no formula."""
        return _MARKDOWN.sub(r"\\\1", self.line)

    @property
    def csv(self) -> str:
        """As a cell that no spreadsheet takes for a formula; a number stays one."""
        begins = self.startswith(tuple(_FORMULA)) and not _is_number(self)
        return f"'{self}" if begins else str(self)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
