"""Reading a run's samples, and keeping the facts and tables that follow from them beside it."""

import csv
import hashlib
import io
import json
import multiprocessing
import os
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path

from ipclab.facts import comparisons, environment, file_io, limits, multiplexer, payload, round_trip, shared_dict
from ipclab.facts.comparisons import Contest, Entry, contests, entries, read_contests
from ipclab.facts.fact import Fact
from ipclab.facts.launches import Medians, launches_table, medians, read_medians
from ipclab.facts.rows import COLUMNS, Rows, read_row, tidy
from ipclab.facts.summaries import SUMMARIES, summaries
from ipclab.paths import Paths
from ipclab.runs.files import dump_json, sha256, write_whole
from ipclab.runs.folder import RunFolder
from ipclab.runs.samples import decode

FACTS, POINTS, CONTESTS = "facts.json", "tables/points.csv", "tables/comparisons.csv"
LAUNCHES = "tables/launches.csv"
# What derived numbers depend on.
CODE = ("facts", "stats", "studies", "points.py", "runs/samples.py", "runs/migration.py")


def rows_of(run: RunFolder) -> tuple[Rows, list[Contest], list[Medians]]:
    """Return the tidy rows of a run, its contests and its launch medians.

    A process for each CPU holds one point's samples at a time. Raises `LabError` when a file is not what was measured.
    """
    rows = Rows()
    found: list[Entry] = []
    launches: list[Medians] = []
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), multiprocessing.get_context("fork")) as pool:
        for mine, taking_part, known in pool.map(_rows_of_point, run.point_files()):
            rows += mine
            found += taking_part
            launches += known
    return rows, contests(found), launches


def _rows_of_point(path: Path) -> tuple[Rows, list[Entry], list[Medians]]:
    measured = decode(path)
    return tidy([measured]), list(entries(measured)), list(medians(measured))


def facts_of(run: RunFolder, rows: Rows, found: list[Contest]) -> dict[str, Fact]:
    """Return every named fact of a run; what was not measured has no value."""
    every = (
        *(*environment.facts(run.about), *limits.facts(rows)),
        *(*payload.facts(rows), *round_trip.facts(rows, found), *shared_dict.facts(rows, found)),
        *(*file_io.facts(rows, found, run.about), *multiplexer.facts(rows, found)),
    )
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
    """Write `facts.json` and the tables into `folder` (the run itself by default) and return the folder."""
    target = folder or run.path
    rows, found, launches = rows_of(run)
    facts = {name: asdict(fact) for name, fact in facts_of(run, rows, found).items()}
    contents = {FACTS: dump_json(facts), POINTS: points_csv(rows), CONTESTS: contests_csv(found)}
    contents |= {name: _csv(*content) for name, content in summaries(rows).items()}
    contents[LAUNCHES] = launches_table(launches).encode()
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
    names = (FACTS, POINTS, CONTESTS, LAUNCHES, *SUMMARIES)
    files = [(run.path / name, run.about["files"].get(name)) for name in names]
    intact = all(file.is_file() and sha256(file) == digest for file, digest in files)
    if run.about.get("derived_by") == code and intact:
        return run.path
    if run.path.is_relative_to(paths.runs.resolve()):
        write_derived(run, paths)
        run.save()
        return run.path
    index = sha256(run.path / "run.json")
    aside = paths.data / ".derived" / f"{run.id}-{index[:8]}-{code[:8]}"
    return aside if (aside / LAUNCHES).is_file() else write_derived(run, paths, aside)


def read_derived(folder: Path) -> tuple[dict[str, Fact], Rows, list[Contest]]:
    """Return the facts, the rows and the contests that `write_derived` wrote into `folder`; they are read once."""
    return _read_derived(folder, (folder / POINTS).stat().st_mtime_ns)


@lru_cache(maxsize=2)
def _read_derived(folder: Path, _changed: int) -> tuple[dict[str, Fact], Rows, list[Contest]]:
    facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
    with (folder / POINTS).open(encoding="utf-8", newline="") as file:
        rows = Rows(read_row(cells) for cells in csv.DictReader(file))
    with (folder / CONTESTS).open(encoding="utf-8", newline="") as file:
        found = read_contests(csv.DictReader(file))
    return {name: Fact(**fact) for name, fact in facts.items()}, rows, found


def read_launches(folder: Path) -> list[Medians]:
    """Return the launch medians that `write_derived` wrote into `folder`."""
    with (folder / LAUNCHES).open(encoding="utf-8", newline="") as file:
        return read_medians(csv.DictReader(file))
