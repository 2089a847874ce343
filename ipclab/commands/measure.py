"""The command `measure`."""

from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ipclab.commands.completed import (
    complete_backend,
    complete_level,
    complete_placement,
    complete_run,
)
from ipclab.commands.options import agree_before, die_with_make, profile_option, study_option
from ipclab.console import PATH, SIZE, Words, say, say_wrong, shown_path, words
from ipclab.paths import checkout
from ipclab.session.progress import Progress
from ipclab.store import MOST_LAUNCHES

if TYPE_CHECKING:
    from ipclab.studies.interface import Study


MOST_SESSIONS = 100  # of one run


class _Measure(click.Command):
    """A command whose help ends with the studies and their levels."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write them; to know them, all studies are loaded."""
        from ipclab.store.questions import ALWAYS
        from ipclab.studies.installed import studies

        with formatter.section("Studies, each with the factors of --level and their usual levels"):
            rows = [(name, _factors(one)) for name, one in studies().items() if name not in ALWAYS]
            formatter.write_dl(rows)


def _factors(study: "Study") -> str:
    levels = [f"{name}={','.join(map(str, usual))}" for name, usual in study.factors.items()]
    return "; ".join(levels) or "none beside --size and --backend"


@click.command(cls=_Measure)
@study_option
@profile_option
@click.option("--run", type=PATH, help="Folder of a run.", shell_complete=complete_run)
@click.option("--seed", type=int, help="Seed of the launches' order and of the payloads.")
@click.option(
    "--size",
    "sizes",
    type=SIZE,
    multiple=True,
    help="Payload, such as 64KiB, instead of the study's own.",
)
@click.option(
    "--backend",
    "backends",
    multiple=True,
    help="Mechanism, instead of all that are here.",
    shell_complete=complete_backend,
)
@click.option(
    "--placement",
    "placements",
    multiple=True,
    help="same, cross, free ...",
    shell_complete=complete_placement,
)
@click.option(
    "--level",
    "levels",
    multiple=True,
    help="Levels of another factor, such as entries=10,100.",
    shell_complete=complete_level,
)
@click.option(
    "--launches",
    type=click.IntRange(1, MOST_LAUNCHES),
    help="Exactly so many of each point, each with its p99.9 [what its questions need].",
)
@click.option("--scratch", type=PATH, help="Folder for files made on disk [data/scratch].")
@click.option("--keep-scratch", is_flag=True, help="Keep those files for the next run.")
@click.option(
    "--sessions",
    type=click.IntRange(1, MOST_SESSIONS),
    default=1,
    help="Whole ones that the run shall have: those that it lacks are added.",
)
@click.option("--beside", is_flag=True, help="Do not wait for a session that measures here.")
@click.option("--label", help="Name of this node: runs of another label are never continued.")
@click.option("--bundle", "file", type=PATH, help="Write the finished run as this FILE, too.")
def measure(
    run: Path | None,
    studies: Words,
    profile: str | None,
    seed: int | None,
    launches: int | None,
    scratch: Path | None,
    keep_scratch: bool,
    label: str | None,
    file: Path | None,
    beside: bool,
    sessions: int,
    **swept: Any,
) -> None:
    """Measure this machine; points that are on disk are not measured again.

    Call it again with one more of --sessions hours or reboots later: from three on, values and
    ratios have intervals between sessions.
    """
    from ipclab.commands.bundles import check_new, pack
    from ipclab.commands.told_run import median_lines
    from ipclab.lab.runs import find
    from ipclab.session import session
    from ipclab.session.alone import alone
    from ipclab.session.request import Request, told_of_tails
    from ipclab.session.request import levels as levels_of
    from ipclab.session.room import told_before
    from ipclab.spawn.mpi_outer import around
    from ipclab.studies.interface import Sweep

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
            if swept["placements"]:
                levels["placement"] = tuple(chain.from_iterable(map(words, swept["placements"])))
            request = Request(
                studies,
                profile or "quick",
                run,
                seed,
                Sweep(swept["sizes"] or None, swept["backends"] or None, levels),
                launches=launches or 0,
                label=label or "",
            )
        request = replace(request, scratch=scratch, keep_scratch=keep_scratch, sessions=sessions)
        progress = Progress(shown=True)
        if request.launches:
            progress.say(told_of_tails(request.profile))
        request.points_wanted()  # what is wrong is told before others are waited for
        agree_before(told_before(request, scratch or checkout().data / "scratch"))
        with alone(progress.say, beside):
            done = session.measure_run(checkout(), request, progress)
        say([f"{len(done.points())} points in {shown_path(done.path)}"], err=True)
        if file:
            pack(done, file)  # also where points failed
            say([shown_path(file.absolute())])
        say(median_lines(checkout(), done, request.names()))
        say_wrong(done)
