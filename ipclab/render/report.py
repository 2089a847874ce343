"""Reports: every notebook in every language, executed by papermill and exported by nbconvert, with
a manifest.
"""

import multiprocessing
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from ipclab.errors import LabError
from ipclab.frames import derived
from ipclab.frames.points import BY_HEAT, HEATS
from ipclab.lab import quotes
from ipclab.lab.catalogue import LANGUAGES, Catalogue
from ipclab.lab.parameters import read as parameters_of
from ipclab.measure.progress import TEXT, Progress
from ipclab.paths import Paths
from ipclab.render import index, words
from ipclab.render.document import SAID
from ipclab.render.staleness import current, write_manifest
from ipclab.spawn import ledger
from ipclab.store.files import write_whole
from ipclab.store.run import RunFolder

EXPORTERS = {"html": "ipclabhtml", "pdf": "typstpdf"}
LONGEST_MEASURING_S = 7 * 86_400.0
TONGUES = {"ko": "한국어", "zh": "中文", "en": "English"}
DATA = "data"  # beside the reports: the frames as CSV
# What would make equal reports differ from one machine or one shell to the next.
ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONUTF8": "1",
    "PYTHONHASHSEED": "0",
}


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


def report(
    paths: Paths,
    run: RunFolder,
    langs: Sequence[str],
    formats: Sequence[str],
    out: Path,
    progress: Progress,
    claims: Path | None = None,
) -> list[Path]:
    """Render `run` in `langs` as `formats` below `out`/<lang> and return the files; those that are
    current are left.

    `claims` is a TOML file of a person's own claims. Raises `LabError` when a notebook fails, no
    file is then half-written, and `UsageError` for claims that cannot be judged, before a notebook
    runs.
    """
    claims = claims.resolve() if claims else None
    target = Target(tuple(formats), out, paths.figures if out == paths.reports else out / "figures")
    pages, absent = held_by(run, notebooks_of(paths))
    wanted = [file for pair in product(pages, langs) for file in target.files(*pair)]
    wanted += [out / lang / index.NAME for lang in langs if "html" in formats]
    if current(paths, [run], out, wanted, claims):
        progress.say("the reports are what data, code, words and lock give: nothing to render")
        return wanted
    run.checked()
    for name in derived.verify(run):
        progress.say(f"{name} was not what its points give: it was derived again")
    if absent:
        progress.say(f"{run.id} does not hold {', '.join(absent)}: no page of it is made")
    ledger.clean(paths.ledger)  # kernels' folders of reports that were killed
    _check_claims(paths, run, langs[0], claims)
    tables = write_frames(run, out / DATA)
    jobs = [*_jobs(paths, run, pages, langs, tables, claims)]
    quoting = {notebook: "lab.quoted(" in notebook.read_text("utf-8") for notebook in pages}
    quoted = [job for job in jobs if not quoting[job.notebook]]
    last = [job for job in jobs if quoting[job.notebook]]
    made = run_jobs([quoted, last], target, progress)
    for lang in langs if "html" in formats else ():
        mine = {job.notebook.stem: job for job in jobs if job.lang == lang}
        executed = {name: job.executed for name, job in mine.items()}
        about = next(iter(mine.values())).metadata
        made.append(index.write(executed, out / lang, {**about, "lang": lang}))
    write_manifest(paths, [run], out, [*made, *tables], claims)
    return made


def _check_claims(paths: Paths, run: RunFolder, lang: str, claims: Path | None) -> None:
    """Raise `UsageError` for claims, those in `report.toml` too, that cannot be judged."""
    from ipclab.lab.audit import with_own
    from ipclab.lab.lab import lab_of

    control = paths.control if paths.control.is_file() else None
    for file in filter(None, (control, claims)):
        with_own(lab_of(run, paths, lang), str(file))


def measure(paths: Paths, profile: str) -> RunFolder:
    """Have papermill execute `notebooks/measure.ipynb` under `profile`, its progress shown here;
    return the run.

    Raises `LabError` when it fails; what was measured by then is kept, and the same call goes on.
    """
    from ipclab.lab.execute import execute
    from ipclab.store.run import read

    os.environ[TEXT] = "1"
    notebook, executed = (top / "measure.ipynb" for top in (paths.notebooks, paths.executed))
    execute(notebook, {"profile": profile}, executed, timeout_s=LONGEST_MEASURING_S, say=sys.stderr)
    return read(Path(str(quotes.read(executed, "measure").run)))


def notebooks_of(paths: Paths, parameter: str = "run") -> list[Path]:
    """Return the notebooks of the report, by name, a person's own last: those with a `run` (or
    `runs`) and a `lang`.
    """
    tools = ("index", "measure", "explore", "choose", "course")
    others = [file for file in quotes.notebooks(paths).values() if file.stem not in tools]
    return [file for file in others if {parameter, "lang"} <= parameters_of(file).keys()]


def held_by(run: RunFolder, notebooks: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """Return the notebooks without those of a study that `run` holds nothing of, and the names of
    these studies.

    The notebook of a study has its name, most of them behind a number.
    """
    from ipclab.studies.installed import studies

    names = {notebook: notebook.stem.lstrip("0123456789_") for notebook in notebooks}
    absent = {*names.values()} & (studies().keys() - derived.measured(run))
    return [notebook for notebook in notebooks if names[notebook] not in absent], sorted(absent)


def write_frames(run: RunFolder, folder: Path) -> list[Path]:
    """Write the point frame of each study of `run` as CSV into `folder` and return the files.

    What one cell would hold as a list, the values of all heats, stays with the run: a table of
    numbers has none.
    """
    files = [folder / f"{study}.csv" for study in derived.measured(run)]
    for file in files:
        points = derived.read(run, file.stem, "points")
        points = points.drop(columns=[HEATS, BY_HEAT], errors="ignore")
        text = points.to_csv(index=False, lineterminator="\n", float_format="%.9g")
        write_whole(file, text.encode())
    return files


def run_jobs(stages: Sequence[Sequence[Job]], target: Target, progress: Progress) -> list[Path]:
    """Execute and export the jobs of each stage, some at the same time; return the files.

    Raises `LabError` with all errors once every job of a stage has ended.
    """
    os.environ.update(ENVIRONMENT)
    count = sum(map(len, stages))
    made: list[Path] = []
    progress.start("report", count)
    try:
        workers = min(max(map(len, stages)), os.cpu_count() or 1)
        begin = partial(_begin, os.getpid(), target.figures)
        with ProcessPoolExecutor(
            workers, multiprocessing.get_context("fork"), initializer=begin
        ) as pool:
            for stage in stages:
                errors = []
                for rendered in pool.map(partial(_render, target), stage):
                    progress.step()
                    if isinstance(rendered, LabError):
                        errors.append(rendered)
                    else:
                        made += rendered
                if errors:
                    raise LabError(
                        f"{len(errors)} of {count} reports failed", " | ".join(map(str, errors))
                    )
    finally:
        progress.end()
    return made


def check_words(langs: Sequence[str]) -> None:
    """Raise `LabError` for words not fit to print: untranslated, a digit typed into prose, a
    placeholder lost.
    """
    others = tuple(f"{lang}:" for lang in LANGUAGES if lang not in langs)
    problems = [line for line in words.gate() if not line.startswith(others)]
    if problems:
        fix = "correct them, then: python -m ipclab.render.words gate"
        raise LabError(f"{len(problems)} problems in the words", problems[0], fix)


def _jobs(
    paths: Paths,
    run: RunFolder,
    pages: Sequence[Path],
    langs: Sequence[str],
    tables: Sequence[Path],
    claims: Path | None,
) -> Iterator[Job]:
    """Yield the job of each notebook and language; its pages link to the same in other languages,
    and to the others.
    """
    for notebook, lang in product(pages, langs):
        others = {TONGUES[other]: f"../{other}/{notebook.stem}.html" for other in langs}
        others[TONGUES[lang]] = ""
        beside = {Catalogue.load(lang).translate(SAID["page"]["index"]): index.NAME}
        beside |= {words.title(page, lang): f"{page.stem}.html" for page in pages}
        beside[words.title(notebook, lang)] = ""
        mine = [table for table in tables if table.stem in notebook.stem] or tables
        about = {"date": run.about["begun"], "run": run.id, "links": [others, beside]}
        about["attachments"] = {table.name: f"../{DATA}/{table.name}" for table in mine}
        parameters = {"run": str(run.path), "lang": lang}  # in this order in the executed notebook
        if claims and "claims" in parameters_of(notebook):
            parameters["claims"] = str(claims)
        executed = quotes.executed(paths, run, lang, notebook.stem)
        yield Job(notebook, lang, executed, parameters, about)


def _begin(parent: int, figures: Path) -> None:
    """Give this process a kernel, which ends with it, as it ends with process `parent`."""
    from multiprocessing.util import Finalize

    from ipclab.lab.canvas import FIGURES
    from ipclab.lab.execute import Kernel
    from ipclab.spawn.zygote import die_with_parent

    die_with_parent(parent)
    os.environ[FIGURES] = str(figures)
    global _kernel  # noqa: PLW0603  one for each process of the pool
    _kernel = Kernel().__enter__()
    Finalize(_kernel, _kernel.end, exitpriority=100)


_kernel: Any = None


def _render(target: Target, job: Job) -> list[Path] | LabError:
    """Execute a job's notebook and export it; an error of ours is returned."""
    from ipclab.lab.execute import execute

    files = target.files(job.notebook, job.lang)
    language = {"lang": job.lang}
    try:
        execute(
            job.notebook,
            {**job.parameters, **language},
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
    """Return an executed notebook as `fmt`, by its nbconvert exporter; attachments are relative to
    `folder`.
    """
    if fmt == "ipynb":
        return executed.read_bytes()
    import nbformat
    from nbconvert.exporters import get_exporter

    exporter = get_exporter(EXPORTERS[fmt])()  # type: ignore[no-untyped-call]
    notebook = nbformat.read(executed, as_version=4)  # type: ignore[no-untyped-call]
    content, _ = exporter.from_notebook_node(
        notebook, resources={"metadata": {"path": str(folder)}, "ipclab": True}
    )
    return content.encode() if isinstance(content, str) else bytes(content)
