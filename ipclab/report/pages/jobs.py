"""Notebooks executed by papermill and exported by nbconvert, several at the same time."""

import multiprocessing
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, zip_longest
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Event, Thread
from typing import Any

from ipclab.errors import LabError
from ipclab.paths import checkout
from ipclab.report.notebooks import quotes
from ipclab.report.notebooks.parameters import declared
from ipclab.session.progress import Progress
from ipclab.store.files import write_whole

STEP_SECONDS = 0.2  # between two looks whether all is over
POOL_THREADS = 2  # that a pool of processes has in this one
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
# of this process of the pool
_kernel: Any = None
_made_page: Any = None


@dataclass(frozen=True)
class Job:
    """One notebook in one language, its other parameters and what else its exporters are told."""

    notebook: Path
    lang: str
    executed: Path
    parameters: Mapping[str, Any]
    metadata: Mapping[str, Any]


@dataclass(frozen=True)
class Target:
    """What is made of jobs and where: files of `formats` below `out`/<lang>, and figures."""

    formats: Sequence[str]
    out: Path
    figures: Path

    def files(self, notebook: Path, lang: str) -> list[Path]:
        """Return the files that are made of a notebook in one language."""
        return [self.out / lang / f"{notebook.stem}.{fmt}" for fmt in self.formats]


def run_jobs(
    jobs: Sequence[Job], target: Target, progress: Progress
) -> tuple[list[Path], list[LabError]]:
    """Execute and export jobs, some at the same time; return the files in the order of the jobs.

    What failed is returned beside them: no job keeps another one from its page.
    """
    os.environ.update(ENVIRONMENT)
    made: list[Path] = []
    errors: list[LabError] = []
    results: list[list[Path] | LabError] = []
    progress.start("report", len(jobs), "page")
    try:
        workers = os.cpu_count() or 1
        together = _together(jobs, workers)
        # New processes: a fork of one that has typeset waits forever for Typst's threads.
        processes = multiprocessing.get_context("spawn")
        with _stepping(progress) as made_page:
            begin = partial(_begin, os.getpid(), target.figures, made_page)
            _check_threads()
            number = min(len(together), workers)
            with ProcessPoolExecutor(number, processes, initializer=begin) as pool:
                results += chain.from_iterable(pool.map(partial(_render, target), together))
    except BrokenProcessPool as error:
        why = "it was killed, or ran out of memory"
        raise LabError("a process that renders has ended", why, "render again") from error
    finally:
        progress.end()
    by_job = dict(zip(map(id, chain.from_iterable(together)), results, strict=True))
    for job in jobs:
        rendered = by_job[id(job)]
        if isinstance(rendered, LabError):
            errors.append(rendered)
        else:
            made += rendered
    return made, errors


@contextmanager
def _stepping(progress: Progress) -> Iterator[Connection]:
    """Give what processes send a byte to for each page, which is a step of `progress` then.

    It is a pipe, and no queue, whose lock a process that is killed may hold.
    """
    reader, writer = multiprocessing.Pipe(duplex=False)
    over = Event()

    def step() -> None:
        while not over.is_set() or reader.poll():
            if reader.poll(STEP_SECONDS):
                reader.recv_bytes()
                progress.step()

    thread = Thread(target=step)
    thread.start()
    try:
        yield writer
    finally:
        over.set()
        thread.join()


def _check_threads() -> None:
    """Raise `RuntimeError` where no thread can be started: a pool that lacks one waits for ever."""
    done = Event()
    threads = [Thread(target=done.wait) for _ in range(POOL_THREADS)]
    try:
        for thread in threads:
            thread.start()
    finally:
        done.set()


def refuse(errors: Sequence[LabError]) -> None:
    """Raise `LabError` that names all errors, where there are any."""
    if errors:
        said = dict.fromkeys(map(str, errors))  # one that is alike in all languages once
        raise LabError(f"{len(errors)} reports failed", " | ".join(said))


def _together(jobs: Sequence[Job], workers: int) -> list[list[Job]]:
    """Return jobs that one kernel does one after the other, those that take longest first.

    That are the languages of a notebook, whose data are then read once, and after them those of
    one that quotes it; where there are few notebooks it is one language of these.
    """
    leaders = {job.notebook.stem: job.notebook.stem for job in jobs}
    quoting = {job.notebook: _QUOTED.findall(job.notebook.read_text("utf-8")) for job in jobs}
    for notebook, names in quoting.items():
        joined = {leaders[name] for name in names if name in leaders}
        for stem, leader in leaders.items():
            if leader in joined:
                leaders[stem] = leaders[notebook.stem]
    few = len({*leaders.values()}) <= workers
    groups: dict[tuple[str, str], list[Job]] = {}
    for job in sorted(jobs, key=lambda job: bool(quoting[job.notebook])):
        groups.setdefault((leaders[job.notebook.stem], job.lang if few else ""), []).append(job)
    return sorted(groups.values(), key=_size, reverse=True)


def _size(jobs: Sequence[Job]) -> int:
    """Return how long the notebooks of jobs are, which tells how long they take."""
    return sum(job.notebook.stat().st_size for job in jobs)


def _begin(parent: int, figures: Path, made_page: Connection) -> None:
    """Give this process a kernel, which ends with it, as it ends with process `parent`.

    Each page that is made, or failed, is told to `made_page`.
    """
    from multiprocessing.util import Finalize

    from ipclab.lab.figure import FIGURES
    from ipclab.report.notebooks.execute import Kernel
    from ipclab.spawn.exits import die_with_parent

    die_with_parent(parent)
    os.environ[FIGURES] = str(figures)
    global _kernel, _made_page  # noqa: PLW0603
    _made_page = made_page
    _kernel = Kernel().__enter__()
    Finalize(_kernel, _kernel.end, exitpriority=100)


def _render(target: Target, jobs: Sequence[Job]) -> list[list[Path] | LabError]:
    """Do jobs one after the other; what a person's own notebook changes reaches no other one."""
    results = []
    for job, following in zip_longest(jobs, jobs[1:]):
        results.append(_rendered(target, job))
        _made_page.send_bytes(b".")
        same = following is not None and following.notebook == job.notebook
        if job.notebook.parent == checkout().own and not same:
            _kernel.end()
    return results


def _rendered(target: Target, job: Job) -> list[Path] | LabError:
    """Execute a job's notebook and export it; an error of ours is returned."""
    from ipclab.report.notebooks.execute import execute

    files = target.files(job.notebook, job.lang)
    language = {"lang": job.lang}
    try:
        spoken = language if "lang" in declared(job.notebook) else {}
        execute(
            job.notebook,
            {**job.parameters, **spoken},
            job.executed,
            timeout_s=quotes.TIMEOUT_S,
            metadata={**job.metadata, **language},
            kernel=_kernel,
        )
        for stale in job.executed.parent.glob(f"{job.notebook.stem}-*.ipynb"):
            if stale != job.executed:
                stale.unlink(missing_ok=True)
        files[0].parent.mkdir(parents=True, exist_ok=True)  # what is attached is named from there
        for fmt, file in zip(target.formats, files, strict=True):
            write_whole(file, export(job.executed, fmt, file.parent))
    except LabError as error:
        return error
    return files


def export(executed: Path, fmt: str, folder: Path) -> bytes:
    """Return an executed notebook as `fmt`; attachments are relative to `folder`."""
    if fmt == "ipynb":
        return executed.read_bytes()
    from ipclab.report.notebooks.nb import nbformat

    notebook = nbformat.read(executed, as_version=4)  # type: ignore[no-untyped-call]
    content, _ = _exporter(fmt).from_notebook_node(
        notebook,
        resources={"metadata": {"path": str(folder), "name": executed.stem}, "ipclab": True},
    )
    return content.encode() if isinstance(content, str) else bytes(content)


@cache
def _exporter(fmt: str) -> Any:
    """Return what exports; one for all documents compiles its templates once."""
    from nbconvert.exporters import get_exporter

    return get_exporter(EXPORTERS[fmt])()  # type: ignore[no-untyped-call]
