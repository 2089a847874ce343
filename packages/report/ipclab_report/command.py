"""The command line: thin commands that import what they need, so that light ones start at once."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ipclab import __version__
from ipclab_report.options import (
    PATH,
    SIZE,
    Rendering,
    Words,
    check_out,
    die_with_make,
    format_option,
    lang_option,
    one_of,
    out_option,
    profile_option,
    quantile_option,
    rendering,
    say,
    shown,
    study_option,
    words,
)
from ipclab_answers.compare import FAIL_ON, UNKNOWN
from ipclab.errors import LabError, UsageError
from ipclab_report.exchange import bundle, import_
from ipclab.group import Commands
from ipclab_measure.session.progress import Progress
from ipclab.paths import checkout, typed
from ipclab_measure.upkeep import (
    backends,
    check,
    clean,
    conform,
    doctor,
)

if TYPE_CHECKING:
    from ipclab.store.run import RunFolder

MOST_LAUNCHES = 100_000
Given = Path | None  # None: not given


run_option = click.option("--run", type=PATH, help="Folder of a run.")
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True}


@click.group(cls=Commands, context_settings=SETTINGS)
@click.version_option(__version__)
def commands() -> None:
    """A laboratory for the cost of handing data from one process, stream or file to another."""


@commands.command()
@study_option
@profile_option
@run_option
@click.option("--seed", type=int, help="Seed of the launches' order and of the payloads.")
@click.option(
    "--size",
    "sizes",
    type=SIZE,
    multiple=True,
    help="Payload, such as 64KiB, instead of the study's own.",
)
@click.option(
    "--backend", "backends", multiple=True, help="Mechanism, instead of all that are here."
)
@click.option(
    "--level", "levels", multiple=True, help="Levels of another factor, such as entries=10,100."
)
@click.option(
    "--launches",
    type=click.IntRange(1, MOST_LAUNCHES),
    help="Exactly so many of each point [what its questions need].",
)
@click.option("--scratch", type=PATH, help="Folder for files made on disk [data/scratch].")
@click.option("--keep-scratch", is_flag=True, help="Keep those files for the next run.")
@click.option("--label", help="Name of this node: runs of another label are never continued.")
@click.option("--bundle", "file", type=PATH, help="Write the finished run as this FILE, too.")
def measure(**given: Any) -> None:
    """Measure this machine; points that are on disk are not measured again."""
    measure_as_asked(**given)


def measure_as_asked(
    run: Given,
    studies: Words,
    profile: str | None,
    seed: int | None,
    launches: int | None,
    scratch: Given,
    keep_scratch: bool,
    label: str | None = None,
    file: Given = None,
    **swept: Any,
) -> None:
    """Measure what the options of `measure` say.

    The finished run is bundled as `file` before `LabError` is raised for points that failed and
    results that cannot be.
    """
    from ipclab.lab.runs import find
    from ipclab_measure.session import session
    from ipclab_measure.session.request import Request
    from ipclab_measure.session.request import levels as levels_of
    from ipclab_measure.spawn.mpi_outer import around
    from ipclab.store.bundle import check_new, pack
    from ipclab_measure.studies.interface import Sweep

    die_with_make()
    if file:
        check_new(file)  # before hours of measuring
    with around(
        bool(label)
    ) as served:  # started by mpiexec or srun: one rank measures, the others serve it
        if served:
            return
        if run and not (studies or profile or launches or any(swept.values())):
            request = replace(Request.continuing(find(checkout(), str(run)), label), seed=seed)
        else:
            levels = levels_of(swept["levels"])
            request = Request(
                studies,
                profile or "quick",
                run,
                seed,
                Sweep(swept["sizes"] or None, swept["backends"] or None, levels),
                launches=launches or 0,
                label=label or "",
            )
        request = replace(request, scratch=scratch, keep_scratch=keep_scratch)
        done = session.measure(checkout(), request, Progress(shown=True))
        click.echo(f"{len(done.points())} points in {shown(done.path)}", err=True)
        if file:
            pack(done, file)
            click.echo(shown(file.absolute()))
        _say_wrong(done)


@commands.command()
@run_option
@lang_option
@format_option
@out_option
@profile_option
@click.option(
    "--measure",
    "measuring",
    is_flag=True,
    help="Measure first when there is no such run, or points failed.",
)
@click.option("--claims", type=PATH, help="TOML file of your own claims, judged as the texts'.")
def report(
    run: Given,
    langs: Words,
    formats: Words,
    out: Given,
    profile: str | None,
    measuring: bool,
    claims: Given,
) -> None:
    """Render a run (the newest full one by default) in each language and format."""
    from ipclab.lab.runs import choose, newest_full
    from ipclab.store import origin

    if run is not None and profile is not None:
        raise UsageError("a run has its profile already", "", "give RUN or PROFILE, not both")
    die_with_make()
    paths = checkout()
    target = (out or paths.reports).resolve()
    check_out(target)
    chosen = choose(paths, str(run)) if run else newest_full(paths, profile or "")
    if chosen is None and not measuring:
        raise UsageError("there is no such run", "", f"measure one: {typed('measure')}")
    from ipclab_report.pages import report as reports

    reports.check_words(langs)
    if measuring and not run and (chosen is None or not chosen.complete):
        chosen = reports.measure(paths, profile or (chosen.profile if chosen else "quick"))
    assert chosen is not None  # noqa: S101  for the type checker
    say(origin.lines(paths, [chosen]))
    progress = Progress(shown=True)
    say(map(shown, reports.report(paths, chosen, langs, formats, target, progress, claims)))
    _say_wrong(chosen)
    reports.check_strays(paths)


@commands.command()
@click.argument("runs", nargs=-1, type=PATH)
@rendering("machines")
@click.option(
    "--fail-on",
    type=words,
    default="",
    help="Exit code 1: slower, faster; 3: undecided, missing, limits.",
    callback=one_of("verdict to fail on", lambda: FAIL_ON),
)
@quantile_option
def compare(runs: tuple[Path, ...], fail_on: Words, quantile: float, to: Rendering) -> None:
    """Compare runs of two or more machines, each with the first: RUN RUN ... (by default the two
    committed ones).
    """
    from ipclab_answers.compare import shared
    from ipclab_answers.compare.held import chosen, held
    from ipclab_measure.bounds import suspects
    from ipclab_report.pages.report import notebooks_of
    from ipclab.store import origin

    die_with_make()
    compared = chosen(checkout(), [str(run) for run in runs])
    to.check()
    say(origin.lines(checkout(), compared))
    try:
        beaten = [line for run in compared for line in suspects.checked(run)]
        points = shared.points([held(run, quantile) for run in compared])
        parameters = {"runs": [str(run.path) for run in compared], "quantile": quantile}
        table = "comparison.csv", shared.listed(points)
        files = to.render(compared, notebooks_of(checkout(), "runs"), parameters, table)
    except LabError as error:
        if fail_on and not isinstance(error, UsageError):
            error.exit_code = UNKNOWN  # 1 is a verdict
        raise
    say([*beaten, *shared.summary(points), shared.APART, *map(shown, files)])
    shared.fail(points, fail_on)


def _say_wrong(run: "RunFolder") -> None:
    """Name what was beaten; `LabError` for points that failed, and for impossible results."""
    from ipclab_measure.bounds import suspects

    say(suspects.beaten(run))
    if failed := run.about["failures"]:
        first, why = next(iter(failed.items()))
        raise LabError(
            f"{len(failed)} points failed",
            f"{first}: {why}",
            "the same command measures them again",
        )
    suspects.check(run)


for command in (backends, bundle, check, clean, conform, doctor, import_):
    commands.add_command(command)
