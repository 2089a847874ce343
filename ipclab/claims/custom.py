"""A person's own claims: a TOML file read, checked against the facts there are, and refused with the line."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ipclab.claims.claim import Claim
from ipclab.claims.rule import RuleError, amount, read_rule, read_sum, same_dimension
from ipclab.errors import LabError, UsageError
from ipclab.facts.fact import Fact
from ipclab.report import prose
from ipclab.report.catalogue import LANGUAGES, N_
from ipclab.report.numbers import Formatter
from ipclab.words import nearest

OWN = "own"  # the seed of a person's own claims
NO_TABLE = N_("the file gives no table for it")
NEEDED = {"id": str, "language": str, "text": str, "rule": str}
KEYS: dict[str, type] = {
    **NEEDED,
    **{"source": str, "fair": str, "adds": str, "translations": dict, "figures": dict, "published": dict},
}
_HEADER = re.compile(r"\s*\[\[\s*claim\s*\]\]")


def read_claims(file: Path, known: Mapping[str, Fact]) -> tuple[Claim, ...]:
    """Return the claims of a file; `known` are the facts that rules may name.

    Raises `UsageError` with the line for a file that is absent, no TOML, or says what cannot be judged.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the claims in {file}", str(error)) from error
    return parse(text, file.name, known)


def parse(text: str, name: str, known: Mapping[str, Fact]) -> tuple[Claim, ...]:
    """Return the claims that `text` (a file called `name`) states; raises `UsageError` with the line."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        where = int(line[1]) if line else len(text.splitlines())
        raise UsageError(f"{name}, line {where}", re.sub(r" \(at .*\)$", "", str(error)), "mend the TOML") from error
    entries = data.pop("claim", [])
    if data or not isinstance(entries, list) or not entries or not all(isinstance(each, dict) for each in entries):
        stray = next(iter(data), "claim")
        line_number = _line(text.splitlines(), 0, stray)
        raise UsageError(f"{name}, line {line_number}", "a file of claims holds [[claim]] tables", "see docs/claims.md")
    places = [number for number, line in enumerate(text.splitlines()) if _HEADER.match(line)]
    found: list[Claim] = []
    for number, entry in enumerate(entries):
        first, last = places[number], [*places, None][number + 1]
        found.append(_Entry(entry, name, text.splitlines()[:last], first, known).claim({each.id for each in found}))
    return tuple(found)


def _line(lines: list[str], first: int, key: str) -> int:
    """Return the number of the line at or after `first` that begins with `key`, or of `first`; lines count from one."""
    begins = re.compile(rf"""\s*\[?\s*(?:claim\s*\.\s*)?["']?{re.escape(key)}["']?\s*[=.\]]""")
    return next((number for number, line in enumerate(lines) if number >= first and begins.match(line)), first) + 1


class _Entry:
    """One claim's table in the file."""

    def __init__(
        self, entry: dict[str, Any], name: str, lines: list[str], first: int, known: Mapping[str, Fact]
    ) -> None:
        self.entry, self.name, self.lines, self.first, self.known = entry, name, lines, first, known

    def claim(self, taken: set[str]) -> Claim:
        self._check_keys()
        entry = self.entry
        if entry["id"] in taken:
            raise self._error("id", f"two claims have the id {entry['id']!r}")
        texts = self._texts()
        try:
            rule = read_rule(entry["rule"], self.known)
        except RuleError as error:
            raise self._error("rule", f"the rule: {error.why}", error.mend) from error
        try:
            fair = read_sum(entry["fair"], self.known, rule.unit) if "fair" in entry else None
        except RuleError as error:
            raise self._error("fair", f"the fair method: {error.why}", error.mend) from error
        table = self._amounts("published", self.known)
        return Claim(
            *(entry["id"], OWN, entry.get("source", ""), entry["language"], entry["text"], entry["text"]),
            quantities=lambda facts: [rule.quantity(facts)],
            bounds=rule.bounds,
            unit=rule.unit,
            unstated="" if table else NO_TABLE,
            figures=self._amounts("figures"),
            fair=(lambda facts: [fair(facts)]) if fair else None,
            adds=entry.get("adds", ""),
            translations=texts,
            table=table,
        )

    def _check_keys(self) -> None:
        for key, value in self.entry.items():
            if key not in KEYS:
                raise self._error(key, f"a claim has no {key!r}", f"did you mean {nearest(key, KEYS)!r}?")
            if not isinstance(value, KEYS[key]):
                raise self._error(key, f"{key} is no {'table' if KEYS[key] is dict else 'text'}")
        for key in NEEDED:
            if not self.entry.get(key):
                raise self._error("", f"the claim has no {key!r}", f"add {key} = ...")

    def _texts(self) -> dict[str, str]:
        """Return the claim's words by language, their placeholders checked."""
        entry = self.entry
        texts = {entry["language"]: entry["text"], **entry.get("translations", {})}
        figures = {**self.known, **self._amounts("figures")}
        for lang, text in texts.items():
            key = "text" if lang == entry["language"] else lang
            if lang not in LANGUAGES:
                what = "language" if lang == entry["language"] else lang
                raise self._error(what, f"no language {lang!r}", f"there are {', '.join(LANGUAGES)}", "translations")
            if not isinstance(text, str):
                raise self._error(key, f"{text!r} is no text", "", "translations")
            try:
                prose.fill_plain(text, figures, Formatter("en"))
            except LabError as error:
                raise self._error(key, str(error), "", "translations") from error
        return texts

    def _amounts(self, key: str, known: Mapping[str, Fact] | None = None) -> dict[str, Fact]:
        """Return the table `key` of names and amounts; the names are among `known` where that is given."""
        found = {}
        for name, value in self.entry.get(key, {}).items():
            if known is not None and name not in known:
                raise self._error(name, f"no fact is named {name!r}", f"the nearest is {nearest(name, known)!r}", key)
            try:
                fact = amount(str(value))
                if known is not None:
                    same_dimension(fact, known[name])
            except RuleError as error:
                raise self._error(name, error.why, error.mend, key) from error
            found[name] = Fact(name, fact.value, fact.unit, kind="published", source=self.name)
        return found

    def _error(self, key: str, why: str, mend: str = "", table: str = "") -> UsageError:
        """Return the error with the line of `key`, else of the `table` that holds it, else of the claim."""
        places = [_line(self.lines, self.first, each) for each in (key, table) if each]
        line = next((place for place in places if place > self.first + 1), self.first + 1)
        return UsageError(f"{self.name}, line {line}", why, mend)
