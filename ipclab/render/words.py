"""The words of the lab: what is to be translated, the catalogues that hold it, and the gate they must pass.

The package's words are in `ipclab.po`, those of a notebook in a catalogue of its name, those of the texts' claims in
that of the notebook `claims`. `python -m ipclab.render.words update` rewrites them, `... update 01_payload` that of one
notebook, `... gate` prints what is wrong with them.
"""

import csv
import io
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from babel.messages.extract import extract, extract_python
from babel.messages.pofile import normalize

from ipclab.errors import LabError
from ipclab.lab import prose
from ipclab.lab.catalogue import LANGUAGES, PACKAGE, SOURCE, Catalogue, catalogue_path
from ipclab.lab.parameters import read_notebook
from ipclab.paths import Paths, checkout
from ipclab.store.files import write_whole

MAGIC = "%%prose"
LABELS = "labels.toml"  # the package's words by name; those of its table `plain` are not translated
CLAIMS = "claims"  # the catalogue of what the texts' files of claims say
SAID = ("title", "meaning", "unstated", "untestable", "adds", "by", "own", "here")  # the keys there that are msgids
# What may carry a digit in prose; and by language what a translation may not hold, with what is then said.
RULES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
ALLOWED = re.compile(RULES.pop("allowed"), re.VERBOSE)
_LINK_TARGET = re.compile(r"(?<=\])\([^)\s]*\)")
NO_WORDS = "no words"  # a comment on what stands in prose and is no msgid: it holds only values
Message = tuple[int, None, str, list[str]]  # cell number, no function, msgid, comments: as Babel wants it
OTHERS = [lang for lang in LANGUAGES if lang != SOURCE]


@dataclass(frozen=True)
class Sources:
    """Where words come from: the package's Python files and the notebooks; `locale` holds the catalogues."""

    package: Path = Paths.package
    notebooks: Path = field(default_factory=lambda: checkout().notebooks)
    locale: Path = Paths.locale

    def files(self) -> list[Path]:
        """Return all files that words are taken from, in a fixed order."""
        claims = sorted((self.notebooks.parent / "data" / "published").glob("*.toml"))
        labels = [*sorted(self.package.rglob(LABELS)), *self.package.glob("machine/*.csv")]
        return [*sorted(self.package.rglob("*.py")), *labels, *sorted(self.notebooks.glob("*.ipynb")), *claims]


def extract_notebook(file: IO[bytes], keywords: Any, comment_tags: Any, options: Any) -> Iterator[Message]:
    """Yield a message for each `_()`, then for each block in the `%%prose` cells: a Babel extractor."""
    blocks: list[Message] = []
    for number, cell in enumerate(json.load(file)["cells"]):
        magic, _, text = "".join(cell["source"]).partition("\n")
        if cell["cell_type"] == "code" and magic.strip() == MAGIC:
            blocks += [(number, None, block, [] if needs_words(block) else [NO_WORDS]) for block in prose.split(text)]
        elif cell["cell_type"] == "code":
            found = extract_python(io.BytesIO("".join(cell["source"]).encode()), keywords, comment_tags, options)
            yield from ((number, None, str(message), []) for _, _, message, _ in found)
    yield from blocks


def extract_toml(file: IO[bytes], *_: Any, options: Any = None) -> Iterator[Message]:
    """Yield a message for each word of a file of labels, or of what a file of claims tells a reader."""
    told = tomllib.load(file)
    if "claim" not in told:
        yield from ((0, None, word, []) for name, words in told.items() if name != "plain" for word in words.values())
        return
    claims = [{**claim, "own": ""} for claim in told["claim"]]  # there it is an expression
    tables = [told, *claims, *told.get("derived", []), *told.get("correction", [])]
    yield from ((0, None, table[key], []) for table in tables for key in SAID if table.get(key))


def extract_facts(file: IO[bytes], *_: Any, options: Any = None) -> Iterator[Message]:
    """Yield a message for each word that reports take from a table of facts: groups and labels."""
    rows = [row for row in csv.DictReader(io.TextIOWrapper(file, "utf-8")) if row["shown"] == "1" or row["affects"]]
    yield from ((0, None, row["group"], []) for row in rows if row["shown"] == "1")
    yield from ((0, None, row["label"], []) for row in rows)


def title(notebook: Path, lang: str) -> str:
    """Return the title of a notebook's report in `lang`: the first heading of its prose."""
    heading = f"{MAGIC}\n# "
    sources = (cell["source"] for cell in read_notebook(notebook)["cells"])
    first = next(source.removeprefix(heading) for source in sources if source.startswith(heading))
    return Catalogue.load(lang).translate(first.split("\n")[0])


def needs_words(text: str) -> bool:
    """Tell whether a block has a letter outside its placeholders."""
    return any(character.isalpha() for character in prose.PLACEHOLDER.sub("", text))


METHODS: dict[str, Any] = {".py": "python", ".ipynb": extract_notebook, ".toml": extract_toml, ".csv": extract_facts}


def _said(sources: Sources) -> Iterator[tuple[str, str, bool]]:
    """Yield every text that is shown, the name of its file, and whether it is a msgid, in the order of occurrence."""
    for path in sources.files():
        method: Any = METHODS[path.suffix]
        with path.open("rb") as file:
            found = extract(method, file, {"_": None, "N_": None})
            yield from ((str(text), path.name, not comments) for _, text, comments, _ in found)


def msgids(sources: Sources) -> dict[str, str]:
    """Return every msgid with the file name of its first occurrence, in the order of occurrence."""
    found: dict[str, str] = {}
    for text, name, translated in _said(sources):
        if translated:
            found.setdefault(text, name)
    return found


def update(sources: Sources | None = None, only: str = "") -> dict[str, int]:
    """Rewrite the catalogues (of notebook `only`, if given) with today's msgids; return the untranslated per language.

    Translations are kept; entries have no line numbers or dates, so that a diff shows words only.
    """
    sources = sources or Sources()
    domains: dict[str, dict[str, str]] = {PACKAGE: {}}
    for msgid, name in msgids(sources).items():
        stem, _, kind = name.rpartition(".")
        domain = PACKAGE if name == LABELS else {"ipynb": stem, "toml": CLAIMS}.get(kind, PACKAGE)
        domains.setdefault(domain, {})[msgid] = name
    missing: dict[str, int] = {}
    for lang in OTHERS:
        folder = catalogue_path(lang, sources.locale).parent
        old = Catalogue.load(lang, sources.locale).words if any(folder.glob("*.po")) else {}
        written = {domain: wanted for domain, wanted in domains.items() if only in ("", domain)}
        for domain, wanted in written.items():
            write_whole(folder / f"{domain}.po", _po(lang, wanted, old).encode())
        missing[lang] = sum(len(wanted.keys() - old.keys()) for wanted in written.values())
        for file in folder.glob("*.po"):
            if not only and file.stem not in domains:
                file.unlink()
    return missing


def gate(sources: Sources | None = None) -> list[str]:
    """Return what is wrong with words and catalogues, one line each; nothing when they may be published."""
    sources = sources or Sources()
    wanted = msgids(sources)
    problems = [f"{name}: {p}" for text, name, _ in dict.fromkeys(_said(sources)) for p in digits(text)]
    for lang in OTHERS:
        words = Catalogue.load(lang, sources.locale).words
        problems += [f"{lang}: untranslated: {msgid[:60]!r}" for msgid in wanted if msgid not in words]
        problems += [f"{lang}: obsolete: {msgid[:60]!r}" for msgid in words if msgid not in wanted]
        problems += [f"{lang}: {p}" for msgid, msgstr in words.items() for p in faults(lang, msgid, msgstr)]
    return problems


def faults(lang: str, msgid: str, msgstr: str) -> list[str]:
    """Return what is wrong with one translation."""
    found = digits(msgstr)
    if prose.placeholders(msgid) != prose.placeholders(msgstr):
        found.append(f"other placeholders than the English: {msgstr[:60]!r}")
    shown, rules = _LINK_TARGET.sub("", msgstr), RULES.get(lang, {}).items()
    hits = ((said, bad) for pattern, said in rules if (bad := re.search(pattern, shown)))
    return found + [said.format(bad=bad[0], text=msgstr[:60]) for said, bad in hits]


def digits(text: str) -> list[str]:
    """Return a problem when `text` has a digit outside placeholders, link targets and allowed names."""
    rest = prose.PLACEHOLDER.sub("", re.sub(r"\[\^[\w-]+\]", "", _LINK_TARGET.sub("", text)))
    found = re.search(r"\S*\d\S*", ALLOWED.sub("", rest))
    return [f"a digit is typed into prose, {found[0]!r} in {text[:60]!r}"] if found else []


def _po(lang: str, wanted: dict[str, str], old: dict[str, str]) -> str:
    header = f"Language: {lang}\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"
    entries = [f"msgid {normalize('')}\nmsgstr {normalize(header)}\n"]
    for msgid, name in wanted.items():
        pair = f"msgid {normalize(msgid, width=100)}\nmsgstr {normalize(old.get(msgid, ''), width=100)}\n"
        entries.append(f"#: {name}\n{pair}")
    return "\n".join(entries)


def main(verb: str = "", *only: str) -> int:
    """Run `update` or `gate`; 0 when nothing is missing or wrong."""
    if verb == "update":
        lines = [f"{lang}: {count} untranslated" for lang, count in update(None, *only[:1]).items()]
    elif verb == "gate":
        lines = gate()
    else:
        lines = ["usage: python -m ipclab.render.words update [notebook] | gate"]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return int(verb != "update" and bool(lines))


if __name__ == "__main__":
    try:
        raise SystemExit(main(*sys.argv[1:]))
    except LabError as error:
        raise SystemExit(str(error)) from error
