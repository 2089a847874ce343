"""How prose is read as Markdown for its translation: with tables and footnotes."""

import re
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

_DEFINITION = re.compile(r"\[\^([\w-]+)\]:\s+(?=\S)")
_REFERENCE = re.compile(r"\[\^([\w-]+)\]")


@cache
def parser() -> MarkdownIt:
    """Return the parser of all prose."""
    made = MarkdownIt("commonmark", {"html": False}).enable("table")
    made.block.ruler.before(
        "reference", "footnote", _definition, {"alt": ["paragraph", "reference"]}
    )
    made.inline.ruler.before("link", "footnote_reference", _reference)
    return made


def _definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Read `[^name]: text`, which goes on until an empty line or the next definition."""
    definition = _definition_at(state, start)
    if definition is None or silent:
        return definition is not None
    stop = start + 1
    while stop < end and not state.isEmpty(stop) and _definition_at(state, stop) is None:
        stop += 1
    token = state.push("footnote_open", "", 1)
    token.meta = {"label": definition[1]}
    token.map = [start, stop]
    inline = state.push("inline", "", 0)
    inline.content = state.getLines(
        start,
        stop,
        state.blkIndent,
        False,
    ).strip()[definition.end() :]
    inline.map = [start, stop]
    inline.children = []
    state.push("footnote_close", "", -1)
    state.line = stop
    return True


def _definition_at(state: StateBlock, line: int) -> re.Match[str] | None:
    text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
    return None if state.is_code_block(line) else _DEFINITION.match(text)


def _reference(state: StateInline, silent: bool) -> bool:
    """Read `[^name]` inside a line."""
    reference = _REFERENCE.match(state.src, state.pos, state.posMax)
    if reference is None:
        return False
    if not silent:
        state.push("footnote_reference", "", 0).meta = {"label": reference[1]}
    state.pos = reference.end()
    return True
