"""Commands that hand runs over: one is written as a file, and a file is placed as a run."""

from pathlib import Path

import click

from ipclab.commands.completed import complete_run
from ipclab.console import PATH, say, shown_path
from ipclab.errors import LabError
from ipclab.paths import checkout


@click.command()
@click.argument("run", type=PATH, shell_complete=complete_run)
@click.argument("file", type=PATH)
@click.option("--replace", is_flag=True, help="Write over a FILE that is there.")
@click.option(
    "--strict",
    is_flag=True,
    help="Refuse a run that is not fit for a table of machines, and say why.",
)
@click.option(
    "--samples",
    type=click.IntRange(1),
    help="Keep at most so many of each launch, sorted: a small FILE.",
)
@click.option("--sign", "key", type=PATH, help="Sign it with this SSH key, as FILE.sig.")
def bundle(
    run: Path, file: Path, replace: bool, strict: bool, samples: int | None, key: Path | None
) -> None:
    """Write a finished RUN with its raw samples as one FILE.

    RUN is a folder, a bundle, an id or part of one, or 'newest'.
    """
    from ipclab.commands.bundles import FAST, SMALL, pack
    from ipclab.lab.lab import Lab
    from ipclab.lab.runs import run_named
    from ipclab.report.appendix.thin import thinned
    from ipclab.report.appendix.trust import unfit
    from ipclab.spawn.ledger import private
    from ipclab.store.files import part_of
    from ipclab.store.signature import sign

    chosen = run_named(checkout(), str(run))
    if strict and (reasons := unfit(Lab.of(chosen, checkout(), "en"))):
        say(reasons)
        fix = "measure again, or leave --strict out"
        raise LabError(f"{chosen.id} is not bundled", f"{len(reasons)} reasons", fix)
    with private(checkout().ledger, part_of(file.absolute())) as folder:
        kept = thinned(chosen, samples, folder) if samples else chosen
        packed = pack(kept, file, replace, level=SMALL if samples else FAST)
    size = file.stat().st_size
    count = len(packed.files)
    say([f"{shown_path(file.resolve())}: {count} files of {packed.run}, {size:,} bytes"])
    if key:
        say([f"signed: {shown_path(sign(file, key).resolve())}"])


@click.command(name="import")
@click.argument("file", type=PATH)
@click.option(
    "--signers", type=PATH, help="SSH's allowed_signers: refuse what none of them signed."
)
def import_(file: Path, signers: Path | None) -> None:
    """Place the run of a bundle FILE below data/imported; verified before a byte is placed."""
    from ipclab.commands.bundles import unpack
    from ipclab.store.signature import signed_by

    signer = signed_by(file, signers)
    say([f"signed by {signer}"] if signer else [], err=True)
    say([shown_path(unpack(checkout(), file).path)])
