"""The comparison as a report: the notebooks that take several runs, in each language and format, and a table."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ipclab.compare.held import held
from ipclab.compare.shared import points
from ipclab.measure.progress import Progress
from ipclab.paths import Paths
from ipclab.render.report import DATA, Job, Target, notebooks_of, run_jobs
from ipclab.render.staleness import write_manifest
from ipclab.store.files import write_whole
from ipclab.store.run import RunFolder

FOLDER = "machines"  # below the reports: a comparison does not overwrite what is known of one run
TABLE = "comparison.csv"


def report(
    paths: Paths, runs: Sequence[RunFolder], langs: Sequence[str], formats: Sequence[str], out: Path, progress: Progress
) -> tuple[pd.DataFrame, list[Path]]:
    """Render the comparison of `runs` below `out`/<lang> with its table; return that table and the files.

    Without `langs` there is the table alone. Raises `LabError` when a notebook fails, or when a run is not what was
    measured.
    """
    for run in runs:
        run.checked()
    found = points([held(run) for run in runs])
    rows = found.assign(
        levels=[" ".join(f"{name}={level}" for name, level in levels.items()) for levels in found.levels],
        launches=["/".join(map(str, pair)) if isinstance(pair, tuple) else "" for pair in found.launches],
    )
    return found, render(paths, runs, "runs", (FOLDER, TABLE, rows), langs, formats, out, progress)


def render(
    paths: Paths, runs: Sequence[RunFolder], parameter: str, table: tuple[str, str, pd.DataFrame], langs: Sequence[str],
    formats: Sequence[str], out: Path, progress: Progress,
) -> list[Path]:  # fmt: skip
    """Render the notebooks that take several `runs` by `parameter` below `out`/<lang>; return the files.

    `table` is the name of the report (also of a folder), the name of the CSV file beside it, and its rows.
    """
    kind, name, rows = table
    file = out / DATA / name
    write_whole(file, rows.to_csv(index=False, lineterminator="\n", float_format="%.4g").encode())
    if not langs:
        return [file]
    about: dict[str, Any] = {"date": max(run.about["begun"] for run in runs), "run": " ".join(run.id for run in runs)}
    about["attachments"] = {name: f"../{DATA}/{name}"}
    told, folder = {parameter: [str(run.path) for run in runs]}, paths.data / "executed" / kind
    jobs = [
        Job(notebook, lang, folder / lang / notebook.name, {**told, "lang": lang}, {**about, "lang": lang})
        for notebook in notebooks_of(paths, parameter)
        for lang in langs
    ]
    made = run_jobs([jobs], Target(tuple(formats), out, out / "figures"), progress)
    write_manifest(paths, runs, out, [*made, file])
    return [*made, file]
