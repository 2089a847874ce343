"""Markdown that a person wrote, in blocks that are translated: paragraphs, headings, items, cells."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_WIDE = "\u2e80-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
_SPACES = re.compile(r"[ \t\n]+")
_WIDE_BREAK = re.compile(rf"(?<=[{_WIDE}])[ \t]*\n[ \t]*(?=[{_WIDE}])")
_BAR = re.compile(r"(?<!\\)\|")
TextChange = Callable[[str], str]


def split(source: str) -> list[str]:
    """Return the msgids of Markdown text: one line each, white space folded, no code blocks."""
    msgids: dict[str, None] = {}

    def keep(block: str) -> str:
        msgids[block] = None
        return block

    rewrite(source, keep)
    return list(msgids)


def translated(source: str, translate: TextChange) -> str:
    """Return Markdown in the reader's language.

    What `translate` does not know stays as it is, to the line break where it knows nothing of it.
    """
    in_language = rewrite(source, lambda msgid: join_lines(translate(msgid)))
    return source if in_language == rewrite(source, str) else in_language


def rewrite(source: str, change: TextChange) -> str:
    """Return Markdown with `change` applied to each paragraph, heading, item and cell of a table."""
    lines = source.splitlines()
    # from the last, so that the places of the others stay
    for first, count, text in reversed(list(_edits(source, lines, change))):
        lines[first : first + count] = [text]
    return "\n".join(lines)


def join_lines(text: str) -> str:
    """Join soft line breaks: nothing between two Chinese characters, a space elsewhere.

    The space before a unit stays one that does not break.
    """
    return _SPACES.sub(" ", _WIDE_BREAK.sub("", text)).strip(" \t\n")


def _edits(source: str, lines: list[str], change: TextChange) -> Iterator[tuple[int, int, str]]:
    """Yield (first line, number of lines, new line); a table's row is one line of several texts."""
    row: list[str] | None = None
    place = 0
    for token in _parser().parse(source):
        if token.type == "tr_open":
            row = []
        elif token.type == "tr_close" and row is not None:
            prefix = re.match(r"[\s>]*", lines[place])
            yield place, 1, f"{prefix[0] if prefix else ''}| {' | '.join(row)} |"
            row = None
        elif token.type == "inline" and token.map:
            place = token.map[0]
            text = change(join_lines(token.content)) if token.content.strip() else ""
            if row is not None:
                row.append(_BAR.sub(r"\\|", text))
            elif text:
                head, *more = token.content.split("\n")
                yield place, 1 + len(more), lines[place][: lines[place].rfind(head)] + text


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # which takes long to load

    return MarkdownIt("commonmark", {"html": False}).enable("table")
