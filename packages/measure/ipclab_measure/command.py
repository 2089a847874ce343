"""The command `measure`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ipclab.paths import checkout
from ipclab.store import MOST_LAUNCHES
from ipclab_measure.console import PATH, SIZE, Words, say, say_wrong, shown
from ipclab_measure.options import die_with_make, profile_option, study_option
from ipclab_measure.session.progress import Progress


@click.command()
@study_option
@profile_option
@click.option("--run", type=PATH, help="Folder of a run.")
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
@click.option("--placement", "placements", multiple=True, help="same, cross, free ...")
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
    **swept: Any,
) -> None:
    """Measure this machine; points that are on disk are not measured again."""
    from ipclab.lab.runs import find
    from ipclab_measure.bundles import check_new, pack
    from ipclab_measure.session import session
    from ipclab_measure.session.request import Request
    from ipclab_measure.session.request import levels as levels_of
    from ipclab_measure.spawn.mpi_outer import around
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
            placed = [f"placement={','.join(swept['placements'])}"] if swept["placements"] else []
            levels = levels_of((*swept["levels"], *placed))
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
        say([f"{len(done.points())} points in {shown(done.path)}"], err=True)
        if file:
            pack(done, file)  # also where points failed
            say([shown(file.absolute())])
        say_wrong(done)
