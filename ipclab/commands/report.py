"""The commands `report` and `check`."""

from pathlib import Path

import click

from ipclab.commands.completed import complete_run
from ipclab.commands.options import agree_before, die_with_make, profile_option
from ipclab.console import PATH, Words, say, say_wrong, shown_path
from ipclab.errors import LabError, UsageError
from ipclab.paths import Paths, checkout, measured_in, typed
from ipclab.report.rendering import check_out, format_option, lang_option, out_option
from ipclab.session.progress import Progress
from ipclab.store.run import RunFolder
from ipclab.words.catalogue import SOURCE

MOST_CAUSES = 20  # that are shown


@click.command()
@click.option("--run", type=PATH, help="Folder of a run.", shell_complete=complete_run)
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
    run: Path | None,
    langs: Words,
    formats: Words,
    out: Path | None,
    profile: str | None,
    measuring: bool,
    claims: Path | None,
) -> None:
    """Render a run (the newest full one by default) in each language and format."""
    from ipclab.lab.runs import full, newest_full, run_named
    from ipclab.machine.origin import origin_lines
    from ipclab.session.request import Request
    from ipclab.session.room import told_before

    if run is not None and profile is not None:
        raise UsageError("a run has its profile already", "", "give RUN or PROFILE, not both")
    die_with_make()
    paths = checkout()
    target = (out or paths.reports).resolve()
    check_out(target)
    chosen = run_named(paths, str(run)) if run else newest_full(paths, profile or "")
    if chosen is None and not measuring:
        raise UsageError("there is no such run", "", f"measure one: {typed('measure')}")
    from ipclab.report.pages import report as reports

    reports.check_words(langs)
    if measuring and not run and (chosen is None or not chosen.complete):
        wanted = Request(profile=profile or (chosen.profile if chosen else "quick"))
        agree_before(told_before(wanted, paths.data / "scratch"))
        chosen = reports.measure_first(paths, wanted.profile)
    assert chosen is not None  # noqa: S101  for the type checker
    say(origin_lines([chosen]))
    progress = Progress(shown=True)
    files = reports.render_run(paths, chosen, langs, formats, target, progress, claims)
    say_wrong(chosen)
    reports.check_strays(paths)
    first = next((file for file in files if file.name == "index.html"), files[0])
    say([f"{len(files)} files in {shown_path(target)}; open {shown_path(first)}"])
    if full(chosen):  # of a sweep, little is meant to be decided
        say([decided(chosen, paths), *added(chosen.profile)])


def decided(run: RunFolder, paths: Paths) -> str:
    """Return how many of the texts' statements that the machine can test a run decides."""
    from ipclab.claims.audit import audited
    from ipclab.claims.differences import statements_decided
    from ipclab.lab.lab import Lab

    lab = Lab.of(run, paths, SOURCE)
    return statements_decided(lab, audited(lab))


def added(measured: str) -> list[str]:
    """Return what the profile `standard` would add to a briefer one, and how long it takes."""
    from ipclab.lab.head import LEAST, profile_is_preliminary
    from ipclab.session.request import Request
    from ipclab.session.room import minutes_of
    from ipclab.studies.profile import profile

    if not profile_is_preliminary(measured):
        return []
    before, after = (Request(profile=name).names_asked() for name in (measured, LEAST))
    beyond = [name for name in after if name not in before]
    what = f"more launches{', the studies ' if beyond else ''}{', '.join(beyond)}"
    return [
        f"PROFILE={LEAST} adds {what} and all round trips of the text; it takes up to"
        f" {minutes_of(profile(LEAST))}: {measured_in(LEAST)}"
    ]


@click.command()
@out_option
def check(out: Path | None) -> None:
    """Say whether every report is what data, code, words and lock would give, and why not; and what
    beat its limit.
    """
    from ipclab.bounds import suspects
    from ipclab.report.pages.staleness import MANIFEST, runs_of, stale
    from ipclab.store.run import read_run

    folder = (out or checkout().reports).resolve()
    causes = stale(checkout(), folder)
    for run in map(read_run, runs_of(folder)):
        try:
            run.checked()
            say(suspects.limits_beaten(run))  # from frames, which follow from samples that can be
        except LabError as error:
            causes.append(f"data: {error}")
    for manifest in sorted(folder.glob(f"*/{MANIFEST}")):  # of reports of several runs
        causes += stale(checkout(), manifest.parent)
    say(causes[:MOST_CAUSES])
    if len(causes) > MOST_CAUSES:
        say([f"and {len(causes) - MOST_CAUSES} more"])
    if causes:
        raise LabError("the reports are out of date", f"{len(causes)} causes", typed("report"))
    say(["every report is what data, code, words and lock give"])
