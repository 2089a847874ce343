"""Notebooks executed by papermill once, and exported in each language, several at a time."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from ipclab.errors import LabError
from ipclab.lab.parameters import declared
from ipclab.paths import checkout
from ipclab.report.notebooks import quotes
from ipclab.report.pages import processes
from ipclab.report.pages.document import read_document
from ipclab.report.pages.index import Entry, entry
from ipclab.session.progress import Progress
from ipclab.store.files import write_whole
from ipclab.words.catalogue import LANGUAGES, SOURCE

EXPORTERS = {"html": "ipclabhtml", "pdf": "typstpdf"}
# What would make equal reports differ from one machine or one shell to the next.
ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONUTF8": "1",
    "PYTHONHASHSEED": "0",
}
_QUOTED = re.compile(r'lab\.quoted\(\\?"(\w+)')  # the notebooks that one quotes, in its JSON


@dataclass(frozen=True)
class Job:
    """One notebook, executed once for the readers of all languages.

    `about` is what exporters are told by language.
    """

    notebook: Path
    executed: Path
    parameters: Mapping[str, Any]
    about: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Target:
    """What is made of jobs and where: files of `formats` below `out`/<lang>, and figures."""

    formats: Sequence[str]
    out: Path
    figures: Path

    def files(self, notebook: Path, lang: str) -> list[Path]:
        """Return the files that are made of a notebook in one language."""
        return [self.out / lang / f"{notebook.stem}.{fmt}" for fmt in self.formats]


@dataclass
class Made:
    """What was made of jobs: files in the jobs' order, what the first pages say of each report.

    `entries` are by language and notebook; `errors` say what failed, `asides` what is no content:
    warnings, and what no page can show, each with its cell.
    """

    files: list[Path] = field(default_factory=list)
    entries: dict[str, dict[str, Entry]] = field(default_factory=dict)
    errors: list[LabError] = field(default_factory=list)
    asides: list[str] = field(default_factory=list)


class _Page(NamedTuple):
    """One report in one language, as a process returns it."""

    files: list[Path]
    entry: Entry | None
    asides: list[str]


def run_jobs(jobs: Sequence[Job], target: Target, progress: Progress) -> Made:
    """Execute jobs and export them in each language, some at the same time; say what is aside.

    No job keeps another one from its pages: what failed is returned.
    """
    os.environ.update(ENVIRONMENT)
    count = sum(len(job.about) for job in jobs)
    progress.start("report", len(jobs) + count, "notebook or page")
    try:
        with processes.pool(count, target.figures) as pool:
            results = _results(pool, jobs, target, progress)
    finally:
        progress.end()
    made = _made(jobs, results)
    for line in made.asides:
        progress.say(line)
    return made


def _results(
    pool: Executor, jobs: Sequence[Job], target: Target, progress: Progress
) -> dict[tuple[int, str], Any]:
    """Return what each job's execution ("") and its pages (by language) gave, by job's place.

    A notebook that quotes another waits until that one is executed; long ones begin first.
    """
    results: dict[tuple[int, str], Any] = {}
    running: dict[Future[Any], tuple[int, str]] = {}
    waiting = _waiting(jobs)

    def begin_ready() -> None:
        done = {place for place, lang in results if not lang}
        for place in [each for each, needed in waiting.items() if needed <= done]:
            del waiting[place]
            running[pool.submit(_execute, jobs[place])] = place, ""

    begin_ready()
    while running:
        ended, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in ended:
            place, lang = running.pop(future)
            results[place, lang] = result = future.result()
            progress.step()
            if lang:
                continue
            if isinstance(result, LabError):
                for _ in jobs[place].about:
                    progress.step()
            else:
                for each in jobs[place].about:
                    running[pool.submit(_export, jobs[place], each, target)] = place, each
        begin_ready()
    return results


def _made(jobs: Sequence[Job], results: Mapping[tuple[int, str], Any]) -> Made:
    made = Made()
    for lang in dict.fromkeys(lang for job in jobs for lang in job.about):
        made.entries[lang] = {}
    for place, job in enumerate(jobs):
        for lang in ("", *job.about):
            match results.get((place, lang)):
                case LabError() as error:
                    made.errors.append(error)
                case _Page(files, found, asides):
                    made.files += files
                    made.asides += asides
                    if found:
                        made.entries[lang][job.notebook.stem] = found
                case [*asides]:
                    made.asides += asides
    made.asides = list(dict.fromkeys(made.asides))  # alike in all languages once
    return made


def _waiting(jobs: Sequence[Job]) -> dict[int, set[int]]:
    """Return jobs' places, those that take longest first, with those that each has to wait for."""
    places = {job.notebook.stem: place for place, job in enumerate(jobs)}
    size = {place: job.notebook.stat().st_size for place, job in enumerate(jobs)}
    waiting = {}
    for place in sorted(size, key=size.__getitem__, reverse=True):
        quoted = _QUOTED.findall(jobs[place].notebook.read_text("utf-8", "replace"))
        waiting[place] = {places[name] for name in quoted if name in places} - {place}
    return waiting


def refuse(errors: Sequence[LabError]) -> None:
    """Raise `LabError` that names all errors, where there are any."""
    if errors:
        said = dict.fromkeys(map(str, errors))  # one that is alike in all languages once
        raise LabError(f"{len(errors)} reports failed", " | ".join(said))


def _execute(job: Job) -> list[str] | LabError:
    """Execute a job's notebook; return what it wrote to stderr, or an error."""
    from ipclab.report.notebooks.execute import execute

    try:
        lang = declared(job.notebook).get("lang")
        given = {}
        if lang and str(lang.default or SOURCE).split(",")[0] in LANGUAGES:  # not one of its own
            given["lang"] = ",".join(spoken_in(job.about))
        asides = execute(
            job.notebook,
            {**job.parameters, **given},
            job.executed,
            timeout_s=quotes.TIMEOUT_S,
            kernel=processes.kernel(),
        )
        if job.notebook.parent == checkout().own:
            processes.kernel().end()  # what a person's own notebook changes reaches no other one
    except LabError as error:
        return error
    except Exception as error:
        return _failed(job, error)
    return asides


def _export(job: Job, lang: str, target: Target) -> _Page | LabError:
    """Make the files of a job in one language."""
    from ipclab.report.notebooks.nb import nbformat
    from ipclab.report.pages.localised import localised

    files = target.files(job.notebook, lang)
    try:
        notebook = nbformat.read(job.executed, as_version=4)  # type: ignore[no-untyped-call]
        notebook.metadata["ipclab"] = {**job.about[lang], "lang": lang}
        folder = files[0].parent  # what is attached is named from there
        folder.mkdir(parents=True, exist_ok=True)
        if set(target.formats) == {"ipynb"}:
            write_whole(files[0], nbformat.writes(localised(notebook, lang)).encode())  # type: ignore[no-untyped-call]
            return _Page(files, None, [])
        document = read_document(
            notebook, folder, name=job.notebook.stem, beside=job.notebook.parent
        )
        found = entry(document, f"{quote(job.notebook.stem)}.html")
        for fmt, file in sorted(zip(target.formats, files, strict=True)):
            if fmt == "ipynb":
                content = nbformat.writes(localised(notebook, lang)).encode()  # type: ignore[no-untyped-call]
            else:
                made = _exporter(fmt).convert(document)
                content = made.encode() if isinstance(made, str) else made
            write_whole(file, content)
        lost = [f"{job.notebook.name}: {line}" for line in document.lost]
    except LabError as error:
        return LabError(f"{job.notebook.name}: {error.what}", error.why, error.fix)
    except Exception as error:
        return _failed(job, error)
    return _Page(files, found, lost)


def spoken_in(langs: Iterable[str]) -> list[str]:
    """Return the languages in which a notebook is executed: English first, which is the source."""
    return list(dict.fromkeys([SOURCE, *langs]))


@cache
def _exporter(fmt: str) -> Any:
    """Return nbconvert's exporter for a format."""
    from nbconvert.exporters import get_exporter

    return get_exporter(EXPORTERS[fmt])()  # type: ignore[no-untyped-call]


def _failed(job: Job, error: Exception) -> LabError:
    return LabError(f"{job.notebook.name} has no page", f"{type(error).__name__}: {error}")
