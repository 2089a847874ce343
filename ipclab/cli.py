"""The command line: thin commands, each importing what it needs, so that the light ones start at once."""

import math
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from ipclab import __version__
from ipclab.ab.command import ab
from ipclab.choose.command import choose
from ipclab.commands import PATH, SEVERAL, Words, die_with_make, format_option, lang_option, say, shown
from ipclab.compare.command import compare
from ipclab.errors import LabError, UsageError
from ipclab.gather.command import gather
from ipclab.history.command import history
from ipclab.measure.progress import Bar
from ipclab.paths import checkout

if TYPE_CHECKING:
    from ipclab.lab.lab import Lab
    from ipclab.store.run import RunFolder

MOST_CAUSES = 20  # that are shown
Given = Path | None  # None: not given


def _finite(ctx: click.Context, param: click.Parameter, value: float) -> float:
    """Return a time in seconds: `nan` lies in no range, and `inf` is too long for any."""
    if not math.isfinite(value):
        raise click.BadParameter(f"{value} is not a number of seconds", ctx, param)
    return value


run_option = click.option("--run", type=PATH, help="Folder of a run.")
out_option = click.option("--out", type=PATH, help="Folder of the reports [default: reports].")
profile_option = click.option("--profile", help="smoke, quick (default), standard or full.")
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True}


@click.group(context_settings=SETTINGS)
@click.version_option(__version__)
def commands() -> None:
    """A laboratory for the cost of handing data from one process, stream or file to another."""


for each in (ab, choose, compare, gather, history):
    commands.add_command(each)


@commands.command()
@click.option("--study", "studies", multiple=True, help="Study to measure; all when not given.")
@profile_option
@run_option
@click.option("--seed", type=int, help="Seed of the launches' order and of the payloads.")
@click.option("--size", "sizes", type=int, multiple=True, help="Payload in bytes, instead of the study's own.")
@click.option("--backend", "backends", multiple=True, help="Mechanism, instead of all that are here.")
@click.option("--level", "levels", multiple=True, help="Levels of another factor, such as entries=10,100.")
@click.option("--deadline", default="", help="What to state of each point's p99.9: coverage/confidence, as 95/95.")
@click.option("--scratch", type=PATH, help="Folder for files made on disk [data/scratch].")
@click.option("--keep-scratch", is_flag=True, help="Keep those files for the next run.")
def measure(
    run: Given, studies: Words, profile: str | None, seed: int | None, deadline: str, scratch: Given,
    keep_scratch: bool, **swept: Any,
) -> None:  # fmt: skip
    """Measure this machine; points that are on disk are not measured again."""
    from ipclab.lab.runs import find
    from ipclab.measure.request import Request
    from ipclab.measure.request import levels as levels_of
    from ipclab.measure.session import measure as measured
    from ipclab.spawn.mpi_outer import around
    from ipclab.studies.interface import Sweep

    die_with_make()
    with around() as served:  # started by mpiexec or srun: one rank measures, the others serve it
        if served:
            return
        if run and not (studies or profile or deadline or any(swept.values())):
            request = replace(Request.continuing(find(checkout(), str(run))), seed=seed)
        else:
            sweep = Sweep(swept["sizes"] or None, swept["backends"] or None, levels_of(swept["levels"]))
            request = Request(studies, profile or "quick", run, seed, sweep, deadline=deadline)
        done = measured(checkout(), replace(request, scratch=scratch, keep_scratch=keep_scratch), Bar())
        points = sum(name.startswith("points/") for name in done.about["files"])
        click.echo(f"{points} points in {shown(done.path)}", err=True)
        lab = _english(done)
        from ipclab.lab.deadlines import asked, statements

        if asked(done):  # what it was measured to state, or why it cannot be stated
            say(statements(lab))
        _say_wrong(lab)


@commands.command()
@run_option
@lang_option
@format_option
@out_option
@profile_option
@click.option("--measure", "measuring", is_flag=True, help="Measure first when there is no such run, or points failed.")
@click.option("--claims", type=PATH, help="TOML file of your own claims, judged as the texts'.")
def report(
    run: Given, langs: Words, formats: Words, out: Given, profile: str | None, measuring: bool, claims: Given
) -> None:
    """Render a run (the newest full one by default) in each language and format."""
    from ipclab.lab.runs import choose, newest_full
    from ipclab.render import report as reports
    from ipclab.studies.profile import profile as known

    die_with_make()
    paths = checkout()
    target = (out or paths.reports).resolve()
    reports.check_names(langs, formats)
    reports.check_out(target)
    if run is not None and profile is not None:
        raise UsageError("a run has its profile already", "", "give RUN or PROFILE, not both")
    chosen = choose(paths, str(run)) if run else newest_full(paths, known(profile).name if profile else "")
    if chosen is None and not measuring:
        raise UsageError("there is no such run", "", "measure one: make measure")
    reports.check_words(langs)
    if measuring and not run and (chosen is None or not chosen.complete):
        chosen = reports.measure(paths, profile or (chosen.about["parameters"]["profile"] if chosen else "quick"))
    assert chosen is not None  # noqa: S101  for the type checker
    say(map(shown, reports.report(paths, chosen, langs, formats, target, Bar(), claims)))
    _say_wrong(_english(chosen))


def _english(run: "RunFolder") -> "Lab":
    from ipclab.lab.lab import Lab  # only now: what measures is not to hold what draws

    return Lab.of(run, checkout(), "en")


def _say_beaten(lab: "Lab") -> None:
    """Name every result that is faster than its limit, which shows that the limit is none."""
    from ipclab.frames.limits import LEAST, lines

    if told := lines(lab.beaten()):
        head = f"{lab.run.id}: {len(told)} results lie below {LEAST} of their limit, or below it with their interval"
        say([head, *told])


def _say_wrong(lab: "Lab") -> None:
    """Name what was beaten; raises `LabError` for points that failed, and for results that cannot be."""
    _say_beaten(lab)
    if failed := lab.run.about["failures"]:
        first, why = next(iter(failed.items()))
        raise LabError(f"{len(failed)} points failed", f"{first}: {why}", "the same command measures them again")
    if wrong := lab.impossible():
        fix = "it measured something else than it says: look at that backend"
        raise LabError(f"{len(wrong)} results are physically impossible", wrong[0], fix)


@commands.command()
@click.argument("run", type=PATH)
@click.argument("file", type=PATH)
@click.option("--replace", is_flag=True, help="Write over a FILE that is there.")
@click.option("--strict", is_flag=True, help="Refuse a run that is not fit to be gathered, and say why.")
@click.option("--samples", type=click.IntRange(1), help="Keep at most so many of each launch, sorted: a small FILE.")
def bundle(run: Path, file: Path, replace: bool, strict: bool, samples: int | None) -> None:
    """Write a finished RUN (or 'newest': the newest complete one), raw samples included, as one FILE."""
    from ipclab.frames.thin import thinned
    from ipclab.gather.strict import reasons
    from ipclab.lab.runs import choose, newest_full
    from ipclab.store.bundle import pack

    chosen = newest_full(checkout()) if str(run) == "newest" else choose(checkout(), str(run))
    if chosen is None:
        raise UsageError("there is no complete run", "", "measure one: make measure")
    if strict and (told := reasons(_english(chosen))):
        say(told)
        raise LabError(f"{chosen.id} is not bundled", f"{len(told)} reasons", "measure again, or leave --strict out")
    with TemporaryDirectory(prefix="ipclab-") as folder:
        held = pack(thinned(chosen, samples, Path(folder)) if samples else chosen, file, replace)
    click.echo(f"{shown(file.resolve())}: {len(held.files)} files of {held.run}, {file.stat().st_size:,} bytes")


@commands.command(name="import")
@click.argument("file", type=PATH)
def import_(file: Path) -> None:
    """Place the run of a bundle FILE below data/imported; verified before a byte is placed."""
    from ipclab.store.bundle import unpack

    click.echo(shown(unpack(checkout(), file).path))


@commands.command()
@click.option("--seconds", type=click.FloatRange(0.1, 60), callback=_finite, default=5, help="How long to watch.")
def doctor(seconds: float) -> None:
    """Say whether this machine is fit to measure: noise, settings, limits, software, and what fixes each."""
    from ipclab.machine import Source
    from ipclab.machine.doctor import RESERVATION, judge, lines, visit
    from ipclab.measure.request import Request
    from ipclab.measure.session import SHARED_MEMORY_SLACK

    largest = max(each.shared_memory(point) for each, points in Request().points() for point in points)
    found = visit(checkout(), Source(), largest + SHARED_MEMORY_SLACK, seconds)
    say(lines(found))
    judge(found, RESERVATION)
    click.echo("this machine is fit to measure")


@commands.command()
@out_option
def check(out: Given) -> None:
    """Say whether every report is what data, code, words and lock would give, and why not; and what beat its limit."""
    from ipclab.render.gallery import stale as stale_gallery
    from ipclab.render.staleness import MANIFEST, runs_of, stale
    from ipclab.store.run import read

    folder = (out or checkout().reports).resolve()
    causes = stale(checkout(), folder)
    for run in runs_of(folder):
        _say_beaten(_english(read(run)))
    for name in (name for name in SEVERAL if (folder / name / MANIFEST).is_file()):
        causes += stale(checkout(), folder / name)
    more = [f"and {len(causes) - MOST_CAUSES} more"] if len(causes) > MOST_CAUSES else []
    say((*causes[:MOST_CAUSES], *more, *(stale_gallery(checkout()) if out is None else [])))
    if causes:
        raise LabError("the reports are out of date", f"{len(causes)} causes", "make report")
    click.echo("every report is what data, code, words and lock give")


@commands.command()
def backends() -> None:
    """List what can be measured here, and why the rest cannot."""
    from ipclab.backends.installed import backends as registered

    for name, backend in registered().items():
        why = backend.missing()
        click.echo(f"{name:<14} {'ready' if why is None else f'not testable here: {why}'}")


@commands.command()
@click.argument("peer", nargs=-1, required=True)
def conform(peer: tuple[str, ...]) -> None:
    """Say what the executable PEER does wrong when it speaks for a mechanism (docs/peers.md)."""
    from ipclab.backends.peers import faults

    if found := list(faults(peer)):
        say(f"{peer[0]}: {line}" for line in found)
        raise LabError(f"{peer[0]} does not conform", f"{len(found)} faults", "see docs/peers.md")
    click.echo(f"{peer[0]} conforms")


@commands.command()
def clean() -> None:
    """Remove what a killed run left behind; only what ipclab itself created."""
    from ipclab.spawn.ledger import clean as clean_ledger
    from ipclab.store.bundle import clean as clean_placed

    removed = [*clean_ledger(checkout().ledger), *clean_placed(checkout())]
    say(f"removed {name}" for name in removed)
    click.echo(f"{len(removed)} things removed" if removed else "nothing was left behind")


@commands.command()
@click.option("--seconds", type=click.FloatRange(1), callback=_finite, default=60, help="About how long.")
@click.option("--seed", type=int, help="Seed of the launches' order.")
def calibrate(seconds: float, seed: int | None) -> None:
    """Measure what comparisons are worth here: false alarms, and the smallest planted slow-down that is found."""
    from ipclab.measure import calibration

    found = calibration.calibrate(checkout(), seconds, seed, Bar())
    alarms = found.false_alarms
    upper = f"at most {alarms.upper:.1%} with 95 % confidence"
    click.echo(f"identical code called different: {alarms.flagged} of {alarms.comparisons}, {upper}")
    for name, placed in found.placements.items():
        tally = placed.tally
        counts = ", ".join(f"+{float(arm):.0%} {count}" for arm, count in tally.found.items())
        smallest = "none" if tally.smallest is None else f"+{tally.smallest:.0%}"
        click.echo(f"{name}: smallest slow-down found: {smallest} (of {tally.trials} trials: {counts})")
    click.echo(shown(calibration.file(checkout(), found.machine)))
