"""A run whose every text is hostile: pages, tables and terminal show its letters, and nothing else."""

import csv
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup

from ipclab.errors import plain
from ipclab.machine.facts import FACTS
from ipclab.store.identity import AMOUNTS, Identity, Line, digest_of
from ipclab.store.record import Record
from ipclab.store.samples import Measured
from tests.store.test_contradictions import Change, forge, launches
from tests.store.test_text import HOSTILE
from tests.support import rendered
from tests.support.bundled import make_run
from tests.support.commands import Run, environment
from tests.support.few import some

TEXT = plain(HOSTILE)
# Nobody's number can be a text.
NUMBERS = {name for name, kind in Identity.__annotations__.items() if kind != Line | None}
NAMES = [fact.name for fact in FACTS if fact.name not in NUMBERS.union(AMOUNTS)]
SOMEWHERE = {TEXT: TEXT}
FEW = ("00_appendix",)  # with facts, labels and flags, in figures and tables


def of_run(place: str, told: dict[str, Any]) -> Change:
    return lambda run, _: run.about[place].update(told)


def of_machine(place: str, told: dict[str, Any]) -> Change:
    return lambda run, _: run.about["machine"][place].update(told)


FIELDS: dict[str, Change] = {
    **{f"fact {name}": of_machine("facts", {name: TEXT}) for name in NAMES},
    "another fact": of_machine("facts", SOMEWHERE),
    "reason": of_machine("reasons", dict.fromkeys(NAMES, TEXT) | SOMEWHERE),
    "note": of_run("notes", SOMEWHERE | {"round_trip": TEXT}),
    "failure": of_run("failures", SOMEWHERE),
    "not measured": of_run("points", SOMEWHERE),
    "backend": of_run("parameters", {"backends": ["unix", "tcp", TEXT]}),
    "level": of_run("parameters", {"levels": {TEXT: [TEXT]}}),
    "flag": launches(lambda each: each.flags.append(TEXT)),
    "launch": launches(lambda each: each.facts.update({"relation": TEXT, TEXT: TEXT})),
    "role": launches(lambda each: each.cpus.update({TEXT: [0]})),
    "counter": launches(lambda each: each.counters.update({"round-trip": {TEXT: 1.0}})),
}


def hostile(folder: Path, *changes: Change) -> Record:
    """Return a run with these changes, its machine's digest made to fit."""
    run = make_run(folder)

    def change(run: Record, points: list[Measured]) -> None:
        for each in changes:
            each(run, points)
        run.about["machine"]["digest"] = digest_of(run.facts)

    forge(run, change)
    return run


def active(page: Any) -> list[str]:
    """Return the attributes of a page that would run or load something."""
    found = [
        (name, str(value).strip().lower())
        for tag in page(True)
        for name, value in tag.attrs.items()
    ]
    leads = ("javascript:", "y", "x")  # of the text
    return [
        name
        for name, value in found
        if name.startswith("on") or (name in ("href", "src") and value.startswith(leads))
    ]


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("few", some([[*FEW], []], 2), ids=["few pages", "all pages"])
def test_a_hostile_text_in_every_field_is_letters_everywhere(
    ipclab: Run, tmp_path: Path, few: list[str]
) -> None:
    run = str(hostile(tmp_path / "run", *FIELDS.values()).path)
    out = tmp_path / "out"
    forms = "html" if few else "html,pdf"
    words = ("report", "--run", run, "--lang", "ko", "--format", forms, "--out", str(out))
    done = {
        "report": rendered.ipclab(*words, few=few, **environment(tmp_path)),
        "values": ipclab("values", run, "--study", "round_trip"),
        "runs": ipclab("runs"),
        "choose": ipclab("choose", "--run", run, "--way", "round-trip", "--size", "100"),
    }
    said = {name: each.stdout + each.stderr for name, each in done.items()}
    for name, each in done.items():
        assert each.returncode in (0, 1) and "Traceback" not in each.stderr, each.stderr
        assert "\x1b[31m" not in said[name] and "\u202e" not in said[name], name
    assert " reports failed" not in said["report"], said["report"]
    texts = {file.name: file.read_text("utf-8") for file in out.rglob("*.html")}
    assert len(texts) > len(FEW)
    assert any("alert(1)" in text for text in texts.values())
    for name, text in texts.items():
        page = BeautifulSoup(text, "html.parser")
        assert (active(page), len(page("script"))) == ([], 1), name  # which is ours
    tables = [file.read_text("utf-8") for file in out.rglob("*.csv")] + [said["values"]]
    cells = [cell for table in tables for row in csv.reader(table.splitlines()) for cell in row]
    assert [cell for cell in cells if cell.startswith(("=", "@", "\t"))] == []
