"""Files of claims in TOML, those of the published texts and a person's own: read, or refused with the line."""

import re
import tomllib
import unicodedata
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from ipclab.errors import UsageError, nearest
from ipclab.frames.address import Address
from ipclab.frames.claims import OWN, Claim, decide
from ipclab.frames.expression import RuleError, Source
from ipclab.frames.rule import amount, read_rule, read_sum

NO_TABLE = "the file gives no table for it"
_HEADER = re.compile(r"\s*\[\[\s*claim\s*\]\]")
_PLACE = re.compile(r" - at `\$(?:\.claim\[(\d+)\])?(?:\.(\w+))?.*")
_FIELD = re.compile(r"(unknown|required) field `(.*?)`")
# What the fonts of a report do not hold: control and private characters, emoji and pictographs.
_PICTURES = re.compile("[\u2600-\u27bf\u2b00-\u2bff\ufe00-\ufe0f\U00010000-\U0001ffff\U000e0000-\U0010ffff]")
Text = Annotated[str, msgspec.Meta(min_length=1)]
Texts = dict[str, str]
Made = TypeVar("Made")


class _Claim(msgspec.Struct, forbid_unknown_fields=True):
    """A claim as it is written."""

    id: Text
    text: Text
    rule: Text
    language: str = ""
    section: str = ""
    source: str = ""
    meaning: str = ""
    own: str | None = None
    fair: str | None = None
    adds: str = ""
    unstated: str = ""
    needs: dict[str, float] = {}
    translations: Texts = {}
    figures: dict[str, str | int | float] = {}
    published: Texts = {}


class Derivation(msgspec.Struct, forbid_unknown_fields=True):
    """Numbers that a text derives from others of its own: the address where they are printed, and what they should be.

    `by` is a msgid that says how; `sense` what the printed number claims to be: equal to the computed one, the lowest
    or the highest of them, or equal with its further digits cut off.
    """

    printed: Text
    computed: Text
    by: Text
    sense: Literal["equal", "lowest", "highest", "truncated"] = "equal"


class Correction(msgspec.Struct, forbid_unknown_fields=True):
    """What can stand in place of the words of some claims, or of `quote` (in `source`).

    `own` is a msgid whose numbers follow from the text's own table, `here` one whose numbers are this run's; either may
    be empty. The values of their placeholders are expressions, `values` those of both.
    """

    claims: tuple[str, ...] = ()
    own: str = ""
    here: str = ""
    quote: str = ""
    source: str = ""
    values: Texts = {}
    own_values: Texts = {}
    here_values: Texts = {}

    def __post_init__(self) -> None:
        self.own_values, self.here_values = self.values | self.own_values, self.values | self.here_values


class _Written(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    written: Annotated[list[_Claim], msgspec.Meta(min_length=1)] = msgspec.field(name="claim")
    derived: list[Derivation] = []
    corrections: list[Correction] = msgspec.field(default_factory=list, name="correction")
    seed: str = OWN
    study: str = ""
    title: str = ""
    language: str = ""
    names: Texts = {}
    printed: Texts = {}
    levels: dict[str, dict[str, int]] = {}


class File(_Written):
    """What a file of claims states.

    `printed` gives the op and metric of a run for quantities of a text's table, `levels` the levels of its factors.
    """

    claims: tuple[Claim, ...]


def read(file: Path) -> File:
    """Return what a file states; raises `UsageError` with the line for one that is absent or cannot be judged."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the claims in {file}", str(error)) from error
    return parse(text, file.name)


def parse(text: str, name: str) -> File:
    """Return what `text`, a file called `name`, states; raises `UsageError` with the line."""
    lines = _Lines(text, name)
    told = lines.told()
    claims = tuple(_claim(lines, number, each, told) for number, each in enumerate(told.written))
    return File(**msgspec.structs.asdict(told), claims=claims)


def check(claims: tuple[Claim, ...], run: Source) -> None:
    """Raise `UsageError` for a person's own claim that names what the run cannot have, or compares unlike things."""
    for claim in claims:
        for key, term in (("rule", claim.rule.term), ("fair", claim.fair)):
            for address in term.addresses if term else ():
                if problem := _unknown(address, run):
                    raise UsageError(claim.where(key), f"{address}: {problem[0]}", problem[1])
        try:
            for term in filter(None, (claim.rule.term, claim.fair)):
                decide(claim.rule, term, run)
        except RuleError as error:
            raise UsageError(claim.where("rule"), f"the rule: {error.why}", error.fix) from error


def _unknown(address: Address, run: Source) -> tuple[str, str] | None:
    """Return why the run cannot have an address, and the nearest name; None when it may."""
    try:
        frame = run.points(address.study)
    except UsageError as error:
        return f"no study {address.study!r}", error.fix.partition(";")[0]
    columns = set(map(str, frame.columns))
    wanted = [(op, set(frame["op"])) for op in address.ops] + [(name, columns) for name, _ in address.levels]
    if address.metric:
        wanted.append((address.metric, {*frame["metric"], *columns}))
    strange = [(name, known) for name, known in wanted if name not in known and len(frame)]
    return next(
        ((f"there is no {name!r}", f"the nearest is {nearest(name, sorted(known))!r}") for name, known in strange), None
    )


class _Lines:
    """The lines of a file, for what they say and for the places of errors."""

    def __init__(self, text: str, name: str) -> None:
        self.lines, self.name = text.splitlines(), name
        self.begins = [number for number, line in enumerate(self.lines) if _HEADER.match(line)]

    def told(self) -> _Written:
        for number, line in enumerate(self.lines):
            strange = (c for c in line if unicodedata.category(c) in ("Cc", "Cf", "Co", "Cn", "Cs") and c != "\t")
            if bad := next(strange, "") or next(iter(_PICTURES.findall(line)), ""):
                why = f"U+{ord(bad):04X}, {unicodedata.name(bad, 'a control character').lower()}, cannot be printed"
                raise UsageError(f"{self.name}, line {number + 1}", why, "write it in words")
        try:
            return msgspec.convert(tomllib.loads("\n".join(self.lines)), _Written)
        except RecursionError as error:
            raise UsageError(f"{self.name}, line 1", "it nests too deeply", "write [[claim]] tables") from error
        except tomllib.TOMLDecodeError as error:
            line_of = re.search(r"at line (\d+)", str(error))
            where = f"{self.name}, line {line_of[1] if line_of else len(self.lines)}"
            raise UsageError(where, re.sub(r" \(at .*\)$", "", str(error)), "fix the TOML") from error
        except msgspec.ValidationError as error:
            raise self._refused(str(error)) from error

    def _refused(self, message: str) -> UsageError:
        """Return what a check of types says, with the line."""
        where, field = _PLACE.search(message), _FIELD.search(message)
        number, key = (where[1], where[2] or "") if where else (None, "")
        if where is None or key == "claim":
            place = self.place(None, field[2] if field else "claim")
            return UsageError(place, "a file of claims holds [[claim]] tables", "see docs/claims.md")
        place = self.place(int(number) if number else None, field[2] if field and field[1] == "unknown" else key)
        if not field:
            return UsageError(place, f"{key}: {message[: where.start()].replace('`', '').lower()}")
        near = nearest(field[2], _Claim.__struct_fields__)
        fix = f"did you mean {near!r}?" if field[1] == "unknown" else f"add {near} = ..."
        return UsageError(place, f"a claim has no {field[2]!r}", fix)

    def place(self, number: int | None, *keys: str) -> str:
        """Return the file and the line of the first of `keys` in claim `number` (in the file), else of the claim."""
        first, last = 0, len(self.lines)
        if number is not None and number < len(self.begins):  # else an inline table
            first, last = self.begins[number], [*self.begins, last][number + 1]
        for key in keys:
            begins = re.compile(rf"""\s*\[?\s*(?:claim\s*\.\s*)?["']?{re.escape(key)}["']?\s*[=.\]]""")
            if found := next((line for line in range(first, last) if begins.match(self.lines[line])), None):
                return f"{self.name}, line {found + 1}"
        return f"{self.name}, line {first + 1}"


def _claim(lines: _Lines, number: int, each: _Claim, told: _Written) -> Claim:
    where = partial(lines.place, number)

    def made(what: str, make: Callable[[str], Made], text: Any, *keys: str) -> Made:
        try:
            return make(str(text))
        except RuleError as error:
            raise UsageError(where(*keys), f"{what}{error.why}", error.fix) from error

    if not (each.language or told.language):
        raise UsageError(where(), "a claim has no 'language'", "add language = ...")
    if each.id in [other.id for other in told.written[:number]]:
        raise UsageError(where("id"), f"two claims have the id {each.id!r}")
    term = partial(read_sum, names=told.names)
    table = {
        str(made("", _address, name, name, "published")): made("", amount, value, name, "published")
        for name, value in each.published.items()
    }
    return Claim(
        *(each.id, told.seed, each.section or each.source),
        *(each.language or told.language, each.text, each.meaning or each.text),
        rule=made("the rule: ", partial(read_rule, names=told.names), each.rule, "rule"),
        own=None if each.own is None else made("the text's own method: ", term, each.own, "own"),
        fair=None if each.fair is None else made("the fair method: ", term, each.fair, "fair"),
        unstated=each.unstated if table or told.seed != OWN else NO_TABLE,
        adds=each.adds,
        needs=each.needs,
        figures={name: made("", amount, value, name, "figures") for name, value in each.figures.items()},
        translations=each.translations,
        given=table if told.seed == OWN else None,
        where=where,
    )


def _address(name: str) -> Address:
    address = Address.read(name)
    if address is None:
        raise RuleError(f"{name!r} is no address", "write study.op[factor=level].metric")
    return address
