"""Questions in prose: the judge chooses between the alternatives that stand below each.

    ? write / read : 1
    > Reads of the largest payload take less time than writes.
    < Reads of the largest payload take longer than writes.
    = Reads and writes of the largest payload are alike within {within:x}.
    ~ Whether reads or writes of the largest payload take longer is undecided in this run.
    ! Reads were not measured.

What is asked is arithmetic with variables of the notebook and addresses of measured values; the
bound after the colon is a number ("1", "50 %") or a variable. An alternative goes on in lines that
are indented. `=` (the whole interval is within what counts as the same) and `!` (not measured) may
be left out, and any may be empty. In an alternative `{it}` is what is asked, and `{within}` the
factor that its interval stays within of the bound. A question without a bound asks whether its
values were measured: `>` says that they were. An alternative may be a row of a table, which is left
out where too few launches were made to test it. With `as name` at the end of the question, the
sentence that is chosen is that variable of the notebook from then on.
"""

import builtins
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from ipclab.errors import LabError, nearest
from ipclab.stats import judge
from ipclab.stats.quantity import Quantity, missing, of

MARKS = {
    ">": judge.ABOVE,
    "<": judge.BELOW,
    "=": judge.INSIDE,
    "~": judge.UNDECIDED,
    "!": judge.MISSING,
}
NEEDED = {">", "<", "~"}
EDGE = "\ue000"  # on both sides of a text that is a msgid of its own, and final once it is chosen
_QUESTION = re.compile(
    r"(?P<before>\s*(?:(?:[-*]|\d+\.)\s+)?)\? (?P<asked>.+?)(?:\s:\s(?P<bound>.+?))?(?: as"
    r" (?P<name>\w+))?\s*"
)
_ALTERNATIVE = re.compile(r"(?P<indent>\s*)(?P<mark>[><=~!])(?: (?P<text>.*))?")
ADDRESS = re.compile(r"(?:text\.)?\w+\.[\w.|-]+\[[^\[\]=]+=[^\[\]]*\](?:\.[a-z]\w*(?:\.\d+)?)?")
_PERCENT = re.compile(r"([\d.]+)\s*%")


@dataclass(frozen=True)
class Question:
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

    def value(self, names: Mapping[str, Any], lookup: Callable[[str], Any]) -> Quantity:
        """Return what is asked, from the notebook's variables and what `lookup` finds at an
        address.

        Raises `LabError` for what cannot be computed.
        """
        if self.bound:
            return of(_evaluated(self.asked, names, lookup))
        values = _evaluated(f"({self.asked},)", names, lookup)
        return Quantity(1) if all(values) else missing()

    def limit(self, names: Mapping[str, Any], lookup: Callable[[str], Any]) -> float:
        """Return the bound as a number; raises `LabError` for one that cannot be computed."""
        bound = _PERCENT.sub(r"(\1 / 100)", self.bound) or "0"
        return float(of(_evaluated(bound, names, lookup)).value)

    def side(self, found: Quantity, bound: float, margin: float) -> str:
        """Return what the judge says of `found`: `inside` only where there is an alternative for
        that.

        Inside is an interval within 1 / (1 + `margin`) to 1 + `margin` times the bound.
        """
        alike = (
            bound > 0
            and judge.within(found, bound / (1 + margin), bound * (1 + margin)) == judge.INSIDE
        )
        if alike and judge.INSIDE in self.alternatives:
            return judge.INSIDE
        return judge.side(found, bound)


def within(found: Quantity, bound: float) -> Quantity:
    """Return the factor that the interval stays within of the bound, rounded up to hundredths;
    missing without one.
    """
    if not found or bound <= 0:
        return missing()
    low, high = found.ends
    if low <= 0 or not math.isfinite(high):
        return missing()
    factor = max(high / bound, bound / low)
    return Quantity(math.ceil(100 * factor) / 100, "1", kind="computed")


def parts(source: str) -> Iterator[str | Question]:
    """Yield the lines of prose and, where they stand, its questions; raises `LabError` for one that
    lacks a side.
    """
    lines = source.splitlines()
    place = 0
    while place < len(lines):
        head = _QUESTION.fullmatch(lines[place])
        if head is None:
            yield lines[place]
            place += 1
            continue
        alternatives, place = _alternatives(lines, place + 1)
        question = Question(
            head["asked"],
            head["bound"] or "",
            alternatives,
            head["before"],
            head["name"] or "",
        )
        _check(question)
        yield question


def answered(source: str, answer: Callable[[Question], str]) -> str:
    """Return prose with what `answer` says in place of each question.

    Where it says nothing, a table's row and an item of a list that says nothing else are left out.
    """
    lines = []
    found = list(parts(source))
    for part, after in zip_longest(found, found[1:], fillvalue=""):
        if isinstance(part, str):
            lines.append(part)
            continue
        text = answer(part)
        goes_on = isinstance(after, str) and after.strip()
        if text or not (part.is_row or (part.before.strip() and not goes_on)):
            # so that the text on both sides stays two
            lines.append(part.before + (text or EDGE + EDGE))
    return "\n".join(lines)


def edged(text: str, change: Callable[[str], str] = str) -> str:
    """Return the text of an alternative, or each cell of one that is a table's row, changed and set
    between edges.
    """
    if not text.startswith("|"):
        return f"{EDGE}{change(text)}{EDGE}" if text else ""
    cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
    return f"| {' | '.join(f'{EDGE}{change(cell)}{EDGE}' if cell else '' for cell in cells)} |"


def variants(source: str) -> Iterator[str]:
    """Yield prose with the first alternative of each question, then with the second, until each was
    there once.
    """
    counts = [len(part.alternatives) for part in parts(source) if isinstance(part, Question)]
    for place in range(max(counts, default=1)):

        def chosen(question: Question, place: int = place) -> str:
            texts = list(question.alternatives.values())
            return edged(texts[min(place, len(texts) - 1)])

        yield answered(source, chosen)


def _alternatives(lines: list[str], place: int) -> tuple[dict[str, str], int]:
    """Return the alternatives that begin at a line, and the place of the line after them."""
    alternatives: dict[str, str] = {}
    while place < len(lines) and (found := _ALTERNATIVE.fullmatch(lines[place])):
        words = [found["text"] or ""]
        place += 1
        while place < len(lines) and _goes_on(lines[place], found["indent"]):
            words.append(lines[place])
            place += 1
        alternatives[MARKS[found["mark"]]] = " ".join(" ".join(words).split())
    return alternatives, place


def _goes_on(line: str, indent: str) -> bool:
    deeper = len(line) - len(line.lstrip()) > len(indent)
    return bool(line.strip()) and deeper and not _ALTERNATIVE.fullmatch(line)


def _check(question: Question) -> None:
    marks = {mark for mark, side in MARKS.items() if side in question.alternatives}
    lacking = (NEEDED if question.bound else {">"}) - marks
    if lacking:
        what = f"the question {question.asked!r} in prose"
        raise LabError(
            what,
            f"it has no alternative {' '.join(sorted(lacking))}",
            "add a line for it",
        )


def _evaluated(expression: str, names: Mapping[str, Any], lookup: Callable[[str], Any]) -> Any:
    """Return what an expression gives; each address in it is a name that no notebook has."""
    values = {**vars(builtins), **names}

    def named(address: re.Match[str]) -> str:
        name = f"_at_{address.start()}"
        values[name] = lookup(address[0])
        return name

    what = f"the question {expression!r} in prose"
    try:
        return eval(compile(ADDRESS.sub(named, expression), "prose", "eval"), values)
    except NameError as error:
        near = nearest(str(error.name), [name for name in names if not name.startswith("_")])
        raise LabError(
            what, f"no value is named {error.name!r}", f"the nearest name is {near!r}"
        ) from error
    except (
        SyntaxError,
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        ArithmeticError,
    ) as error:
        raise LabError(
            what, str(error), "ask for arithmetic with values of the notebook"
        ) from error
