"""The comparison as a report: the notebooks that take several runs, in each language and format."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from ipclab.compare.compared import Compared, compare
from ipclab.machines.lab import data, table_of
from ipclab.paths import Paths
from ipclab.render.report import Job, notebooks_of, render_job, run_jobs
from ipclab.measure.progress import Progress
from ipclab.store.run import RunFolder
from ipclab.render.staleness import write_manifest

FOLDER = "machines"  # below the reports: a comparison does not overwrite what is known of one run
TABLE = "comparison.csv"


def report(
    paths: Paths, runs: Sequence[RunFolder], langs: Sequence[str], formats: Sequence[str], out: Path, progress: Progress
) -> tuple[Compared, list[Path]]:
    """Render the comparison of `runs` below `out`/<lang>, its table beside; return it and the files.

    Raises `UsageError` for runs that cannot be compared and `LabError` when a notebook fails.
    """
    compared = compare([data(run, paths) for run in runs])
    jobs = [Job(notebook, lang) for notebook in notebooks_of(paths, "runs") for lang in langs]
    values = {"runs": [str(run.path) for run in runs]}
    with tempfile.TemporaryDirectory(prefix="ipclab-compare-") as folder:
        table = Path(folder) / TABLE
        table.write_text(table_of(compared), encoding="utf-8")
        date = max(run.about["begun"] for run in runs)
        about = {"date": date, "run": " ".join(run.id for run in runs), "attachments": {TABLE: str(table)}}
        made = run_jobs(jobs, lambda job: render_job(job, values, about, formats, out), out / "figures", progress)
    write_manifest(paths, runs, out, made)
    return compared, made


def summary(compared: Compared) -> list[str]:
    """Return a line for each pair of runs: how many points have each verdict."""
    lines = []
    for pair in compared.pairings:
        counts = ", ".join(f"{count} {verdict}" for verdict, count in pair.counts().items())
        lines.append(f"{pair.second.id} over {pair.first.id}: {counts}; {len(pair.unshared)} in one of them only")
    return lines
