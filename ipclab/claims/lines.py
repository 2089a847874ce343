"""A person's own claims and requirements in TOML: read, or refused by line."""

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd

from ipclab.claims.amounts import RuleError, amount
from ipclab.claims.comparison import Rule
from ipclab.claims.file import Control, File, OwnClaim
from ipclab.claims.numbers import Numbers
from ipclab.claims.requirement import Requirement
from ipclab.claims.verdicts import on_run
from ipclab.errors import LabError, UsageError, hint
from ipclab.frames.address import ENDS, EVERY, KNOWN, Address
from ipclab.lab.factors import check_levels
from ipclab.store.files import file_text
from ipclab.store.run import RunFolder
from ipclab.studies.questions import usual_levels

_HEADER = re.compile(r"\s*\[\[\s*(claim|requirement)\s*\]\]")
_PLACE = re.compile(r" - at `\$(?:\.(claim|requirement)\[(\d+)\])?(?:\.(\w+))?.*")
_FIELD = re.compile(r"(unknown|required) field `(.*?)`")
# What the fonts of a report do not hold, beside control and private characters.
_PICTURES = re.compile(
    "[\u2600-\u27bf\u2b00-\u2bff\ufe00-\ufe0f\U00010000-\U0001ffff\U000e0000-\U0010ffff]"
)
WHAT = {"rule": "the rule: ", "fair": "the fair method: "}
# of a claim, and of a requirement: without placeholders
PLAIN = {"claim": ("id", "source", "adds", "untestable"), "requirement": ("id", "source")}
FORMS: dict[str, type[OwnClaim | Requirement]] = {"claim": OwnClaim, "requirement": Requirement}
STATISTICS = "take max, p99.9, coverage or median"
Place = tuple[str, int]  # a kind of table, and which of these


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
            raise UsageError(
                f"cannot read the claims in {file}", why, "name a file of text; see docs/claims.md"
            ) from error

    def parsed(self) -> File:
        """Return what they state; raises `UsageError` with the line."""
        for number, line in enumerate(self.lines):
            others = [c for c in line if unicodedata.category(c)[0] == "C" and c != "\t"]
            for strange in others + _PICTURES.findall(line):
                name = unicodedata.name(strange, "a control character").lower()
                why = f"U+{ord(strange):04X}, {name}, cannot be printed"
                raise UsageError(f"{self.name}, line {number + 1}", why, "write it in words")
        try:
            content = tomllib.loads("\n".join(self.lines))
            file = msgspec.convert(content, File, dec_hook=_made)
        except (RecursionError, ValueError) as error:
            raise self._refused(error) from error
        if not file.claims and not file.requirements and file.document is None:
            raise self._without_claims("claim")
        for printed in file.document.printed if file.document else ():
            fields = [name for name in printed.__struct_fields__ if name != "history"]
            self._check_braces(printed, fields, None)
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

    def _check_braces(self, printed: Any, names: Iterable[str], place: Place | None) -> None:
        """Raise `UsageError` for braces, which name values in prose, in fields printed as is."""
        for name in names:
            if {"{", "}"} & {*getattr(printed, name)}:
                raise UsageError(self.place(place, name), f"{name} holds a brace", "leave it out")

    def check(
        self, file: File, run: RunFolder, numbers: Callable[[list[Address]], Numbers]
    ) -> None:
        """Raise `UsageError` for a rule on what the run cannot have, or on unlike things.

        `numbers` returns those of the run at some addresses.
        """
        for place, stated in stated_in(file):
            rules = {"rule": stated.rule}
            if isinstance(stated, OwnClaim) and stated.fair_rule:
                rules["fair"] = stated.fair_rule
            for key, rule in rules.items():
                self._check_rule(rule, self.place(place, key), run, numbers)

    def _check_rule(
        self, rule: Rule, line: str, run: RunFolder, numbers: Callable[[list[Address]], Numbers]
    ) -> None:
        for address in rule.addresses:
            try:
                frame = numbers([address]).frames[address.study]
                _check_address(address, frame, run)
            except UsageError as error:
                raise UsageError(line, f"{address}: {error.what}", error.fix) from error
        try:
            on_run(rule.bounds, rule.compared, numbers(rule.addresses))
        except RuleError as error:
            raise UsageError(line, f"the rule: {error.why}", error.fix) from error
        except LabError as error:
            raise UsageError(line, f"the rule: {error}") from error

    def _refused(self, error: BaseException) -> UsageError:
        """Return what an error of reading says, with the line."""
        match error:
            case tomllib.TOMLDecodeError():
                line = re.search(r"at line (\d+)", str(error))
                place = f"{self.name}, line {line[1] if line else len(self.lines)}"
                return UsageError(place, re.sub(r" \(at .*\)$", "", str(error)), "fix the TOML")
            case msgspec.ValidationError():
                return self._invalid(str(error), error.__cause__)
            case ValueError():  # Python's own, of a number of thousands of digits
                return UsageError(self.place(None), str(error), "write it as 1e30")
        return UsageError(self.place(None), "it nests too deeply", "write [[claim]] tables")

    def _without_claims(self, key: str) -> UsageError:
        why = "a file of claims holds [[claim]] and [[requirement]] tables"
        return UsageError(self.place(None, key), why, "see docs/claims.md")

    def _invalid(self, message: str, cause: BaseException | None) -> UsageError:
        """Return what a check of types, or the error that caused it, says, with the line."""
        where = _PLACE.search(message)
        field = _FIELD.search(message)
        kind, number, key = (where[1], where[2], where[3] or "") if where else (None, None, "")
        if where is None or key in FORMS:
            return self._without_claims(field[2] if field else "claim")
        at = (kind, int(number)) if kind and number else None
        if isinstance(cause, RuleError):
            return UsageError(
                self.place(at, cause.name, key), f"{WHAT.get(key, '')}{cause.why}", cause.fix
            )
        place = self.place(at, field[2] if field and field[1] == "unknown" else key)
        if not field:
            why = message[: where.start()].replace("`", "").lower()
            fix = STATISTICS if key == "statistic" else ""
            return UsageError(place, f"{key}: {why}", fix)
        name = "document" if key == "document" else kind or "claim"
        fix = f"add {field[2]} = ..."
        if field[1] == "unknown":
            fix = hint(field[2], FORMS.get(name, Control).__struct_fields__)
        return UsageError(place, f"a {name} has no {field[2]!r}", fix)

    def place(self, table: Place | None, *keys: str) -> str:
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
        for key in keys:
            name = rf"""["']?{re.escape(key)}["']?"""
            begins = re.compile(rf"\s*\[?\s*(?:\w+\s*\.\s*)?{name}\s*[=.\]]")
            for line in range(first, last):
                if begins.match(self.lines[line]):
                    return f"{self.name}, line {line + 1}"
        return f"{self.name}, line {first + 1}"


def stated_in(file: File) -> Iterator[tuple[Place, OwnClaim | Requirement]]:
    """Yield a file's claims, then its requirements, each with its place."""
    for number, claim in enumerate(file.claims):
        yield ("claim", number), claim
    for number, requirement in enumerate(file.requirements):
        yield ("requirement", number), requirement


def _made(kind: type, written: Any) -> Any:
    """Return a rule or amounts out of what stands for it; raises `RuleError`."""
    if kind is Rule:
        if not isinstance(written, str):
            raise TypeError(f"expected str, got {type(written).__name__}")
        return Rule.read(written)
    amounts = kind()
    for name, value in dict(written).items():
        try:
            amounts[name] = amount(str(value))
        except RuleError as error:
            error.name = name
            raise
    return amounts


def _check_address(address: Address, frame: pd.DataFrame, run: RunFolder) -> None:
    """Raise `UsageError`, with the nearest name, for an address that the run cannot have."""
    if frame.empty:
        return
    columns = set(map(str, frame.columns))
    wanted = [(name, columns) for name, _ in address.levels]
    now = usual_levels(address.study)
    levels = _named_levels(address, columns)
    # of numbers, whatever was measured can be asked for
    words = {
        name: [each for each in named if not each.isdecimal()] for name, named in levels.items()
    }
    check_levels(run, address.study, frame, words, now)
    rows = frame
    for name, named in levels.items():
        rows = rows[rows[name].astype(str).isin(named)]
    # a run without these levels does not tell which ops and metrics they have
    if len(rows):
        wanted += [(op, set(frame["op"])) for op in address.ops]
        if address.metric:
            wanted.append((address.metric, {*frame["metric"], *columns}))
    for name, possible in wanted:
        if name not in possible:
            raise UsageError(f"there is no {name!r}", "", hint(name, sorted(possible)))


def _named_levels(address: Address, columns: Iterable[str]) -> dict[str, list[str]]:
    """Return the levels that an address names by themselves, by factor."""
    return {
        name: [part.strip() for part in level.split("|")]
        for name, level in address.levels
        if name in columns and level not in (EVERY, *ENDS) and not KNOWN.search(level)
    }
