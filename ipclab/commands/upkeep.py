"""Commands that keep things in order: is the machine sound, what can be measured, what is left?"""

import math

import click

from ipclab.console import say
from ipclab.errors import LabError
from ipclab.paths import checkout


def _finite(ctx: click.Context, param: click.Parameter, value: float) -> float:
    """Return a time in seconds: `nan` lies in no range, and `inf` is too long for any."""
    if not math.isfinite(value):
        raise click.BadParameter(f"{value} is not a number of seconds", ctx, param)
    return value


@click.command()
@click.option(
    "--seconds",
    type=click.FloatRange(0.1, 60),
    callback=_finite,
    default=5,
    help="How long to watch.",
)
def doctor(seconds: float) -> None:
    """Say whether this machine is fit to measure: noise, settings, limits, software, and what fixes
    each.
    """
    from ipclab.machine import Source
    from ipclab.machine.doctor import check_fit, diagnosis_lines, visit
    from ipclab.session.request import Request
    from ipclab.session.room import SHARED_MEMORY_SLACK

    largest = max(
        study.shared_memory(point) for study, points in Request().points() for point in points
    )
    diagnoses = visit(checkout(), Source(), largest + SHARED_MEMORY_SLACK, seconds)
    say(diagnosis_lines(diagnoses))
    check_fit(diagnoses)
    say(["this machine is fit to measure"])


@click.command()
def backends() -> None:
    """Send a message through each mechanism, and list what can be measured here, and why the rest
    cannot.
    """
    from ipclab.backends.installed import backends as registered
    from ipclab.studies.probe import refusals

    for name, why in refusals(checkout().ledger, registered()):
        say([f"{name:<14} {'ready' if why is None else f'not testable here: {why}'}"])


@click.command()
@click.argument("peer", nargs=-1, required=True)
def conform(peer: tuple[str, ...]) -> None:
    """Say what a mechanism does wrong: PEER is an executable (docs/peers.md), or a backend in Python
    (docs/backends.md), by its name or as module:backend.
    """
    from ipclab.backends.conform_peer import peer_faults
    from ipclab.backends.installed import backends as registered
    from ipclab.studies.conform_channel import channel_faults

    (name, *more) = peer
    if more or "/" in name or (":" not in name and name not in registered()):
        page, wrong = "docs/peers.md", list(peer_faults(peer))
    else:
        page, wrong = "docs/backends.md", list(channel_faults(name))
    if wrong:
        say(f"{name}: {line}" for line in wrong)
        raise LabError(f"{name} does not conform", f"{len(wrong)} faults", f"see {page}")
    say([f"{name} conforms"])


@click.command()
def clean() -> None:
    """Remove what a killed run left behind; only what ipclab itself created."""
    from platformdirs import user_cache_path

    from ipclab.commands.bundles import clean_placed
    from ipclab.spawn.ledger import clean_parts, close_dead_sessions
    from ipclab.store.record import settle_parts

    paths = checkout()
    cache = user_cache_path("ipclab", appauthor=False)
    written = [paths.reports, paths.figures, paths.data / "executed", cache]
    removed = [*close_dead_sessions(paths.ledger), *clean_placed(paths), *clean_parts(written)]
    removed += settle_parts(paths.runs)
    say(f"removed {name}" for name in removed)
    say([f"{len(removed)} things removed" if removed else "nothing was left behind"])
