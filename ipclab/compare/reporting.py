"""The comparison as a report: the notebooks that take several runs, in each language and format, and a table."""

import os
from collections.abc import Sequence
from pathlib import Path

from ipclab.compare.held import held
from ipclab.compare.shared import points, summary
from ipclab.measure.progress import Progress
from ipclab.paths import Paths
from ipclab.render.report import DATA, ENVIRONMENT, Job, notebooks_of, run_jobs
from ipclab.render.staleness import write_manifest
from ipclab.store.files import write_whole
from ipclab.store.run import RunFolder

FOLDER = "machines"  # below the reports: a comparison does not overwrite what is known of one run
TABLE = "comparison.csv"


def report(
    paths: Paths, runs: Sequence[RunFolder], langs: Sequence[str], formats: Sequence[str], out: Path, progress: Progress
) -> tuple[list[str], list[Path]]:
    """Render the comparison of `runs` below `out`/<lang> with its table; return a line for each pair, and the files.

    Raises `LabError` when a notebook fails, or when a run is not what was measured.
    """
    for run in runs:
        run.checked()
    os.environ.update(ENVIRONMENT)
    found = points([held(run) for run in runs])
    table = out / DATA / TABLE
    told = found.assign(
        levels=[" ".join(f"{name}={level}" for name, level in levels.items()) for levels in found.levels],
        launches=["/".join(map(str, pair)) if isinstance(pair, tuple) else "" for pair in found.launches],
    )
    write_whole(table, told.to_csv(index=False, lineterminator="\n", float_format="%.4g").encode())
    about = {"date": max(run.about["begun"] for run in runs), "run": " ".join(run.id for run in runs)}
    about |= {"attachments": {TABLE: f"../{DATA}/{TABLE}"}}
    parameters = {"runs": [str(run.path) for run in runs]}
    jobs = [
        Job(
            *(notebook, lang, paths.data / "executed" / FOLDER / lang / f"{notebook.stem}.ipynb"),
            *({**parameters, "lang": lang}, {**about, "lang": lang}, str(out / "figures")),
        )
        for notebook in notebooks_of(paths, "runs")
        for lang in langs
    ]
    made = run_jobs([jobs], formats, out, progress)
    write_manifest(paths, runs, out, [*made, table])
    return summary(found), made
