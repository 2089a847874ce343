"""Files of claims in TOML, those of the published texts and a person's own: read, or refused with the line."""

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ipclab.errors import UsageError, nearest
from ipclab.frames.address import Address
from ipclab.frames.claims import OWN, Claim, decide
from ipclab.frames.expression import RuleError, Source, Term
from ipclab.frames.rule import Rule, addresses, amount, read_rule, read_sum
from ipclab.stats.quantity import Quantity

NO_TABLE = "the file gives no table for it"
CLAIM: dict[str, type] = {
    **{"id": str, "language": str, "text": str, "rule": str},
    **{"section": str, "source": str, "meaning": str, "own": str, "fair": str, "adds": str, "unstated": str},
    **{"needs": dict, "translations": dict, "figures": dict, "published": dict},
}
NEEDED = ("id", "language", "text", "rule")
DERIVED: dict[str, type] = {"printed": str, "computed": str, "by": str, "sense": str}
CORRECTION: dict[str, type] = {
    **{"claims": list, "own": str, "here": str, "quote": str, "source": str},
    **{"values": dict, "own_values": dict, "here_values": dict},
}
SENSES = ("equal", "lowest", "highest", "truncated")
TEXT_KEYS = {"seed": str, "study": str, "title": str, "language": str, "printed": dict, "levels": dict}
_HEADER = re.compile(r"\s*\[\[\s*claim\s*\]\]")
# What the fonts of a report do not hold: control and private characters, emoji and pictographs.
_PICTURES = re.compile("[\u2600-\u27bf\u2b00-\u2bff\ufe00-\ufe0f\U00010000-\U0001ffff\U000e0000-\U0010ffff]")


@dataclass(frozen=True)
class Derivation:
    """Numbers that a text derives from others of its own: the address where they are printed, and what they should be.

    `by` is a msgid that says how; `sense` what the printed number claims to be: equal to the computed one, the lowest
    or the highest of them, or equal with its further digits cut off.
    """

    printed: Address
    computed: Term
    by: str
    sense: str = "equal"


@dataclass(frozen=True)
class Correction:
    """What can stand in place of the words of some claims, or of `quote` (in `source`).

    `own` is a msgid whose numbers follow from the text's own table, `here` one whose numbers are this run's; either may
    be empty. The values of their placeholders are expressions.
    """

    claims: tuple[str, ...] = ()
    own: str = ""
    here: str = ""
    own_values: Mapping[str, Term] = field(default_factory=dict)
    here_values: Mapping[str, Term] = field(default_factory=dict)
    quote: str = ""
    source: str = ""


@dataclass(frozen=True)
class File:
    """What a file of claims states.

    `printed` gives the op and metric of a run for quantities of a text's table, `levels` the levels of its factors.
    """

    claims: tuple[Claim, ...]
    derived: tuple[Derivation, ...] = ()
    corrections: tuple[Correction, ...] = ()
    seed: str = OWN
    study: str = ""
    title: str = ""
    printed: Mapping[str, str] = field(default_factory=dict)
    levels: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)


def read(file: Path) -> File:
    """Return what a file states; raises `UsageError` with the line for one that is absent or cannot be judged."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the claims in {file}", str(error)) from error
    return parse(text, file.name)


def parse(text: str, name: str) -> File:
    """Return what `text`, a file called `name`, states; raises `UsageError` with the line."""
    reader = _File(text, name)
    data = reader.load()
    about: dict[str, Any] = {key: data.pop(key) for key in TEXT_KEYS if isinstance(data.get(key), TEXT_KEYS[key])}
    names = data.pop("names", {})
    derived, corrections, entries = (data.pop(key, []) for key in ("derived", "correction", "claim"))
    if data or not entries or not all(isinstance(each, dict) for each in (*derived, *corrections, *entries)):
        line = reader.line(next(iter(data), "claim"))
        raise UsageError(f"{name}, line {line}", "a file of claims holds [[claim]] tables", "see docs/claims.md")
    claims: list[Claim] = []
    for number, entry in enumerate(entries):
        claims.append(_claim(_Entry(reader, entry, number, names), about, {each.id for each in claims}))
    made = _Entry(reader, {}, 0, names)
    return File(
        tuple(claims),
        tuple(_derivation(made, each) for each in derived),
        tuple(_correction(made, each) for each in corrections),
        **{key: about[key] for key in ("seed", "study", "title", "printed", "levels") if key in about},
        names=names,
    )


def check(claims: tuple[Claim, ...], run: Source) -> None:
    """Raise `UsageError` for a person's own claim that names what the run cannot have, or compares unlike things."""
    for claim in claims:
        for key, term in (("rule", claim.rule.term), ("fair", claim.fair)):
            for address in addresses(claim.where[f"{key} words"]) if term else ():
                if problem := _unknown(address, run):
                    raise UsageError(claim.where[key], f"{address}: {problem[0]}", problem[1])
        try:
            for term in filter(None, (claim.rule.term, claim.fair)):
                decide(claim.rule, term, run)
        except RuleError as error:
            raise UsageError(claim.where["rule"], f"the rule: {error.why}", error.fix) from error


def _unknown(address: Address, run: Source) -> tuple[str, str] | None:
    """Return why the run cannot have an address, and the nearest name; None when it may."""
    try:
        frame = run.points(address.study)
    except UsageError as error:
        return f"no study {address.study!r}", error.fix.partition(";")[0]
    if frame.empty:
        return None
    columns = list(map(str, frame.columns))
    wanted = [(op, set(frame["op"])) for op in address.ops] + [(name, set(columns)) for name, _ in address.levels]
    if address.metric:
        wanted.append((address.metric, {*frame["metric"], *columns}))
    for name, known in wanted:
        if name not in known:
            return f"there is no {name!r}", f"the nearest is {nearest(name, sorted(known))!r}"
    return None


class _File:
    """The text of a file, for the lines of errors."""

    def __init__(self, text: str, name: str) -> None:
        self.lines, self.name = text.splitlines(), name
        self.places = [number for number, line in enumerate(self.lines) if _HEADER.match(line)]

    def load(self) -> dict[str, Any]:
        for number, line in enumerate(self.lines):
            bad = next((c for c in line if unicodedata.category(c) in ("Cc", "Cf", "Co", "Cn", "Cs") and c != "\t"), "")
            if bad := bad or (found[0] if (found := _PICTURES.search(line)) else ""):
                named = unicodedata.name(bad, "a control character").lower()
                why = f"U+{ord(bad):04X}, {named}, cannot be printed"
                raise UsageError(f"{self.name}, line {number + 1}", why, "write it in words")
        try:
            return tomllib.loads("\n".join(self.lines))
        except RecursionError as error:
            raise UsageError(f"{self.name}, line 1", "it nests too deeply", "write [[claim]] tables") from error
        except tomllib.TOMLDecodeError as error:
            line_of = re.search(r"at line (\d+)", str(error))
            where = int(line_of[1]) if line_of else len(self.lines)
            raise UsageError(
                f"{self.name}, line {where}", re.sub(r" \(at .*\)$", "", str(error)), "fix the TOML"
            ) from error

    def line(self, key: str, first: int = 0, last: int | None = None) -> int:
        """Return the number of the line from `first` to before `last` that begins with `key`, or of `first`."""
        begins = re.compile(rf"""\s*\[?\s*(?:claim\s*\.\s*)?["']?{re.escape(key)}["']?\s*[=.\]]""")
        numbered = enumerate(self.lines[:last])
        return next((number for number, line in numbered if number >= first and begins.match(line)), first) + 1


@dataclass(frozen=True)
class _Entry:
    """One table of the file."""

    file: _File
    entry: dict[str, Any]
    number: int
    names: Mapping[str, str]

    def place(self, key: str, table: str = "") -> str:
        """Return the file and the line of `key`, else of the `table` that holds it, else of the entry."""
        places = [*self.file.places, None]
        written = self.number < len(places) - 1  # else as an inline table
        first, last = (places[self.number] or 0, places[self.number + 1]) if written else (0, None)
        lines = [self.file.line(each, first, last) for each in (key, table) if each]
        return f"{self.file.name}, line {next((line for line in lines if line > first + 1), first + 1)}"

    def error(self, key: str, why: str, fix: str = "", table: str = "") -> UsageError:
        return UsageError(self.place(key, table), why, fix)

    def rule(self, key: str) -> Rule:
        try:
            return read_rule(self.entry[key], self.names)
        except RuleError as error:
            raise self.error(key, f"the rule: {error.why}", error.fix) from error

    def sum(self, key: str, what: str) -> Term | None:
        try:
            return read_sum(self.entry[key], self.names) if key in self.entry else None
        except RuleError as error:
            raise self.error(key, f"{what}: {error.why}", error.fix) from error

    def amounts(self, key: str) -> dict[str, Quantity]:
        return dict(self._amounts(key, lambda name: name))

    def table(self) -> dict[str, Quantity]:
        return dict(self._amounts("published", self._address))

    def _amounts(self, key: str, named: Callable[[str], str]) -> Iterator[tuple[str, Quantity]]:
        for name, value in self.entry.get(key, {}).items():
            try:
                yield named(name), amount(str(value))
            except RuleError as error:
                raise self.error(name, error.why, error.fix, key) from error

    def _address(self, name: str) -> str:
        address = Address.read(name)
        if address is None:
            raise RuleError(f"{name!r} is no address", "write study.op[factor=level].metric")
        return str(address)

    def checked(self, keys: Mapping[str, type], needed: tuple[str, ...], what: str) -> dict[str, Any]:
        for key, value in self.entry.items():
            if key not in keys:
                raise self.error(key, f"{what} has no {key!r}", f"did you mean {nearest(key, keys)!r}?")
            if not isinstance(value, keys[key]):
                raise self.error(key, f"{key} is no {'table' if keys[key] is dict else 'text'}")
        for key in needed:
            if not self.entry.get(key):
                raise self.error("", f"{what} has no {key!r}", f"add {key} = ...")
        return self.entry


def _claim(made: _Entry, about: Mapping[str, Any], taken: set[str]) -> Claim:
    entry = made.checked(CLAIM, NEEDED if "language" not in about else ("id", "text", "rule"), "a claim")
    if entry["id"] in taken:
        raise made.error("id", f"two claims have the id {entry['id']!r}")
    for lang, words in entry.get("translations", {}).items():
        if not isinstance(words, str):
            raise made.error(lang, f"{words!r} is no text", "", "translations")
    words = {f"{key} words": entry[key] for key in ("rule", "fair") if key in entry}
    table = made.table() if about.get("seed") is None else None
    return Claim(
        *(entry["id"], about.get("seed", OWN), entry.get("section") or entry.get("source", "")),
        *(entry.get("language") or about["language"], entry["text"], entry.get("meaning", entry["text"])),
        rule=made.rule("rule"),
        own=made.sum("own", "the text's own method"),
        fair=made.sum("fair", "the fair method"),
        unstated=entry.get("unstated", "") if table is None or table else NO_TABLE,
        adds=entry.get("adds", ""),
        needs=entry.get("needs", {}),
        figures=made.amounts("figures"),
        translations=entry.get("translations", {}),
        given=table,
        where={**{key: made.place(key) for key in (*CLAIM, "")}, **words},
    )


def _derivation(made: _Entry, entry: dict[str, Any]) -> Derivation:
    own = _Entry(made.file, entry, 0, made.names)
    own.checked(DERIVED, ("printed", "computed", "by"), "a derivation")
    printed, computed = Address.read(entry["printed"]), own.sum("computed", "the derivation")
    if printed is None or computed is None or entry.get("sense", "equal") not in SENSES:
        raise UsageError(made.file.name, f"{entry['printed']!r} is no derivation of a sense of {SENSES}")
    return Derivation(printed, computed, entry["by"], entry.get("sense", "equal"))


def _correction(made: _Entry, entry: dict[str, Any]) -> Correction:
    _Entry(made.file, entry, 0, made.names).checked(CORRECTION, (), "a correction")

    def terms(key: str) -> dict[str, Term]:
        both = {**entry.get("values", {}), **entry.get(key, {})}
        return {name: read_sum(text, made.names) for name, text in both.items()}

    texts = {key: entry.get(key, "") for key in ("own", "here", "quote", "source")}
    return Correction(
        tuple(entry.get("claims", ())), own_values=terms("own_values"), here_values=terms("here_values"), **texts
    )
