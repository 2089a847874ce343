"""Prose: Markdown in translatable blocks, placeholders filled.

The Markdown is CommonMark with tables and footnotes; raw HTML is text.
"""

import re
from collections.abc import Callable, Iterator
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from ipclab.prose.questions import (
    EDGE,
    ProseQuestion,
    alternative_texts,
    edged,
    with_answers,
    without_empty_tables,
    without_factor,
)
from ipclab.stats import judge
from ipclab.words.filling import PLACEHOLDER, Variables
from ipclab.words.words import DASH

if TYPE_CHECKING:
    from markdown_it.token import Token

    from ipclab.prose.teller import Teller

# Before an answer, whether the judge decided; neither stays in what is rendered
_DECIDED, _OPEN = "\ue001", "\ue002"
_MARKS = re.compile("[\ue001\ue002]")
WHY = "why"  # of an answer's values: the msgid of a sentence that says why nothing was decided
_CELL = re.compile(r"(?<!\\)\|")  # between two cells of a table's row
_ITEM = re.compile(r"\A\d+\. ")
DECIDED = (judge.ABOVE, judge.BELOW, judge.INSIDE)
# Chinese sentences stand side by side, those that values bring too
_FULL_STOP = re.compile("(?<=[。！？；：，]) +")
_SPACES = re.compile(" {2,}")  # around a sentence that was left out
_WIDE = "\u2e80-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
_SPACES = re.compile(r"[ \t\n]+")
_WIDE_BREAK = re.compile(rf"(?<=[{_WIDE}])[ \t]*\n[ \t]*(?=[{_WIDE}])")
TextChange = Callable[[str], str]


def split(source: str) -> list[str]:
    """Return the msgids of Markdown text: one line each, white space folded, no code blocks.

    They stand in order, but alternatives of one question behind the others.
    """
    msgids: dict[str, None] = {}
    others: list[list[str]] = []

    def first(question: ProseQuestion) -> str:
        alternative, *more = question.alternatives.values()
        undecided = question.alternatives.get(judge.UNDECIDED, "")
        others.append([*more, without_factor(undecided)])
        return edged(alternative)

    def keep(block: str) -> str:
        msgids.update(dict.fromkeys(piece.strip() for piece in block.split(EDGE)))
        return block

    rewrite(with_answers(source, first), keep)
    for alternative in chain.from_iterable(zip_longest(*others, fillvalue="")):
        msgids.update(dict.fromkeys(alternative_texts(alternative)))
    msgids.pop("", None)
    return list(msgids)


def rewrite(source: str, change: TextChange, cell: TextChange | None = None) -> str:
    """Return Markdown with `change` applied to each paragraph, heading, item, cell, footnote.

    `cell` is applied to the cells of tables instead. An item of a list of which nothing is left is
    left out, and so is a row below a table's head of which the first cell is.
    """
    lines = source.splitlines()
    # from the last, so that the places of the others stay
    for first, count, text in reversed(
        list(_edits(block_tokens(source), lines, change, cell or change))
    ):
        lines[first : first + count] = [] if text is None else [text]
    return "\n".join(lines)


def translated(source: str, translate: TextChange) -> str:
    """Return a narrative cell's Markdown, which holds no values, in the reader's language.

    What `translate` does not know stays as it is, to the line break where it knows nothing of it.
    """
    in_language = rewrite(source, lambda msgid: join_lines(translate(msgid)))
    return source if in_language == rewrite(source, str) else in_language


def render(source: str, teller: "Teller") -> str:
    """Return a prose cell's Markdown: questions answered, blocks translated, then filled.

    A sentence of which a value is missing is left out, and a cell of a table that says more than
    the value is a dash.
    """
    return told_prose(asked(source, teller), teller)


def asked(source: str, teller: "Teller") -> str:
    """Return prose with its questions answered, each marked as decided or open."""

    def answer(question: ProseQuestion) -> str | None:
        alternative, more = teller.answer(question)
        if not alternative:
            return alternative
        if question.is_row and not teller.is_measured(alternative_texts(alternative)[0], more):
            return None
        say = _in_cell if question.is_row else _said
        text = edged(alternative, lambda msgid: say(teller, msgid, more))
        decides = alternative in map(question.alternatives.get, DECIDED)
        if not text.strip(EDGE):
            return None
        if WHY in more:
            why = edged(more[WHY], lambda msgid: _said(teller, msgid))
            text = _in_last_cell(text, why) if question.is_row else text + why
        if decides and not question.bound:
            return text  # that a value was measured decides nothing
        return (_DECIDED if decides else _OPEN) + text

    return with_answers(source, answer)


def is_open(answers: str) -> bool:
    """Tell whether a judge was asked, or a value was missing, and nothing was decided."""
    return _OPEN in answers and _DECIDED not in answers


def told_prose(answers: str, teller: "Teller") -> str:
    """Return prose whose questions are answered as `render` does."""

    def pieces(text: str, say: Callable[["Teller", str], str]) -> str:
        parts = text.split(EDGE)  # every other one is an answer
        for place in range(0, len(parts), 2):
            own = parts[place].strip()
            parts[place] = say(teller, own) if own else ""
        return _FULL_STOP.sub("", _SPACES.sub(" ", " ".join(parts)).strip(" "))

    shown = rewrite(
        decided_first(answers),
        lambda text: pieces(text, _said),
        lambda text: pieces(text, _in_cell),
    )
    return without_empty_tables(shown)


def _in_last_cell(row: str, why: str) -> str:
    """Return a table's row with `why` at the end of its last cell that says something."""
    cells = _CELL.split(row)
    place = max(
        place for place, cell in enumerate(cells) if cell.strip(f"{EDGE} ") not in ("", DASH)
    )
    cells[place] = f"{cells[place].rstrip()} {why} "
    return "|".join(cells)


def _said(teller: "Teller", msgid: str, more: Variables | None = None) -> str:
    return teller.tell(join_lines(teller.translate(msgid)), more)


def _in_cell(teller: "Teller", msgid: str, more: Variables | None = None) -> str:
    text = join_lines(teller.translate(msgid))
    alone = PLACEHOLDER.fullmatch(text)
    return teller.fill(text, more) if alone or teller.is_measured(text, more) else DASH


def decided_first(source: str) -> str:
    """Return prose whose numbered lists begin with what is decided, without the marks of that."""
    lines = list[str]()
    items = list[str]()
    for line in [*source.splitlines(), ""]:
        if _ITEM.match(line):
            items.append(line)
        elif items and line.startswith(" "):
            items[-1] += f"\n{line}"
        else:
            items.sort(key=is_open)
            lines += [_ITEM.sub(f"{place}. ", item) for place, item in enumerate(items, 1)]
            lines.append(line)
            items.clear()
    return _MARKS.sub("", "\n".join(lines[:-1]))


def _edits(
    tokens: "list[Token]",
    lines: list[str],
    change: TextChange,
    change_cell: TextChange,
) -> Iterator[tuple[int, int, str | None]]:
    """Yield (first line, number of lines, new line, or None for no line).

    A table's row is one line with several texts.
    """
    row: list[str] | None = None
    place = 0
    containers: list[str] = []  # in which the text stands
    for token in tokens:
        if token.nesting:
            containers = [*containers, token.type] if token.nesting > 0 else containers[:-1]
        if token.type == "tr_open":
            row = []
        elif token.type == "tr_close" and row is not None:
            prefix = re.match(r"[\s>]*", lines[place])
            gone = row[0] == DASH and "tbody_open" in containers
            yield place, 1, None if gone else f"{prefix[0] if prefix else ''}| {' | '.join(row)} |"
            row = None
        elif token.type == "inline" and token.map:
            place = token.map[0]
            is_text = bool(token.content.strip())
            if row is not None:
                text = change_cell(join_lines(token.content)) if is_text else ""
                row.append(re.sub(r"(?<!\\)\|", r"\\|", text))
            elif is_text:
                text = change(join_lines(token.content))
                head, *more = token.content.split("\n")
                before = lines[place][: lines[place].rfind(head)]
                gone = not text and "list_item_open" in containers
                yield place, 1 + len(more), None if gone else before + text


def block_tokens(source: str) -> "list[Token]":
    """Return Markdown's block tokens; a footnote is `footnote_open`, `inline`, `footnote_close`."""
    from ipclab.prose.markdown import parser  # which takes long to load

    return parser().parse(source)


def join_lines(text: str) -> str:
    """Join soft line breaks: nothing between two Chinese characters, a space elsewhere.

    The space before a unit stays one that does not break.
    """
    return _SPACES.sub(" ", _WIDE_BREAK.sub("", text)).strip(" \t\n")
