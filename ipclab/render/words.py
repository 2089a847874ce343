"""The words of the lab: what is to be translated, the catalogues that hold it, and the gate they must pass.

The words of a package and those of a notebook are in a catalogue of its name, those of the texts' claims in that of the
notebook `claims`. `python -m ipclab.render.words update` rewrites them, `... update 01_payload` that of one notebook,
`... gate` prints what is wrong with them.
"""

import ast
import csv
import io
import json
import re
import sys
import tomllib
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO, Any

from babel.messages.extract import extract, extract_python
from babel.messages.pofile import normalize

from ipclab.errors import LabError
from ipclab.lab import labels, prose
from ipclab.lab.catalogue import LANGUAGES, PACKAGE, SOURCE, Catalogue, catalogue_path
from ipclab.lab.parameters import read_notebook
from ipclab.paths import Paths, checkout
from ipclab.store.files import write_whole
from ipclab.studies.multiplexer import NODES

MAGIC = "%%prose"
LABELS = "labels.toml"  # the package's words by name; those of its table `plain` are not translated
CLAIMS = "claims"  # the catalogue of what the texts' files of claims say
SAID = (
    "title",
    "meaning",
    "unstated",
    "untestable",
    "adds",
    "by",
    "own",
    "here",
)  # the keys there that are msgids
# What may carry a digit in prose; and by language what a translation may not hold, with what is then said.
RULES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
ALLOWED = re.compile(RULES.pop("allowed"), re.VERBOSE)
_LINK_TARGET = re.compile(r"(?<=\])\([^)\s]*\)")
NO_WORDS = "no words"  # a comment on what stands in prose and is no msgid: it holds only values
_CAPTION = re.compile(r": .*\{#(?P<address>[\w-]+)\}")  # of a table in prose
TITLED = {
    "figure": 1,
    "table": 1,
    "set_title": 0,
    "set_xlabel": 0,
    "set_ylabel": 0,
}  # the place of what is translated
GIVEN = {"figure": {"title", "alt", "names"}, "table": {"caption", "notes", "empty", "names"}}
LABELLED = {
    "label",
    "xlabel",
    "ylabel",
}  # by matplotlib's functions, and by ours that take the same
Message = tuple[
    int, None, str, list[str]
]  # cell number, no function, msgid, comments: as Babel wants it
OTHERS = [lang for lang in LANGUAGES if lang != SOURCE]


@dataclass(frozen=True)
class Sources:
    """Where words come from: the packages' Python files and the notebooks; `locale` holds the catalogues.

    A person's own notebooks (in `own`) are printed as they are written where no catalogue has their name.
    """

    packages: tuple[Path, ...] = Paths.packages
    notebooks: Path = field(default_factory=lambda: checkout().notebooks)
    locale: Path = Paths.locale
    own: Path = field(default_factory=lambda: checkout().own)

    def files(self) -> list[Path]:
        """Return all files that words are taken from, in a fixed order."""
        claims = sorted((self.notebooks.parent / "data" / "published").glob("*.toml"))
        words = [
            sorted(package.rglob(name))
            for package in self.packages
            for name in ("*.py", LABELS, "facts.csv")
        ]
        own = [
            file
            for file in sorted(self.own.glob("*.ipynb"))
            if any(self.locale.glob(f"*/*/{file.stem}.po"))
        ]
        return [*chain.from_iterable(words), *sorted(self.notebooks.glob("*.ipynb")), *own, *claims]

    def domain(self, file: Path) -> str:
        """Return the name of the catalogue that holds the words of `file`: of its package, notebook or the claims."""
        for package in self.packages:
            if file.is_relative_to(package):
                return package.name
        return file.stem if file.suffix == ".ipynb" else CLAIMS


def extract_notebook(
    file: IO[bytes], keywords: Any, comment_tags: Any, options: Any
) -> Iterator[Message]:
    """Yield a message for each msgid in a notebook's code, then for each block of its prose: a Babel extractor.

    In code these are what stands in `_()`, and what is given to `lab.figure` and `lab.table` to be translated there.
    """
    blocks: list[Message] = []
    given = Given()
    for number, cell in enumerate(json.load(file)["cells"]):
        source = "".join(cell["source"])
        magic, _, text = source.partition("\n")
        if cell["cell_type"] != "code":
            continue
        if magic.strip() == MAGIC:
            blocks += [
                (number, None, block, [] if needs_words(block) else [NO_WORDS])
                for block in prose.split(text)
            ]
            continue
        messages = extract_python(io.BytesIO(source.encode()), keywords, comment_tags, options)
        yield from ((number, None, str(message), []) for _, _, message, _ in messages)
        yield from (
            (number, None, message, []) for message in given.words(source) if needs_words(message)
        )
    yield from blocks


class Given:
    """What a notebook's cells give to figures and tables to be translated: texts, and variables that hold texts."""

    def __init__(self) -> None:
        self.variables: dict[str, ast.expr] = {}

    def words(self, source: str) -> Iterator[str]:
        """Yield the texts that one cell gives, after those before it."""
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Assign):
                self.variables |= dict(_assigned(node.targets[0], node.value))
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call):
                for expression in self._given(node):
                    yield from self._texts(expression)

    def _given(self, call: ast.Call) -> Iterator[ast.expr]:
        """Yield what a call is given to be translated."""
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        yield from call.args[TITLED.get(name, len(call.args)) :][:1]
        given = GIVEN.get(name, LABELLED)
        for keyword in call.keywords:
            if keyword.arg in given:
                yield keyword.value
            elif keyword.arg is None and isinstance(keyword.value, ast.Name):
                yield from self._spread(keyword.value.id, given)

    def _spread(self, name: str, given: Set[str]) -> Iterator[ast.expr]:
        """Yield what is given by a dictionary that a call spreads (`**layout`)."""
        match self.variables.get(name):
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and key.value in given:
                        yield value

    def _texts(self, expression: ast.expr) -> Iterator[str]:
        match expression:
            case ast.Constant(value=str(text)) if (
                text not in labels.LEVELS and text not in NODES
            ):  # these have words of their own
                yield text
            case ast.Name(id=name) if name in self.variables:
                yield from self._texts(
                    self.variables.pop(name)
                )  # once: a variable may stand in its own value
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Dict(values=parts):
                for part in parts:
                    yield from self._texts(part)
            case ast.Starred(value=ast.Name(id=name)) if isinstance(
                self.variables.get(name), ast.Dict
            ):
                for key in self.variables[name].keys:  # type: ignore[attr-defined]
                    yield from self._texts(key)
            case ast.Starred(value=part):
                yield from self._texts(part)
            case ast.BinOp(left=one, right=other) | ast.IfExp(body=one, orelse=other):
                yield from self._texts(one)
                yield from self._texts(other)


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield (name, expression) for what an assignment binds, one after the other where it binds several."""
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            for one_target, one_value in zip(targets, values, strict=True):
                yield from _assigned(one_target, one_value)


def extract_toml(file: IO[bytes], *_: Any, options: Any = None) -> Iterator[Message]:
    """Yield a message for each word of a file of labels, or of what a file of claims tells a reader."""
    content = tomllib.load(file)
    if "claim" not in content:
        yield from (
            (0, None, word, [])
            for name, words in content.items()
            if name != "plain"
            for word in words.values()
        )
        return
    claims = [{**claim, "own": ""} for claim in content["claim"]]  # there it is an expression
    tables = [content, *claims, *content.get("derived", []), *content.get("correction", [])]
    yield from ((0, None, table[key], []) for table in tables for key in SAID if table.get(key))


def extract_facts(file: IO[bytes], *_: Any, options: Any = None) -> Iterator[Message]:
    """Yield a message for each word that reports take from a table of facts: groups and labels."""
    rows = [
        row
        for row in csv.DictReader(io.TextIOWrapper(file, "utf-8"))
        if row["shown"] == "1" or row["affects"]
    ]
    yield from ((0, None, row["group"], []) for row in rows if row["shown"] == "1")
    yield from ((0, None, row["label"], []) for row in rows)


def title(notebook: Path, lang: str) -> str:
    """Return the title of a notebook's report in `lang`: the first heading of its prose, else its name."""
    heading = f"{MAGIC}\n# "
    sources = (cell["source"] for cell in read_notebook(notebook)["cells"])
    first = next(
        (source.removeprefix(heading) for source in sources if source.startswith(heading)),
        notebook.stem,
    )
    return Catalogue.load(lang).translate(first.split("\n")[0])


def needs_words(text: str) -> bool:
    """Tell whether a block has a letter outside its placeholders and the targets of its links."""
    return any(
        character.isalpha() for character in prose.PLACEHOLDER.sub("", _LINK_TARGET.sub("", text))
    )


METHODS: dict[str, Any] = {
    ".py": "python",
    ".ipynb": extract_notebook,
    ".toml": extract_toml,
    ".csv": extract_facts,
}


def _said(sources: Sources) -> Iterator[tuple[str, Path, bool]]:
    """Yield every text that is shown, its file, and whether it is a msgid, in the order of occurrence."""
    for path in sources.files():
        method: Any = METHODS[path.suffix]
        with path.open("rb") as file:
            messages = extract(method, file, {"_": None, "N_": None})
            yield from ((str(text), path, not comments) for _, text, comments, _ in messages)


def msgids(sources: Sources) -> dict[str, Path]:
    """Return every msgid with the file of its first occurrence, in the order of occurrence."""
    by_msgid: dict[str, Path] = {}
    for text, file, translated in _said(sources):
        if translated:
            by_msgid.setdefault(text, file)
    return by_msgid


def update(sources: Sources | None = None, only: str = "") -> dict[str, int]:
    """Rewrite the catalogues (of notebook `only`, if given) with today's msgids; return the untranslated per language.

    Translations are kept; entries have no line numbers or dates, so that a diff shows words only.
    """
    sources = sources or Sources()
    domains: dict[str, dict[str, str]] = {PACKAGE: {}}
    for msgid, file in msgids(sources).items():
        domains.setdefault(sources.domain(file), {})[msgid] = file.name
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
    problems = [
        f"{file.name}: {p}" for text, file, _ in dict.fromkeys(_said(sources)) for p in digits(text)
    ]
    for lang in OTHERS:
        words = Catalogue.load(lang, sources.locale).words
        problems += [
            f"{lang}: untranslated: {msgid[:60]!r}" for msgid in wanted if msgid not in words
        ]
        problems += [f"{lang}: obsolete: {msgid[:60]!r}" for msgid in words if msgid not in wanted]
        problems += [
            f"{lang}: {p}" for msgid, msgstr in words.items() for p in faults(lang, msgid, msgstr)
        ]
    return problems


def faults(lang: str, msgid: str, msgstr: str) -> list[str]:
    """Return what is wrong with one translation."""
    number = digits(msgstr)
    if prose.placeholders(msgid) != prose.placeholders(msgstr):
        number.append(f"other placeholders than the English: {msgstr[:60]!r}")
    if _caption(msgid) != _caption(msgstr):
        number.append(f"no caption of the English one's address: {msgstr[:60]!r}")
    shown, rules = _LINK_TARGET.sub("", msgstr), RULES.get(lang, {}).items()
    hits = ((said, bad) for pattern, said in rules if (bad := re.search(pattern, shown)))
    return number + [said.format(bad=bad[0], text=msgstr[:60]) for said, bad in hits]


def _caption(text: str) -> str:
    """Return the address of a table's caption (`: Title {#address}`); nothing for other text."""
    found = _CAPTION.fullmatch(text)
    return found["address"] if found else ""


def digits(text: str) -> list[str]:
    """Return a problem when `text` has a digit outside placeholders, link targets and allowed names."""
    rest = prose.PLACEHOLDER.sub("", re.sub(r"\[\^[\w-]+\]", "", _LINK_TARGET.sub("", text)))
    match = re.search(r"\S*\d\S*", ALLOWED.sub("", rest))
    return [f"a digit is typed into prose, {match[0]!r} in {text[:60]!r}"] if match else []


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
