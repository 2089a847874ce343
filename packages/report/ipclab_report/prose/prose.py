"""Prose: Markdown in translatable blocks, placeholders filled.

The Markdown is CommonMark with tables and footnotes; raw HTML is text.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from markdown_it.token import Token

from ipclab.errors import LabError
from ipclab_report.prose.asked import nearest_name
from ipclab_report.prose.markdown import parser
from ipclab.words.numbers import Formatter, plain
from ipclab_report.prose.questions import (
    EDGE,
    Lookup,
    Question,
    Variables,
    answered,
    edged,
    texts,
    without_empty_tables,
    without_factor,
)
from ipclab.words.words import DASH
from ipclab.stats import judge
from ipclab.stats.quantity import Quantity

if TYPE_CHECKING:
    from ipclab.lab.data import Teller

# A name of the notebook, or the address of a measured value such as
# payload.write[mapping=kept].p50, and a format.
PLACEHOLDER = re.compile(
    r"\{\{|\}\}|\{([A-Za-z_][\w.\-]*(?:\[[^\]{}]*\](?:\.[\w.]+)?)?)(?::([^{}]*))?\}"
)
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
# Before an answer, whether the judge decided; neither stays in what is rendered
_DECIDED, _OPEN = "\ue001", "\ue002"
_MARKS = re.compile("[\ue001\ue002]")
WHY = "why"  # of an answer's values: the msgid of a sentence that says why nothing was decided
_ITEM = re.compile(r"\A\d+\. ")
DECIDED = (judge.ABOVE, judge.BELOW, judge.INSIDE)
# Chinese sentences stand side by side, those that values bring too
_FULL_STOP = re.compile("(?<=[。！？；：，]) +")
_SPACES = re.compile(" {2,}")  # around a sentence that was left out
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|$~])")
_WIDE = "\u2e80-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
_WIDE_BREAK = re.compile(rf"(?<=[{_WIDE}])[ \t]*\n[ \t]*(?=[{_WIDE}])")
TextChange = Callable[[str], str]


def split(source: str) -> list[str]:
    """Return the msgids of Markdown text: one line each, white space folded, no code blocks.

    They stand in order, but alternatives of one question behind the others.
    """
    msgids: dict[str, None] = {}
    others: list[list[str]] = []

    def first(question: Question) -> str:
        alternative, *more = question.alternatives.values()
        undecided = question.alternatives.get(judge.UNDECIDED, "")
        others.append([*more, without_factor(undecided)])
        return edged(alternative)

    def keep(block: str) -> str:
        msgids.update(dict.fromkeys(piece.strip() for piece in block.split(EDGE)))
        return block

    rewrite(answered(source, first), keep)
    for alternative in chain.from_iterable(zip_longest(*others, fillvalue="")):
        msgids.update(dict.fromkeys(texts(alternative)))
    msgids.pop("", None)
    return list(msgids)


def rewrite(source: str, change: TextChange, cell: TextChange | None = None) -> str:
    """Return Markdown with `change` applied to each paragraph, heading, item, cell, footnote.

    `cell` is applied to the cells of tables instead. An item of a list of which nothing is left is
    left out, and so is a row below a table's head of which the first cell is.
    """
    lines = source.splitlines()
    # from the last, so that the places of the others stay
    for first, count, text in reversed(list(_edits(parse(source), lines, change, cell or change))):
        lines[first : first + count] = [] if text is None else [text]
    return "\n".join(lines)


def translated(source: str, translate: TextChange) -> str:
    """Return a narrative cell's Markdown, which holds no values, in the reader's language.

    What `translate` does not know stays as it is, to the line break where it knows nothing of it.
    """
    in_language = rewrite(source, lambda msgid: join_lines(translate(msgid)))
    return source if in_language == rewrite(source, str) else in_language


def placeholders(text: str) -> set[tuple[str, str]]:
    """Return the (name, spec) pairs that `text` asks for."""
    return {(m[1], m[2] or "") for m in PLACEHOLDER.finditer(text) if m[1]}


def fill(
    text: str,
    lookup: Lookup,
    formatter: Formatter,
    markdown: bool = True,
) -> str:
    """Return text with `{name}`, `{name:spec}` filled by `lookup`; `{{`, `}}` are braces.

    In Markdown values are escaped, so that none becomes markup; a cell or an axis is no `markdown`.
    Raises what `lookup` raises for an unknown name.
    """
    codes = [code.span() for code in _CODE.finditer(text)]

    def written(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0][0]
        value = lookup(match[1])
        if not isinstance(value, str):
            value = formatter.format(value, match[2] or "")
        if not markdown:
            return value
        is_code = any(first <= match.start() < last for first, last in codes)
        return value.replace("`", "'") if is_code else _SPECIAL.sub(r"\\\1", value)

    return PLACEHOLDER.sub(written, text)


def named(name: str, namespace: Variables) -> Quantity | str:
    """Return a notebook's variable, or a part of one (`payload.gain`), as quantity or text.

    Raises `LabError` with the nearest name when there is none.
    """
    root, *rest = name.split(".")
    what = f"no value is named {name!r}"
    if root not in namespace:
        raise LabError(what, "the prose asks for it", nearest_name(name, namespace))
    value = namespace[root]
    for part in rest:
        try:
            value = value[part] if isinstance(value, Mapping) else getattr(value, part)
        except (KeyError, AttributeError) as error:
            why = f"{root} has no {part!r}"
            raise LabError(what, why, "see what the notebook keeps") from error
    return plain(value)


def render(source: str, teller: "Teller") -> str:
    """Return a prose cell's Markdown: questions answered, blocks translated, then filled.

    A sentence of which a value is missing is left out, and a cell of a table that says more than
    the value is a dash.
    """

    def said(msgid: str, more: Variables | None = None) -> str:
        return teller.tell(join_lines(teller.translate(msgid)), more)

    def in_cell(msgid: str, more: Variables | None = None) -> str:
        text = join_lines(teller.translate(msgid))
        alone = PLACEHOLDER.fullmatch(text)
        return teller.fill(text, more) if alone or teller.is_measured(text, more) else DASH

    def answer(question: Question) -> str | None:
        alternative, more = teller.answer(question)
        if not alternative:
            return alternative
        if question.is_row and not teller.is_measured(texts(alternative)[0], more):
            return None
        say = in_cell if question.is_row else said
        text = edged(alternative, lambda msgid: say(msgid, more))
        decides = alternative in map(question.alternatives.get, DECIDED)
        if not text.strip(EDGE):
            return None
        if WHY in more:
            text += edged(more[WHY], said)
        return (_DECIDED if decides else _OPEN) + text

    def pieces(text: str, say: TextChange) -> str:
        parts = text.split(EDGE)  # every other one is an answer
        for place in range(0, len(parts), 2):
            own = parts[place].strip()
            parts[place] = say(own) if own else ""
        return _FULL_STOP.sub("", _SPACES.sub(" ", " ".join(parts)).strip(" "))

    answers = decided_first(answered(source, answer))
    shown = rewrite(answers, lambda text: pieces(text, said), lambda text: pieces(text, in_cell))
    return without_empty_tables(shown)


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
            items.sort(key=lambda item: _OPEN in item and _DECIDED not in item)
            lines += [_ITEM.sub(f"{place}. ", item) for place, item in enumerate(items, 1)]
            lines.append(line)
            items.clear()
    return _MARKS.sub("", "\n".join(lines[:-1]))


def _edits(
    tokens: list[Token],
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


def parse(source: str) -> list[Token]:
    """Return Markdown's block tokens; a footnote is `footnote_open`, `inline`, `footnote_close`."""
    return parser().parse(source)


def join_lines(text: str) -> str:
    """Join soft line breaks: nothing between two Chinese characters, a space elsewhere."""
    return " ".join(_WIDE_BREAK.sub("", text).split())


def to_html(tokens: list[Token]) -> str:
    """Return the HTML of tokens; a footnote reference needs its `number` in `meta`."""
    return str(parser().renderer.render(tokens, parser().options, {}))
