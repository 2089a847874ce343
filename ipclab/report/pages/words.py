"""The words of the lab: what is to be translated, its catalogues, and their gate.

The words of a package and those of a notebook are in a catalogue of its name. `python -m
ipclab.report.pages.words update` rewrites them, `... gate` prints what is wrong with them.
"""

import re
import sys
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import product
from pathlib import Path

from babel.messages.pofile import normalize

from ipclab.errors import LabError
from ipclab.lab.parameters import fault, read_notebook
from ipclab.paths import checkout, table_beside
from ipclab.report.pages.extraction import (
    LINK_TARGET,
    cell_markdown,
    of_code,
    of_facts,
    of_notebook,
    of_toml,
    title,
)
from ipclab.store.files import write_whole
from ipclab.words import filling
from ipclab.words.catalogue import LANGUAGES, LOCALE, PACKAGE, SOURCE, catalogue_path, translations
from ipclab.words.filling import placeholders
from ipclab.words.words import Words

PACKAGES = "ipclab", "ipclab_more"  # ours, where they are installed
TEXT = "text.toml"  # what a text did, beside its study
LABELS = "labels.toml"  # the package's words by name; those of its table `plain` are not translated
OBSOLETE = "obsolete:"  # how the gate names what nothing says
# What may carry a digit in prose; and by language what a translation may not hold, with what is
# then said.
RULES = table_beside(__file__, "words.toml")
ALLOWED = re.compile(RULES["allowed"], re.VERBOSE)
_CAPTION = re.compile(r"^: .*\{#([\w-]+)\}$")  # of a table in prose, and its address
_FOOTNOTE = re.compile(r"\[\^[\w-]+\]")
OTHERS = [lang for lang in LANGUAGES if lang != SOURCE]


def packages_with_words() -> tuple[Path, ...]:
    """Return the folders of our packages that are installed."""
    specs = [find_spec(name) for name in PACKAGES]
    return tuple(Path(spec.origin).parent for spec in specs if spec and spec.origin)


@dataclass(frozen=True)
class Sources:
    """Where words come from: Python files and notebooks; `locale` holds the catalogues.

    A person's own notebooks (in `own`) are printed as they are written where no catalogue has their
    name.
    """

    packages: tuple[Path, ...] = field(default_factory=packages_with_words)
    notebooks: Path = field(default_factory=lambda: checkout().notebooks)
    locale: Path = LOCALE
    own: Path = field(default_factory=lambda: checkout().own)

    def files(self) -> list[Path]:
        """Return all files that words are taken from, in a fixed order."""
        files: list[Path] = []
        for package, name in product(self.packages, ("*.py", TEXT, LABELS, "facts.csv")):
            files += sorted(package.rglob(name))
        notebooks = sorted(self.notebooks.glob("*.ipynb"))
        files += [file for file in notebooks if not fault(file)]  # a stray one has no page
        own = sorted(self.own.glob("*.ipynb"))
        return files + [file for file in own if any(self.locale.glob(f"*/*/{file.stem}.po"))]

    def domain(self, file: Path) -> str:
        """Return the catalogue with the words of `file`: a package's or a notebook's."""
        for package in self.packages:
            if file.is_relative_to(package):
                return package.name
        return file.stem


def report_title(notebook: Path, lang: str) -> str:
    """Return a report's title in `lang`: the notebook's first heading, else its name."""
    titles = [title(cell_markdown(cell) or "") for cell in read_notebook(notebook)["cells"]]
    first = next(filter(None, titles), notebook.stem)
    return Words.load(lang).translate(first.removeprefix("# "))


EXTRACTORS = {".py": of_code, ".ipynb": of_notebook, ".toml": of_toml, ".csv": of_facts}


def msgids(sources: Sources) -> dict[str, list[Path]]:
    """Return every msgid with the files that hold it, both in the order of occurrence."""
    by_msgid: dict[str, dict[Path, None]] = {}
    for path in sources.files():
        with path.open("rb") as file:
            for text in filter(None, EXTRACTORS[path.suffix](file)):
                by_msgid.setdefault(text, {})[path] = None
    return {msgid: list(files) for msgid, files in by_msgid.items()}


def update(sources: Sources | None = None) -> dict[str, int]:
    """Rewrite catalogues with today's msgids; return how many are untranslated, by language.

    Translations are kept; entries have no line numbers or dates, so that a diff shows words only.
    A msgid of several files is in the catalogue of the first, and names all: its one translation
    must fit each.
    """
    sources = sources or Sources()
    domains: dict[str, dict[str, str]] = {PACKAGE: {}}
    for msgid, files in msgids(sources).items():
        names = " ".join(file.name for file in files)
        domains.setdefault(sources.domain(files[0]), {})[msgid] = names
    missing: dict[str, int] = {}
    for lang in OTHERS:
        folder = catalogue_path(lang, sources.locale).parent
        old = translations(lang, sources.locale) if any(folder.glob("*.po")) else {}
        for domain, wanted in domains.items():
            write_whole(folder / f"{domain}.po", _po(lang, wanted, old).encode())
        missing[lang] = sum(len(wanted.keys() - old.keys()) for wanted in domains.values())
        for file in folder.glob("*.po"):
            if file.stem not in domains:
                file.unlink()
    return missing


def gate(sources: Sources | None = None) -> list[str]:
    """Return what is wrong with words and catalogues, one line each; nothing if fit."""
    sources = sources or Sources()
    wanted = msgids(sources)
    problems = []
    for msgid, files in wanted.items():
        problems += [f"{file.name}: {said}" for file in files for said in digits(msgid)]
    for lang in OTHERS:
        words = translations(lang, sources.locale)
        lines = [f"untranslated: {msgid[:60]!r}" for msgid in wanted if msgid not in words]
        lines += [f"{OBSOLETE} {msgid[:60]!r}" for msgid in words if msgid not in wanted]
        for msgid, msgstr in words.items():
            lines += translation_faults(lang, msgid, msgstr)
        problems += [f"{lang}: {line}" for line in lines]
    return problems


def translation_faults(lang: str, msgid: str, msgstr: str) -> list[str]:
    """Return what is wrong with one translation."""
    problems = digits(msgstr)
    if placeholders(msgid) != placeholders(msgstr):
        problems.append(f"other placeholders than the English: {msgstr[:60]!r}")
    if _CAPTION.findall(msgid) != _CAPTION.findall(msgstr):
        problems.append(f"no caption of the English one's address: {msgstr[:60]!r}")
    shown = LINK_TARGET.sub("", msgstr)
    for pattern, said in RULES.get(lang, {}).items():
        if bad := re.search(pattern, shown):
            problems.append(said.format(bad=bad[0], text=msgstr[:60]))
    return problems


def digits(text: str) -> list[str]:
    """Return a problem if `text` has a digit outside placeholders, links, allowed names."""
    rest = text
    for free in (LINK_TARGET, _FOOTNOTE, filling.PLACEHOLDER, ALLOWED):
        rest = free.sub("", rest)
    word = re.search(r"\S*\d\S*", rest)
    return [f"a digit is typed into prose, {word[0]!r} in {text[:60]!r}"] if word else []


def _po(lang: str, wanted: dict[str, str], old: dict[str, str]) -> str:
    header = f"Language: {lang}\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"
    entries = [f"msgid {normalize('')}\nmsgstr {normalize(header)}\n"]
    for msgid, names in wanted.items():
        english, other = (normalize(text, width=100) for text in (msgid, old.get(msgid, "")))
        entries.append(f"#: {names}\nmsgid {english}\nmsgstr {other}\n")
    return "\n".join(entries)


def main(verb: str = "") -> int:
    """Run `update` or `gate`; 0 when nothing is missing or wrong."""
    if verb == "update":
        lines = [f"{lang}: {count} untranslated" for lang, count in update().items()]
    elif verb == "gate":
        lines = gate()
    else:
        lines = ["usage: python -m ipclab.report.pages.words update | gate"]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return int(verb != "update" and bool(lines))


if __name__ == "__main__":
    try:
        raise SystemExit(main(*sys.argv[1:]))
    except LabError as error:
        raise SystemExit(str(error)) from error
