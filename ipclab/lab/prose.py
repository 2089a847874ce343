"""Prose: Markdown split into translatable blocks, its placeholders filled with values; the cell
magic `%%prose`.

The Markdown is CommonMark with tables and footnotes; raw HTML is text.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from markdown_it.token import Token

from ipclab.errors import LabError, UsageError, nearest
from ipclab.lab.markdown import parser
from ipclab.lab.numbers import Formatter, plain
from ipclab.lab.questions import EDGE, Question, answered, edged, variants
from ipclab.stats.quantity import Quantity

# A name of the notebook, or the address of a measured value such as
# payload.write[mapping=kept].p50, and a format.
PLACEHOLDER = re.compile(
    r"\{\{|\}\}|\{([A-Za-z_][\w.\-]*(?:\[[^\]{}]*\](?:\.[\w.]+)?)?)(?::([^{}]*))?\}"
)
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
# Chinese sentences stand side by side, those that values bring too
_FULL_STOP = re.compile("(?<=[。！？；：，]) +")
_SPACES = re.compile(" {2,}")  # around a sentence that was left out
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|$~])")
_WIDE = "\u2e80-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
_WIDE_BREAK = re.compile(rf"(?<=[{_WIDE}])[ \t]*\n[ \t]*(?=[{_WIDE}])")
Lookup = Callable[[str], Quantity | str]
TextChange = Callable[[str], str]


class Teller(Protocol):
    """Who says prose to a reader: translates, fills in values, and answers questions."""

    def translate(self, msgid: str) -> str:
        """Return `msgid` in the reader's language."""

    def fill(self, text: str, more: Mapping[str, Any] | None = None) -> str:
        """Return Markdown with its placeholders filled, from `more` first."""

    def is_measured(self, text: str) -> bool:
        """Return whether `text` names no value, or one that is there."""

    def answer(self, question: Question) -> tuple[str, Mapping[str, Any]]:
        """Return the alternative (a msgid) that the judge chooses, and what may be said of what was
        asked.
        """


def split(source: str) -> list[str]:
    """Return the msgids of Markdown text: one line each, white space folded, no code blocks.

    They stand in order, but alternatives of one question behind the others.
    """
    msgids: dict[str, None] = {}

    def keep(block: str) -> str:
        for piece in block.split(EDGE):
            if piece.strip():
                msgids[piece.strip()] = None
        return block

    for variant in variants(source):
        rewrite(variant, keep)
    return list(msgids)


def rewrite(source: str, change: TextChange) -> str:
    """Return Markdown text with `change` applied to each paragraph, heading, list item, cell and
    footnote.
    """
    lines: list[str | None] = list(source.splitlines())
    for first, count, text in _edits(parse(source), source.splitlines(), change):
        lines[first : first + count] = [text] + [None] * (count - 1)
    return "\n".join(line for line in lines if line is not None)


def placeholders(text: str) -> set[tuple[str, str]]:
    """Return the (name, spec) pairs that `text` asks for."""
    return {(m[1], m[2] or "") for m in PLACEHOLDER.finditer(text) if m[1]}


def fill(text: str, lookup: Lookup, formatter: Formatter) -> str:
    """Return Markdown text with `{name}` and `{name:spec}` replaced by what `lookup` finds; `{{`
    and `}}` are braces.

    Values are escaped, so that none becomes markup. Raises what `lookup` raises for an unknown
    name.
    """
    codes = [code.span() for code in _CODE.finditer(text)]

    def escaped(value: str, place: int) -> str:
        inside = any(first <= place < last for first, last in codes)
        return value.replace("`", "'") if inside else _SPECIAL.sub(r"\\\1", value)

    return _fill(text, lookup, formatter, escaped)


def fill_plain(text: str, lookup: Lookup, formatter: Formatter) -> str:
    """Return text that is not Markdown (a cell, an axis) with its placeholders replaced; nothing is
    escaped.
    """
    return _fill(text, lookup, formatter, lambda value, _: value)


def named(name: str, namespace: Mapping[str, Any]) -> Quantity | str:
    """Return a variable of the notebook, or an attribute or entry of one (`payload.gain`), as a
    quantity or a text.

    Raises `LabError` with the nearest name when there is none.
    """
    root, *rest = name.split(".")
    what = f"no value is named {name!r}"
    if root not in namespace:
        near = nearest(name, [each for each in namespace if not each.startswith("_")])
        raise LabError(what, "the prose asks for it", f"the nearest name is {near!r}")
    found = namespace[root]
    for part in rest:
        try:
            found = found[part] if isinstance(found, Mapping) else getattr(found, part)
        except (KeyError, AttributeError) as error:
            raise LabError(
                what, f"{root} has no {part!r}", "see what the notebook keeps"
            ) from error
    return plain(found)


def render(source: str, teller: Teller) -> str:
    """Return the Markdown of one prose cell: questions answered, each block translated, then
    filled.

    Beside an answer, a text whose values are all missing is left out: the answer says that nothing
    was measured.
    """

    def said(msgid: str, more: Mapping[str, Any] | None = None) -> str:
        return teller.fill(join_lines(teller.translate(msgid)), more)

    def answer(question: Question) -> str:
        alternative, more = teller.answer(question)
        return edged(alternative, lambda msgid: said(msgid, more))

    def block(text: str) -> str:
        pieces = text.split(EDGE)  # every other one is an answer
        answers = any(pieces[1::2])
        for place in range(0, len(pieces), 2):
            own = pieces[place].strip()
            unmeasured = answers and not teller.is_measured(own)
            pieces[place] = "" if unmeasured or not own else said(own)
        return _FULL_STOP.sub("", _SPACES.sub(" ", " ".join(pieces)).strip(" "))

    return rewrite(answered(source, answer), block)


def namespace() -> Mapping[str, Any]:
    """Return the variables of the notebook that calls; none outside one."""
    return getattr(_shell(), "user_ns", {})


def register(teller: Teller) -> None:
    """Define `%%prose` in the notebook that calls, if one does: cells of it are what `render`
    returns.
    """
    shell = _shell()
    if shell is None:
        return

    def show(line: str, cell: str) -> None:
        from IPython.display import Markdown, display

        if line.strip():
            why = f"it got {line.strip()!r}"
            raise UsageError("%%prose takes nothing on its line", why, "put it below as Markdown")
        display(Markdown(render(cell, teller)))  # type: ignore[no-untyped-call]

    shell.register_magic_function(show, "cell", "prose")
    shell.set_custom_exc((LabError,), _one_line)


def show(text: str) -> None:
    """Show a sentence of Markdown in bold, in the notebook that calls, else print it."""
    if _shell() is None:
        print(text)
        return
    from IPython.display import Markdown, display

    display(Markdown(f"**{text}**"))  # type: ignore[no-untyped-call]


def _shell() -> Any:
    from IPython.core.getipython import get_ipython

    return get_ipython()


def _one_line(shell: Any, kind: type[LabError], error: LabError, *_: Any, **__: Any) -> list[str]:
    """Show a LabError as its one line instead of a traceback; IPython leaves the showing to this
    handler.
    """
    line = [f"{kind.__name__}: {error}"]
    shell._showtraceback(kind, error, line)
    return line


def _fill(
    text: str, lookup: Lookup, formatter: Formatter, escape: Callable[[str, int], str]
) -> str:
    """Replace each placeholder by its value, `escape`d for its place in the text."""

    def value(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0][0]
        found = lookup(match[1])
        return escape(
            found if isinstance(found, str) else formatter.format(found, match[2] or ""),
            match.start(),
        )

    return PLACEHOLDER.sub(value, text)


def _edits(
    tokens: list[Token], lines: list[str], change: TextChange
) -> Iterator[tuple[int, int, str]]:
    """Yield (first line, number of lines, new line); a table row is one line with several texts."""
    row: list[str] | None = None
    place = 0
    for token in tokens:
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
                row.append(re.sub(r"(?<!\\)\|", r"\\|", text))
            elif token.content.strip():
                head, *more = token.content.split("\n")
                yield (
                    place,
                    1 + len(more),
                    lines[place][: lines[place].rfind(head)] + text,
                )


def parse(source: str) -> list[Token]:
    """Return the block tokens of Markdown text; a footnote is `footnote_open`, `inline`,
    `footnote_close`.
    """
    return parser().parse(source)


def join_lines(text: str) -> str:
    """Join soft line breaks: nothing between two Chinese characters, a space elsewhere."""
    return " ".join(_WIDE_BREAK.sub("", text).split())


def to_html(tokens: list[Token]) -> str:
    """Return the HTML of tokens; a footnote reference needs its `number` in `meta`."""
    return str(parser().renderer.render(tokens, parser().options, {}))
