"""Notebooks executed by papermill once, and exported in each language, several at a time."""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ipclab.errors import LabError
from ipclab.lab.parameters import declared
from ipclab.paths import checkout
from ipclab.report.notebooks import quotes
from ipclab.report.pages import processes
from ipclab.report.pages.document import Document, read_document
from ipclab.report.pages.index import ReportEntry, entry
from ipclab.report.pages.page import page_of
from ipclab.report.pages.typeset import pdf_of
from ipclab.session.progress import Progress
from ipclab.store.files import write_whole
from ipclab.words.catalogue import LANGUAGES, SOURCE

PAGES: Mapping[str, Callable[[Document], str | bytes]] = {"html": page_of, "pdf": pdf_of}
# What would make equal reports differ from one machine or one shell to the next.
ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONUTF8": "1",
    "PYTHONHASHSEED": "0",
}
# the notebooks that one quotes, in its JSON
_QUOTED = re.compile(r'ipclab\.quoted\(\s*\w+,\s*\\?"([\w-]+)')


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
    entries: dict[str, dict[str, ReportEntry]] = field(default_factory=dict)
    errors: list[LabError] = field(default_factory=list)
    asides: list[str] = field(default_factory=list)

    def add(self, part: "Made") -> None:
        """Add what was made of one job, or of one of its languages."""
        self.files += part.files
        self.errors += part.errors
        self.asides = list(dict.fromkeys(self.asides + part.asides))  # alike ones once
        for lang, entries in part.entries.items():
            self.entries.setdefault(lang, {}).update(entries)


def run_jobs(jobs: Sequence[Job], target: Target, progress: Progress) -> Made:
    """Execute jobs and export them in each language, some at the same time; say what is aside.

    No job keeps another one from its pages: what failed is returned.
    """
    os.environ.update(ENVIRONMENT)
    count = sum(len(job.about) for job in jobs)
    progress.start("report", len(jobs) + count, "notebook or page")
    try:
        with processes.pool(count, target.figures) as pool:
            parts = _parts(pool, jobs, target, progress)
    finally:
        progress.end()
    made = Made(entries={lang: {} for job in jobs for lang in job.about})
    for place, job in enumerate(jobs):
        for lang in ("", *job.about):
            made.add(parts.get((place, lang), Made()))
    for line in made.asides:
        progress.say(line)
    return made


def _parts(
    pool: Executor, jobs: Sequence[Job], target: Target, progress: Progress
) -> dict[tuple[int, str], Made]:
    """Return what each job's execution ("") and its pages (by language) gave, by job's place.

    A notebook that quotes another waits until that one is executed; long ones begin first.
    """
    parts: dict[tuple[int, str], Made] = {}
    running: dict[Future[Made], tuple[int, str]] = {}
    waiting = _waiting(jobs)
    while waiting or running:
        executed = {place for place, lang in parts if not lang}
        for place in [each for each, needed in waiting.items() if needed <= executed]:
            del waiting[place]
            running[pool.submit(_made_of, _execute, jobs[place])] = place, ""
        if not running:  # those that are left quote each other
            break
        ended, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in ended:
            place, lang = running.pop(future)
            parts[place, lang] = part = future.result()
            progress.step()
            for each in () if lang else jobs[place].about:
                if part.errors:
                    progress.step()
                else:
                    task = pool.submit(_made_of, _export, jobs[place], each, target)
                    running[task] = place, each
    return parts


def _waiting(jobs: Sequence[Job]) -> dict[int, set[int]]:
    """Return jobs' places, those that take longest first, with those that each has to wait for."""
    places = {job.notebook.stem: place for place, job in enumerate(jobs)}
    waiting = {}
    sizes = [job.notebook.stat().st_size for job in jobs]
    for place in sorted(range(len(jobs)), key=sizes.__getitem__, reverse=True):
        quoted = _QUOTED.findall(jobs[place].notebook.read_text("utf-8", "replace"))
        waiting[place] = {places[name] for name in quoted if name in places} - {place}
    return waiting


def refuse(errors: Sequence[LabError]) -> None:
    """Raise `LabError` that names all errors, where there are any."""
    if errors:
        said = dict.fromkeys(map(str, errors))  # one that is alike in all languages once
        raise LabError(f"{len(errors)} reports failed", " | ".join(said))


def _made_of(work: Callable[..., Made], job: Job, *more: Any) -> Made:
    """Return what `work` makes of a job in this process: any error is one of the job's."""
    name = job.notebook.name
    try:
        return work(job, *more)
    except LabError as error:
        what = error.what if name in error.what else f"{name}: {error.what}"
        return Made(errors=[LabError(what, error.why, error.fix)])
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        return Made(errors=[LabError(f"{name} has no page", why)])


def _execute(job: Job) -> Made:
    """Execute a job's notebook; what it wrote to stderr is aside."""
    from ipclab.report.notebooks.execute import execute

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
    return Made(asides=asides)


def _export(job: Job, lang: str, target: Target) -> Made:
    """Make the files of a job in one language."""
    from ipclab.report.notebooks.nb import nbformat
    from ipclab.report.pages.localised import localised

    made = Made(target.files(job.notebook, lang))
    notebook = nbformat.read(job.executed, as_version=4)  # type: ignore[no-untyped-call]
    notebook.metadata["ipclab"] = {**job.about[lang], "lang": lang}
    folder = target.out / lang  # what is attached is named from there
    folder.mkdir(parents=True, exist_ok=True)
    files = dict(zip(target.formats, made.files, strict=True))
    if "ipynb" in files:
        text: str = nbformat.writes(localised(notebook, lang))  # type: ignore[no-untyped-call]
        write_whole(files["ipynb"], text.encode())
    looked_at = [fmt for fmt in PAGES if fmt in files]
    if looked_at:
        name = job.notebook.stem
        document = read_document(notebook, folder, name=name, beside=job.notebook.parent)
        made.entries[lang] = {name: entry(document, f"{quote(name)}.html")}
        for fmt in looked_at:  # each is written before the next, which may fail
            content = PAGES[fmt](document)
            write_whole(files[fmt], content if isinstance(content, bytes) else content.encode())
        made.asides = [f"{job.notebook.name}: {line}" for line in document.lost]
    return made


def spoken_in(langs: Iterable[str]) -> list[str]:
    """Return the languages in which a notebook is executed: English first, which is the source."""
    return list(dict.fromkeys([SOURCE, *langs]))
