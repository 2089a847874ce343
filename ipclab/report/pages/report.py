"""Reports: every notebook of a run in every language, with a manifest."""

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from urllib.parse import quote

from ipclab.bounds.points import cut_points
from ipclab.errors import LabError, UsageError
from ipclab.frames import derived
from ipclab.frames.points import BY_HEAT, HEATS
from ipclab.lab import head
from ipclab.lab.parameters import TAG, check_language, declared, fault
from ipclab.paths import Paths
from ipclab.report.notebooks import quotes
from ipclab.report.pages import index, words
from ipclab.report.pages.document import WORDS
from ipclab.report.pages.jobs import Job, Target, refuse, run_jobs, spoken_in
from ipclab.report.pages.staleness import is_current, write_manifest
from ipclab.report.sheet import csv
from ipclab.session.progress import TEXT, Progress
from ipclab.spawn import ledger
from ipclab.store.files import write_whole
from ipclab.store.run import RunFolder
from ipclab.words.catalogue import LANGUAGES
from ipclab.words.words import Words

LONGEST_MEASURING_S = 7 * 86_400.0
RESTS_ON = {"appendix": "payload"}  # whose values a document quotes and follows, by its notebook
DATA = "data"  # beside the reports: the frames as CSV
SEVERAL = {"runs", "bundles"}  # what notebooks on several runs ask for
NOTEBOOKS = "notebooks"  # beside the reports, too


def render_run(
    paths: Paths,
    run: RunFolder,
    langs: Sequence[str],
    formats: Sequence[str],
    out: Path,
    progress: Progress,
    claims: Path | None = None,
) -> list[Path]:
    """Render `run` in `langs` as `formats` below `out`/<lang> where stale; return the files.

    `claims` is a TOML file of a person's own claims. Raises `LabError` that names the notebooks
    that failed, or are none, once all others are rendered, and `UsageError` for claims that cannot
    be judged, before a notebook runs. A stray notebook is named and passed over.
    """
    from ipclab.claims.audit import with_own
    from ipclab.lab.lab import Lab

    for line in strays(paths):
        progress.say(f"no page is made of a stray notebook: {line}")
    claims = claims.resolve() if claims else None
    target = Target(tuple(formats), out, paths.figures if out == paths.reports else out / "figures")
    held, absent = held_by(run, notebooks_of(paths))
    pages, errors = _readable(held)
    errors += quotes.twins(paths)
    wanted = [file for pair in product(pages, langs) for file in target.files(*pair)]
    wanted += [out / lang / index.NAME for lang in langs if "html" in formats]
    if is_current(paths, [run], out, wanted, claims):
        progress.say("the reports are what data, code, words and lock give: nothing to render")
        refuse(errors)
        return wanted
    run.checked()
    if absent:
        progress.say(f"{run.id} does not hold {', '.join(absent)}: no page of it is made")
    ledger.close_dead_sessions(paths.ledger)  # kernels' folders of reports that were killed
    lab = Lab.of(run, paths, langs[0])
    for file in (*filter(Path.is_file, [paths.control]), *([claims] if claims else [])):
        with_own(lab, str(file))  # which refuses what cannot be judged
    tables = write_frames(run, out / DATA)
    jobs = [*_jobs(paths, run, pages, langs, tables, claims)]
    made = run_jobs(jobs, target, progress)
    files = made.files
    for page in pages:  # which lead to their notebook
        files.append(out / NOTEBOOKS / page.name)
        write_whole(files[-1], page.read_bytes())
    for lang in langs if "html" in formats and jobs else ():
        about = {**jobs[0].about[lang], "lang": lang}
        files.append(index.write([*made.entries[lang].values()], out / lang, about))
    write_manifest(paths, [run], out, [*files, *tables], claims)
    refuse([*errors, *made.errors])
    return files


def measure_first(paths: Paths, profile: str) -> RunFolder:
    """Execute `notebooks/measure.ipynb` under `profile`, showing progress; return the run.

    Raises `LabError` when it fails; what was measured by then is kept, and the same call goes on.
    """
    from ipclab.report.notebooks.execute import execute
    from ipclab.store.run import read_run

    os.environ[TEXT] = "1"
    executed = paths.data / "executed" / "measure.ipynb"
    notebook = paths.notebooks / executed.name
    execute(notebook, {"profile": profile}, executed, timeout_s=LONGEST_MEASURING_S, say=sys.stderr)
    return read_run(Path(str(quotes.read_quoted(executed, "measure").run)))


def notebooks_of(paths: Paths, parameter: str = "run") -> list[Path]:
    """Return the notebooks of a report by name, own ones last: with `lang`, `run` or `runs`.

    Of a report on one run is each own notebook that asks for nothing else, or cannot be read: that
    is named with those that failed, and one of ours is a stray.
    """
    wanted = []
    for file in quotes.notebooks(paths).values():
        own = file.parent == paths.own and parameter == "run"
        try:
            known = declared(file).keys()
        except UsageError:
            asks = own
        else:
            asks = {parameter, "lang"} <= known or (own and not SEVERAL & known)
        if asks and file.stem not in ("index", "measure", "choose"):
            wanted.append(file)
    return wanted


def _readable(pages: Sequence[Path]) -> tuple[list[Path], list[LabError]]:
    """Return the notebooks that can be executed, and what is wrong with others."""
    readable, errors = list[Path](), list[LabError]()
    for page in pages:
        try:
            declared(page)
            check_language(page)
            readable.append(page)
        except UsageError as error:
            errors.append(LabError(error.what, error.why, error.fix))
    return readable, errors


def strays(paths: Paths) -> list[str]:
    """Return a line for each file among ours that is no notebook, or has no parameters cell."""
    ours = (file for file in quotes.notebooks(paths).values() if file.parent != paths.own)
    return list(filter(None, map(fault, ours)))


def check_strays(paths: Paths) -> None:
    """Raise `LabError` when there are stray notebooks, of which no page was made."""
    if lines := strays(paths):
        fix = f"give each a cell tagged {TAG!r}, or move it elsewhere"
        raise LabError(f"{len(lines)} stray notebooks have no page", " | ".join(lines), fix)


def held_by(run: RunFolder, notebooks: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """Return notebooks without those of a study `run` lacks, and the names of these.

    The notebook of a study has its name, most of them behind a number.
    """
    from ipclab.studies.installed import studies

    lacking = studies().keys() - derived.studies_measured(run)
    absent = lacking & {*map(study_of, notebooks)}
    return [each for each in notebooks if study_of(each) not in absent], sorted(absent)


def study_of(notebook: Path) -> str:
    """Return the study that a notebook is named after, behind a number or not."""
    return notebook.stem.lstrip("0123456789_")


def write_frames(run: RunFolder, folder: Path) -> list[Path]:
    """Write the point frame of each study of `run` as CSV into `folder` and return the files.

    What one cell would hold as a list, the values of all heats, stays with the run: a table of
    numbers has none.
    """
    files = [folder / f"{study}.csv" for study in derived.studies_measured(run)]
    for file in files:
        points = cut_points(run, file.stem).drop(columns=[HEATS, BY_HEAT], errors="ignore")
        write_whole(file, csv(points, float_format="%.9g").encode())
    return files


def check_words(langs: Sequence[str]) -> None:
    """Raise `LabError` for unprintable words: untranslated, a typed digit, a lost placeholder.

    Those that nothing says harm no page: they are of a package that is not installed.
    """
    others = [f"{lang}:" for lang in LANGUAGES if lang not in langs]
    harmless = (*others, *(f"{lang}: {words.OBSOLETE}" for lang in langs))
    problems = [line for line in words.gate() if not line.startswith(harmless)]
    if problems:
        fix = "correct them, then: python -m ipclab.report.pages.words gate"
        raise LabError(f"{len(problems)} problems in the words", problems[0], fix)


def _jobs(
    paths: Paths,
    run: RunFolder,
    pages: Sequence[Path],
    langs: Sequence[str],
    tables: Sequence[Path],
    claims: Path | None,
) -> Iterator[Job]:
    """Yield each notebook's job, with links to its pages in all languages."""
    titles = {(page, lang): words.report_title(page, lang) for page, lang in product(pages, langs)}
    address = {page: f"{quote(page.stem)}.html" for page in pages}
    first = {
        lang: (Words.load(lang).translate(WORDS["page"]["index"]), index.NAME) for lang in langs
    }
    given = {"run": str(run.path)} | ({"claims": str(claims)} if claims else {})
    for notebook in pages:
        named = study_of(notebook)
        mine = [table for table in tables if table.stem == named] or tables
        shared = {
            **head.about(run, study=RESTS_ON.get(named, named)),
            "attachments": {table.name: f"../{DATA}/{table.name}" for table in mine},
            "notebook": f"../{NOTEBOOKS}/{quote(notebook.name)}",
        }
        about = {}
        for lang in langs:
            others = {each: f"../{each}/{address[notebook]}" for each in langs} | {lang: ""}
            beside = address | {notebook: ""}
            links = [
                [(LANGUAGES[each]["name"], target) for each, target in others.items()],
                [first[lang], *((titles[page, lang], beside[page]) for page in pages)],
            ]
            about[lang] = {**shared, "links": links}
        known = declared(notebook)
        parameters = {
            name: value
            for name, value in given.items()
            if name in known and known[name].takes(value)  # its own `run = 3` is no run's
        }
        executed = quotes.executed(paths, run, spoken_in(langs), notebook.stem)
        yield Job(notebook, executed, parameters, about)
