"""A person's own claims and requirements in TOML: read, or refused by line."""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd

from ipclab.bounds.points import cut_points
from ipclab.claims.amounts import RuleError, amount, named
from ipclab.claims.comparison import Rule
from ipclab.claims.computed import numbers_at
from ipclab.claims.file import Control, File, OwnClaim
from ipclab.claims.requirement import Requirement
from ipclab.claims.verdicts import on_run
from ipclab.errors import LabError, UsageError, hint
from ipclab.frames.address import Address
from ipclab.lab.factors import check_address
from ipclab.store.files import file_text
from ipclab.store.run import RunFolder

_HEADER = re.compile(r"\s*\[\[\s*(claim|requirement)\s*\]\]")
_PLACE = re.compile(r" - at `\$\.?(\w*).*")
_FIELD = re.compile(r"(unknown|required) field `(.*?)`")
# What the fonts of a report do not hold, beside control and private characters.
_PICTURES = re.compile(
    "[\u2600-\u27bf\u2b00-\u2bff\ufe00-\ufe0f\U00010000-\U0001ffff\U000e0000-\U0010ffff]"
)
WHAT = {"rule": "the rule: ", "fair": "the fair method: "}
# of a claim, and of a requirement: without placeholders
PLAIN = {"claim": ("id", "source", "adds", "untestable"), "requirement": ("id", "source")}
FORMS = {"document": Control, "claim": OwnClaim, "requirement": Requirement}
STATISTICS = "take max, p99.9, coverage or median"
TablePlace = tuple[str, int]  # a kind of table, and which of these


class Lines:
    """The lines of a file, for what they say and for the places of errors."""

    def __init__(self, text: str, name: str) -> None:
        self.lines = text.splitlines()
        self.name = name
        headers = map(_HEADER.match, self.lines)
        self.begins = [(line, header[1]) for line, header in enumerate(headers) if header]

    @classmethod
    def read(cls, file: Path) -> "Lines":
        """Return the lines of a file; raises `UsageError` for one that is absent."""
        try:
            return cls(file_text(file), file.name)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            fix = "name a file of text; see docs/claims.md"
            raise UsageError(f"cannot read the claims in {file}", why, fix) from error

    def parsed(self) -> File:
        """Return what they state; raises `UsageError` with the line."""
        content = self._content()
        for key in content or ["claim"]:
            tables = content.get(key)
            if key not in FORMS or (key in PLAIN and not (tables and isinstance(tables, list))):
                why = "a file of claims holds [[claim]] and [[requirement]] tables"
                raise UsageError(self.place(None, key), why, "see docs/claims.md")
        claims, requirements = (
            [self._made(each, (kind, number)) for number, each in enumerate(content.get(kind, ()))]
            for kind in PLAIN
        )
        document = self._made(content["document"]) if "document" in content else None
        for printed in [document, *document.history] if document else ():
            fields = [name for name in printed.__struct_fields__ if name != "history"]
            self._check_braces(printed, fields, None)
        file = File(claims, requirements, document)
        ids = set[str]()
        for place, stated in stated_in(file):
            self._check_braces(stated, PLAIN[place[0]], place)
            if not stated.language:
                why = f"a {place[0]} has no 'language'"
                raise UsageError(self.place(place), why, "add language = ...")
            if stated.id in ids:
                why = f"two {place[0]}s have the id {stated.id!r}"
                raise UsageError(self.place(place, "id"), why)
            ids.add(stated.id)
        return file

    def _content(self) -> dict[str, Any]:
        """Return the tables of the file."""
        for number, line in enumerate(self.lines):
            others = [c for c in line if unicodedata.category(c)[0] == "C" and c != "\t"]
            for strange in others + _PICTURES.findall(line):
                name = unicodedata.name(strange, "a control character").lower()
                why = f"U+{ord(strange):04X}, {name}, cannot be printed"
                raise UsageError(f"{self.name}, line {number + 1}", why, "write it in words")
        place = self.place(None)
        try:
            return tomllib.loads("\n".join(self.lines))
        except tomllib.TOMLDecodeError as error:
            told = re.search(r"at line (\d+)", str(error))
            place = f"{self.name}, line {told[1] if told else len(self.lines)}"
            why = re.sub(r" \(at .*\)$", "", str(error))
            raise UsageError(place, why, "fix the TOML") from error
        except ValueError as error:  # Python's own, of a number of thousands of digits
            raise UsageError(place, str(error), "write it as 1e30") from error
        except RecursionError as error:
            raise _too_deep(place) from error

    def _made(self, table: Any, place: TablePlace | None = None) -> Any:
        """Return what a table states, the document's without a place."""
        kind = place[0] if place else "document"
        try:
            return msgspec.convert(table, FORMS[kind], dec_hook=_of_type)
        except RecursionError as error:
            raise _too_deep(self.place(place)) from error
        except msgspec.ValidationError as error:
            where, field = _PLACE.search(str(error)), _FIELD.search(str(error))
            key = where[1] if where else ""
            if isinstance(cause := error.__cause__, RuleError):
                what, why, fix = cause.name, f"{WHAT.get(key, '')}{cause.why}", cause.fix
            elif field:
                what, why = field[2], f"a {kind} has no {field[2]!r}"
                fix = f"add {what} = ..."
                if field[1] == "unknown":
                    fix = hint(what, FORMS[kind].__struct_fields__)
            else:
                what, why = key, f"{key or kind}: {str(error).partition(' - at')[0].lower()}"
                why = why.replace("`", "")
                fix = STATISTICS if key == "statistic" else ""
            raise UsageError(self.place(place, what, key), why, fix) from error

    def _check_braces(self, printed: Any, names: Iterable[str], place: TablePlace | None) -> None:
        """Raise `UsageError` for braces, which name values in prose, in fields printed as is."""
        for name in names:
            if {"{", "}"} & {*getattr(printed, name)}:
                raise UsageError(self.place(place, name), f"{name} holds a brace", "leave it out")

    def check(self, file: File, run: RunFolder) -> None:
        """Raise `UsageError` for a rule on what the run cannot have, or on unlike things."""
        for place, stated in stated_in(file):
            self._check_rule(stated.rule, self.place(place, "rule"), run)
            if isinstance(stated, OwnClaim) and stated.fair_rule:
                self._check_rule(stated.fair_rule, self.place(place, "fair"), run)

    def _check_rule(self, rule: Rule, line: str, run: RunFolder) -> None:
        for address in rule.addresses:
            try:
                _check_address(address, cut_points(run, address.study), run)
            except UsageError as error:
                raise UsageError(line, f"{address}: {error.what}", error.fix) from error
        try:
            on_run(rule.bounds, rule.compared, numbers_at(run, rule.addresses))
        except RuleError as error:
            raise UsageError(line, f"the rule: {error.why}", error.fix) from error
        except LabError as error:
            raise UsageError(line, f"the rule: {error}") from error

    def place(self, table: TablePlace | None, *keys: str) -> str:
        """Return the file and the line of the first of `keys` in a table, else the table's.

        Without a table (its kind, and which of these) the keys are the file's.
        """
        first = 0
        last = len(self.lines)
        kind, number = table or ("", 0)
        ours = [place for place, (_, begun) in enumerate(self.begins) if begun == kind]
        if number < len(ours):  # else an inline table
            ends = [line for line, _ in self.begins] + [last]
            first, last = ends[ours[number]], ends[ours[number] + 1]
        for key in filter(None, keys):
            name = rf"""["']?{re.escape(key)}["']?"""
            begins = re.compile(rf"\s*\[?\s*(?:\w+\s*\.\s*)?{name}\s*[=.\]]")
            for line in range(first, last):
                if begins.match(self.lines[line]):
                    return f"{self.name}, line {line + 1}"
        return f"{self.name}, line {first + 1}"


def stated_in(file: File) -> Iterator[tuple[TablePlace, OwnClaim | Requirement]]:
    """Yield a file's claims, then its requirements, each with its place."""
    for number, claim in enumerate(file.claims):
        yield ("claim", number), claim
    for number, requirement in enumerate(file.requirements):
        yield ("requirement", number), requirement


def _too_deep(place: str) -> UsageError:
    return UsageError(place, "it nests too deeply", "write [[claim]] tables")


def _of_type(kind: type, written: Any) -> Any:
    """Return a rule or amounts out of what stands for it; raises `RuleError`."""
    if kind is Rule:
        if not isinstance(written, str):
            raise TypeError(f"expected str, got {type(written).__name__}")
        return Rule.read(written)
    amounts = kind()
    for name, value in dict(written).items():
        with named(name):
            amounts[name] = amount(str(value))
    return amounts


def _check_address(address: Address, frame: pd.DataFrame, run: RunFolder) -> None:
    """Raise `UsageError`, with the nearest name, for an address that the run cannot have."""
    if frame.empty:
        return
    check_address(run, address, frame)
    columns = set(map(str, frame.columns))
    rows = frame
    for name, levels in address.named.items():
        if name in columns:
            rows = rows[rows[name].astype(str).isin(levels)]
    wanted = [(name, columns) for name, _ in address.levels]
    # a run without these levels does not tell which ops and metrics they have
    if len(rows):
        wanted += [(op, set(frame["op"])) for op in address.ops]
        if address.metric:
            wanted.append((address.metric, {*frame["metric"], *columns}))
    for name, possible in wanted:
        if name not in possible:
            raise UsageError(f"there is no {name!r}", "", hint(name, sorted(possible)))
