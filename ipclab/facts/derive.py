"""Reading a run's samples, and keeping the facts and tables that follow from them beside it."""

import csv
import hashlib
import io
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from ipclab.facts import comparisons, environment, limits, payload, round_trip
from ipclab.facts.comparisons import Contest, Entry, contests, entries, read_contests
from ipclab.facts.fact import Fact
from ipclab.facts.rows import COLUMNS, Rows, read_row, tidy
from ipclab.paths import Paths
from ipclab.runs.files import dump_json, sha256, write_whole
from ipclab.runs.folder import RunFolder
from ipclab.runs.samples import decode

FACTS, POINTS, CONTESTS = "facts.json", "tables/points.csv", "tables/comparisons.csv"
CODE = ("facts", "stats", "studies", "points.py", "runs/samples.py")  # what derived numbers depend on


def rows_of(run: RunFolder) -> tuple[Rows, list[Contest]]:
    """Return the tidy rows of a run and its contests, one point in memory at a time.

    Raises `LabError` when a file is not what was measured.
    """
    rows = Rows()
    found: list[Entry] = []
    for path in run.point_files():
        measured = decode(path)
        rows += tidy([measured])
        found += entries(measured)
    return rows, contests(found)


def facts_of(run: RunFolder, rows: Rows, found: list[Contest]) -> dict[str, Fact]:
    """Return every named fact of a run; what was not measured has no value."""
    every = (*environment.facts(run.about), *limits.facts(rows), *payload.facts(rows), *round_trip.facts(rows, found))
    return {fact.name: fact for fact in every}


def points_csv(rows: Rows) -> bytes:
    """Return `tables/points.csv`."""
    return _csv(COLUMNS, (row.cells() for row in rows))


def contests_csv(found: list[Contest]) -> bytes:
    """Return `tables/comparisons.csv`."""
    return _csv(comparisons.COLUMNS, (row for contest in found for row in contest.rows()))


def _csv(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode()


def code_digest(package: Path) -> str:
    """Return the digest of the code that derives facts and tables from samples."""
    files = sorted(file for name in CODE for file in _python_files(package / name))
    lines = "".join(f"{file.relative_to(package)} {sha256(file)}\n" for file in files)
    return hashlib.sha256(lines.encode()).hexdigest()


def _python_files(path: Path) -> list[Path]:
    return [path] if path.is_file() else list(path.rglob("*.py"))


def write_derived(run: RunFolder, paths: Paths, folder: Path | None = None) -> Path:
    """Write `facts.json` and `tables/points.csv` into `folder` (the run itself by default) and return the folder."""
    target = folder or run.path
    rows, found = rows_of(run)
    facts = {name: asdict(fact) for name, fact in facts_of(run, rows, found).items()}
    contents = {FACTS: dump_json(facts), POINTS: points_csv(rows), CONTESTS: contests_csv(found)}
    for name, content in contents.items():
        write_whole(target / name, content)
        if folder is None:
            run.about["files"][name] = sha256(target / name)
    if folder is None:
        run.about["impossible"] = list(limits.impossible(rows))
        run.about["derived_by"] = code_digest(paths.package)
    return target


def derived(run: RunFolder, paths: Paths) -> Path:
    """Return the folder that holds the run's facts and tables as today's code derives them.

    They lie in the run when the code is that which derived them; otherwise they are derived again, into the run when
    it was made in this checkout, else beside it in `data/.derived`, since a run of somebody else's is not altered.
    """
    code = code_digest(paths.package)
    names = [name for name in (FACTS, POINTS, CONTESTS) if (run.path / name).is_file()]
    intact = all(run.about["files"].get(name) == sha256(run.path / name) for name in names)
    if run.about.get("derived_by") == code and len(names) == 3 and intact:  # noqa: PLR2004
        return run.path
    if run.path.is_relative_to(paths.runs.resolve()):
        write_derived(run, paths)
        run.save()
        return run.path
    index = sha256(run.path / "run.json")
    aside = paths.data / ".derived" / f"{run.id}-{index[:8]}-{code[:8]}"
    return aside if (aside / POINTS).is_file() else write_derived(run, paths, aside)


def read_derived(folder: Path) -> tuple[dict[str, Fact], Rows, list[Contest]]:
    """Return the facts, the rows and the contests that `write_derived` wrote into `folder`."""
    facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    with (folder / POINTS).open(encoding="utf-8", newline="") as file:
        rows = Rows(read_row(cells) for cells in csv.DictReader(file))
    with (folder / CONTESTS).open(encoding="utf-8", newline="") as file:
        found = read_contests(csv.DictReader(file))
    return {name: Fact(**fact) for name, fact in facts.items()}, rows, found
