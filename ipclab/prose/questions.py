"""Questions in prose: the judge chooses between the alternatives that stand below each.

    ? write / read : 1
    > Reads of the largest payload take less time than writes.
    < Reads of the largest payload take longer than writes.
    = Reads and writes of the largest payload are alike within {within:x}.
    ~ Whether reads or writes of the largest payload take longer is undecided in this run.
    ! Reads were not measured.

What is asked is arithmetic with variables of the notebook and addresses of measured values; the
bound after the colon is a number ("1", "50 %") or a variable. An alternative goes on in lines that
are indented; several marks (`<~`) have one together. `=` (the whole interval is within what counts
as the same) and `!` (not measured) may be left out, and any may be empty. In an alternative `{it}`
is what is asked, and `{within}` the factor that its interval stays within of the bound; `, within
{within:x}` is left out of what is undecided where that factor is above two. Of a numbered list,
items that decide something stand before those that do not, and an item that begins with a question
is left out where that has no words for what is missing. A question without a bound asks whether
its values were measured: `>` says that they were. An alternative may be a row of a table, which is
left out where too few launches were made to test it. With `as name` at the end of the question, the
sentence that is chosen is that variable of the notebook from then on.
"""

import math
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from ipclab.claims.amounts import RuleError
from ipclab.errors import LabError
from ipclab.prose.asked import computed
from ipclab.stats import judge
from ipclab.stats.quantity import Quantity, missing, of
from ipclab.words.filling import Lookup, Variables
from ipclab.words.numbers import shown_decimals

MARKS = {
    ">": judge.ABOVE,
    "<": judge.BELOW,
    "=": judge.INSIDE,
    "~": judge.UNDECIDED,
    "!": judge.MISSING,
}
LEAST_FACTOR = 1.01  # that is told of an interval with a width
MOST_WITHIN = 2.0  # a wider factor tells nothing: it is not told, and nothing is called alike
_FACTOR = ", within {within:x}"
NEEDED = {">", "<", "~"}
EDGE = "\ue000"  # on both sides of a text that is a msgid of its own, and final once it is chosen
_QUESTION = re.compile(
    r"(?P<before>\s*(?:(?:[-*]|\d+\.)\s+)?)\? (?P<asked>.+?)(?:\s:\s(?P<bound>.+?))?(?: as"
    r" (?P<name>\w+))?\s*"
)
_ALTERNATIVE = re.compile(r"(?P<indent>\s*)(?P<marks>[><=~!]+)(?: (?P<text>.*))?")
WRONG = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
_RULE = re.compile(r"\|(?:\s*:?-+:?\s*\|)+")  # below the head of a table


@dataclass(frozen=True)
class ProseQuestion:
    """What is asked, its bound ("" for none), and the alternatives by what the judge says.

    `before` is what stands before the sentence on its line, such as a list's mark; `name` what the
    sentence is called.
    """

    asked: str
    bound: str
    alternatives: Mapping[str, str]
    before: str = ""
    name: str = ""

    @property
    def is_row(self) -> bool:
        """Whether its alternatives are rows of a table."""
        return any(text.startswith("|") for text in self.alternatives.values())

    def value(self, names: Variables, lookup: Lookup) -> Quantity:
        """Return what is asked, from the notebook's variables and addresses by `lookup`.

        Raises `LabError` for what cannot be computed.
        """
        if self.bound:
            return of(_evaluated(self.asked, names, lookup))
        values = _evaluated(f"({self.asked},)", names, lookup)
        return Quantity(1) if all(values) else missing()

    def limit(self, names: Variables, lookup: Lookup) -> float:
        """Return the bound as a number; raises `LabError` for one that cannot be computed."""
        return float(of(_evaluated(self.bound or "0", names, lookup)).value)

    def side(self, value: Quantity, bound: float, margin: float) -> str:
        """Return what the judge says of `value`: `inside` only if it has an alternative.

        Inside is an interval within 1 / (1 + `margin`) to 1 + `margin` times the bound.
        """
        if judge.INSIDE in self.alternatives and bound > 0:
            low = bound / (1 + margin)
            high = bound * (1 + margin)
            if judge.within(value, low, high) == judge.INSIDE:
                return judge.INSIDE
        return judge.side(value, bound)


def factor_within(value: Quantity, bound: float) -> Quantity:
    """Return the factor of the bound that the interval stays within; missing without ends.

    It is in hundredths, of the interval's ends as they are printed.
    """
    if not value or bound <= 0:
        return missing()
    places = shown_decimals(float(value.value))
    low, high = (round(end, places) for end in value.ends)
    if low <= 0 or not math.isfinite(high):
        return missing()
    factor = max(high / bound, bound / low)
    hundredths = round(factor, 2)
    if factor > 1:
        hundredths = max(hundredths, LEAST_FACTOR)
    return Quantity(hundredths, "1", kind="computed")


def by_level(ratio: Quantity, bound: float) -> bool:
    """Tell whether a ratio is of two medians whose own intervals lie apart, as `bound` puts it.

    Where it is undecided none the less, that is the level of the contest.
    """
    pair = ratio.product.pair
    if pair is None:
        return False
    over, under = pair
    one_low, one_high = sorted(ratio.product.number * end for end in over.ends[1:])
    low, high = sorted(bound * end for end in under.ends[1:])
    return one_high < low or high < one_low


def parts(source: str) -> Iterator[str | ProseQuestion]:
    """Yield prose's lines and, in their places, questions; `LabError` if one lacks a side."""
    lines = deque(source.splitlines())
    while lines:
        line = lines.popleft()
        head = _QUESTION.fullmatch(line)
        if head is None:
            yield line
            continue
        before, asked, bound, name = head.groups("")
        question = ProseQuestion(asked, bound, _alternatives(lines), before, name)
        _check(question)
        yield question


def with_answers(source: str, answer: Callable[[ProseQuestion], str | None]) -> str:
    """Return prose with what `answer` says in place of each question.

    Where it says nothing, a table's row and an item of a list that says nothing else are left out;
    where it cannot (None), an item that begins with the question is, whatever else it says.
    """
    lines = []
    pieces = deque(parts(source))
    while pieces:
        part = pieces.popleft()
        if isinstance(part, str):
            lines.append(part)
            continue
        text = answer(part)
        is_item = bool(part.before.strip())
        if is_item and text is None:
            while pieces and _is_more(pieces[0]):
                pieces.popleft()
        goes_on = bool(pieces) and isinstance(pieces[0], str) and pieces[0].strip()
        if text or not (part.is_row or (is_item and (text is None or not goes_on))):
            # so that the text on both sides stays two
            lines.append(part.before + (text or EDGE + EDGE))
    return "\n".join(lines)


def _is_more(part: "str | ProseQuestion") -> bool:
    """Return whether a line or a question goes on with an item of a list."""
    if isinstance(part, ProseQuestion):
        return bool(part.before) and not part.before.strip()
    return bool(part.strip()) and part.startswith(" ")


def without_empty_tables(source: str) -> str:
    """Return prose without the tables that have no row, and without their captions."""
    lines = source.splitlines()
    kept = list[str]()
    empty = False  # the lines that follow are those of a table that was left out
    for line, below in zip_longest(lines, lines[1:], fillvalue=""):
        if _RULE.fullmatch(line.strip()) and not below.lstrip().startswith("|"):
            kept.pop()  # its head
            empty = True
        elif empty and (not line.strip() or line.startswith(": ")):
            empty = not line.startswith(": ")
        else:
            empty = False
            kept.append(line)
    return "\n".join(kept)


def alternative_texts(alternative: str) -> list[str]:
    """Return the text of an alternative, or those of its cells where it is a table's row."""
    if not alternative.startswith("|"):
        return [alternative]
    return [cell.strip() for cell in alternative.strip().strip("|").split("|")]


def edged(alternative: str, change: Callable[[str], str] = str) -> str:
    """Return an alternative with its text, or those of its cells, changed and set between edges."""
    marked = []
    for text in alternative_texts(alternative):
        marked.append(f"{EDGE}{change(text)}{EDGE}" if text else "")
    return f"| {' | '.join(marked)} |" if alternative.startswith("|") else marked[0]


def without_factor(alternative: str) -> str:
    """Return an alternative without the factor that an interval stays within."""
    return alternative.replace(_FACTOR, "")


def _alternatives(lines: deque[str]) -> dict[str, str]:
    """Take the alternatives that stand next from the lines."""
    alternatives: dict[str, str] = {}
    while lines and (head := _ALTERNATIVE.fullmatch(lines[0])):
        lines.popleft()
        words = [head["text"] or ""]
        while lines and _goes_on(lines[0], head["indent"]):
            words.append(lines.popleft())
        text = " ".join(" ".join(words).split())
        alternatives |= {MARKS[mark]: text for mark in head["marks"]}
    return alternatives


def _goes_on(line: str, indent: str) -> bool:
    deeper = len(line) - len(line.lstrip()) > len(indent)
    return bool(line.strip()) and deeper and not _ALTERNATIVE.fullmatch(line)


def _check(question: ProseQuestion) -> None:
    marks = {mark for mark, side in MARKS.items() if side in question.alternatives}
    lacking = (NEEDED if question.bound else {">"}) - marks
    if lacking:
        what = f"the question {question.asked!r} in prose"
        why = f"it has no alternative {' '.join(sorted(lacking))}"
        raise LabError(what, why, "add a line for it")


def _evaluated(expression: str, names: Variables, lookup: Lookup) -> Any:
    """Return what an expression gives, of the notebook's variables and of addresses."""
    what = f"the question {expression!r} in prose"
    try:
        return computed(expression, names, lookup)
    except RuleError as error:
        raise LabError(what, error.why, error.fix) from error
    except WRONG as error:
        fix = "ask for arithmetic with values of the notebook"
        raise LabError(what, str(error), fix) from error
