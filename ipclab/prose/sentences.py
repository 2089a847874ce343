"""What of a text can be told: a sentence of which a value is missing is left out.

Texts are sentences in any of our languages, or phrases (a heading, a caption, an item before a
colon), of which the parts between commas and in brackets are left out.
"""

import re
from collections.abc import Callable, Iterator

Test = Callable[[str], bool]
# Marks of emphasis, quotes, footnotes and references stay with the sentence that they end.
_CLOSERS = r"[*_”’\"』」）)\]]*(?:\[\^[\w-]+\])*(?:\s*\[\]\(#[\w-]+\))*"
_STOP = re.compile(rf"(?:[.!?]{_CLOSERS}(?=\s|$)|[。！？]{_CLOSERS})\s*")
_ENDS = re.compile(rf"[.!?。！？]{_CLOSERS}(?:\s*\{{[^{{}}]*\}})*\s*$")  # values may be sentences
_PAIRS = (("“", "”"), ("「", "」"), ("『", "』"), ("（", "）"), ("(", ")"))
_ADDRESS = re.compile(r"\s*\{#[\w-]+\}$")  # of a table's caption, which stays
_LAST = re.compile(r"[:：.?？。]?$")
_BRACKETS = re.compile(r"\s*(?:\([^()]*\)|（[^（）]*）)")
_COMMA = re.compile(r"(\s*[,;，；]\s*)(?![^{}]*\})")


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, each with the blanks behind it; what is quoted is one."""
    begin = 0
    for stop in _STOP.finditer(text):
        piece = text[begin : stop.end()]
        if _is_balanced(piece):
            yield piece
            begin = stop.end()
    if begin < len(text):
        yield text[begin:]


def told_sentences(text: str, is_missing: Test) -> str:
    """Return the sentences that lack no value; a phrase without its parts that lack one."""
    if not is_missing(text):
        return text
    return whole_sentences(text, is_missing) if ends_sentence(text) else shortened(text, is_missing)


def ends_sentence(text: str) -> bool:
    """Return whether a text ends as a sentence does."""
    return bool(_ENDS.search(text))


def whole_sentences(text: str, is_missing: Test) -> str:
    """Return the sentences of a text that lack no value."""
    return "".join(each for each in sentences(text) if not is_missing(each)).strip()


def shortened(phrase: str, is_missing: Test) -> str:
    """Return a phrase without the brackets and the parts between commas that lack a value.

    Without its first part nothing of it is left.
    """
    address = _ADDRESS.search(phrase)
    behind = address[0] if address else ""
    phrase = phrase.removesuffix(behind)
    last = _LAST.search(phrase)
    mark = last[0] if last else ""
    phrase = _BRACKETS.sub(
        lambda found: "" if is_missing(found[0]) else found[0], phrase.removesuffix(mark)
    )
    parts: list[str] = _COMMA.split(phrase)  # a comma stands between two
    kept: str = parts[0]
    if is_missing(kept):
        return behind
    for place in range(1, len(parts), 2):
        if not is_missing(parts[place + 1]):
            kept += parts[place] + parts[place + 1]
    return kept + mark + behind


def _is_balanced(piece: str) -> bool:
    pairs = all(piece.count(first) == piece.count(last) for first, last in _PAIRS)
    return pairs and piece.count("**") % 2 == 0 and piece.count("`") % 2 == 0
