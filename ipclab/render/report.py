"""Reports: every notebook in every language, executed once and rendered to HTML and PDF, with a manifest."""

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ipclab.claims.custom import read_claims
from ipclab.errors import LabError, UsageError
from ipclab.facts.derive import FACTS, POINTS, derived
from ipclab.notebook import FIGURES, known_facts
from ipclab.paths import Paths
from ipclab.render import words
from ipclab.lab.catalogue import LANGUAGES
from ipclab.lab.execute import execute
from ipclab.report.forks import DERIVED
from ipclab.lab.parameters import read as parameters_of
from ipclab.report.render import render
from ipclab.measure.progress import Progress
from ipclab.store.files import write_whole
from ipclab.store.run import RunFolder
from ipclab.render.staleness import current, write_manifest

FORMATS = ("html", "pdf", "ipynb")
TIMEOUT_S = 300.0
APPENDIX = "00_appendix"


@dataclass(frozen=True)
class Job:
    """One notebook in one language."""

    notebook: Path
    lang: str


def report(  # what a report is made of is named here one by one
    paths: Paths,
    run: RunFolder,
    langs: Sequence[str],
    formats: Sequence[str],
    out: Path,
    progress: Progress,
    claims: Path | None = None,
) -> list[Path]:
    """Render `run` in `langs` as `formats` below `out`/<lang> and return the files; those that are current are left.

    `claims` is a TOML file of a person's own claims. Raises `LabError` when a notebook fails, no file is then
    half-written, and `UsageError` for claims that cannot be judged, before a notebook runs.
    """
    data = derived(run, paths)
    if claims:
        claims = claims.resolve()
        read_claims(claims, known_facts(run, paths))
    # The appendix comes last: it repeats figures of the others, which are then drawn already.
    notebooks = sorted(notebooks_of(paths, "run"), key=lambda file: (file.stem == APPENDIX, file.stem))
    jobs = [Job(notebook, lang) for notebook in notebooks for lang in langs]
    figures = paths.figures if out == paths.reports else out / "figures"
    wanted = [file for job in jobs for file in _files(job, formats, out)]
    if current(paths, [run], out, wanted, claims):
        progress.say("the reports are what data, code, words and lock give: nothing to render")
        return wanted
    os.environ[DERIVED] = str(data)
    try:
        made = run_jobs(jobs, lambda job: _one(job, run, data, formats, out, claims), figures, progress)
    finally:
        del os.environ[DERIVED]
    write_manifest(paths, [run], out, made, claims)
    return made


def notebooks_of(paths: Paths, parameter: str) -> list[Path]:
    """Return the numbered notebooks that take `parameter`: `run` those of one run, `runs` those of several."""
    return [file for file in sorted(paths.notebooks.glob("[0-9]*.ipynb")) if parameter in parameters_of(file)]


def run_jobs(jobs: Sequence[Job], one: Callable[[Job], list[Path]], figures: Path, progress: Progress) -> list[Path]:
    """Return the files that `one` makes of each job, some at the same time; their figures go into `figures`.

    Raises `LabError` with all errors once every job has ended.
    """
    progress.start("report", len(jobs))

    def work(job: Job) -> list[Path] | LabError:
        try:
            return one(job)
        except LabError as error:
            return error
        finally:
            progress.step()

    with tempfile.TemporaryDirectory(prefix="ipclab-figures-") as drawn:
        os.environ[FIGURES] = drawn
        try:
            with ThreadPoolExecutor(min(len(jobs), os.cpu_count() or 1)) as pool:
                results = list(pool.map(work, jobs))
        finally:
            del os.environ[FIGURES]
            progress.end()
        for file in sorted(Path(drawn).iterdir()):
            write_whole(figures / file.name, file.read_bytes())
    errors = [result for result in results if isinstance(result, LabError)]
    if errors:
        raise LabError(f"{len(errors)} of {len(jobs)} reports failed", " | ".join(map(str, errors)))
    return [file for result in results if isinstance(result, list) for file in result]


def check_names(langs: Sequence[str], formats: Sequence[str]) -> None:
    """Raise `UsageError` for an unknown language or format."""
    _check(langs, LANGUAGES, "language")
    _check(formats, FORMATS, "format")


def _check(asked: Sequence[str], known: Sequence[str], what: str) -> None:
    for name in asked:
        if name not in known:
            raise UsageError(f"no {what} {name!r}", "", f"there are {', '.join(known)}")


def check_words(langs: Sequence[str]) -> None:
    """Raise `LabError` for words not fit to print: untranslated, a digit typed into prose, a placeholder lost."""
    others = tuple(f"{lang}:" for lang in LANGUAGES if lang not in langs)
    problems = [line for line in words.gate() if not line.startswith(others)]
    if problems:
        fix = "fix them, then: python -m ipclab.render.words gate"
        raise LabError(f"{len(problems)} problems in the words", problems[0], fix)


def _files(job: Job, formats: Sequence[str], out: Path) -> list[Path]:
    return [out / job.lang / f"{job.notebook.stem}.{fmt}" for fmt in formats]


def _one(job: Job, run: RunFolder, data: Path, formats: Sequence[str], out: Path, claims: Path | None) -> list[Path]:
    attachments = {"points.csv": str(data / POINTS), "facts.json": str(data / FACTS)}
    about = {"date": run.about["begun"], "run": run.id, "attachments": attachments}
    parameters = {"run": str(run.path)}
    if claims and "claims" in parameters_of(job.notebook):
        parameters["claims"] = str(claims)
    return render_job(job, parameters, about, formats, out)


def render_job(
    job: Job, values: Mapping[str, Any], metadata: Mapping[str, Any], formats: Sequence[str], out: Path
) -> list[Path]:
    """Execute a job's notebook with the parameters `values` and its language; return its files below `out`/<lang>."""
    name = job.notebook.stem
    about, parameters = {"lang": job.lang, **metadata}, {"lang": job.lang, **values}
    with tempfile.TemporaryDirectory(prefix="ipclab-report-") as folder:
        executed = Path(folder) / f"{name}.ipynb"
        execute(job.notebook, parameters, executed, timeout_s=TIMEOUT_S, metadata=about)
        files = _files(job, formats, out)
        for fmt, file in zip(formats, files, strict=True):
            render(executed, fmt, file)  # type: ignore[arg-type]
        return files
