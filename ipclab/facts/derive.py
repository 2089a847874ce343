"""Reading a run's samples, and writing the facts and tables that follow from them."""

import csv
import io
from dataclasses import asdict
from pathlib import Path

from ipclab.facts import payload
from ipclab.facts.fact import Fact
from ipclab.facts.rows import COLUMNS, Rows, tidy
from ipclab.runs.files import dump_json, sha256, write_whole
from ipclab.runs.folder import RunFolder
from ipclab.runs.samples import decode


def rows_of(run: RunFolder) -> Rows:
    """Return the tidy rows of a run; raises `LabError` when a file is not what was measured."""
    return tidy(decode(path) for path in run.point_files())


def facts_of(run: RunFolder, rows: Rows) -> dict[str, Fact]:
    """Return every named fact of a run; what was not measured has no value."""
    return {fact.name: fact for fact in payload.facts(rows)}


def points_csv(rows: Rows) -> bytes:
    """Return `tables/points.csv`."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(row.cells() for row in rows)
    return text.getvalue().encode()


def write_derived(run: RunFolder) -> None:
    """Write `facts.json` and `tables/points.csv` into the run, with their digests in `run.json`."""
    rows = rows_of(run)
    facts = {name: asdict(fact) for name, fact in facts_of(run, rows).items()}
    for name, content in (("facts.json", dump_json(facts)), ("tables/points.csv", points_csv(rows))):
        path: Path = run.path / name
        if not path.is_file() or path.read_bytes() != content:
            write_whole(path, content)
        run.about["files"][name] = sha256(path)
