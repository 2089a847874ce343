"""`ipclab gather`: a folder of bundles as one page."""

from pathlib import Path

import click

from ipclab.commands import PATH, Words, lang_option


@click.command()
@click.argument("folder", type=PATH)
@click.option("--size", type=click.IntRange(1), default=100, help="Payload of the round trip, in bytes.")
@lang_option
@click.option("--out", type=PATH, help="Folder of the pages [default: reports/gathered].")
def gather(folder: Path, size: int, langs: Words, out: Path | None) -> None:
    """Render all bundles in FOLDER as one page: machines by mechanisms, over their limits, and by rank."""
    from ipclab.errors import LabError
    from ipclab.gather.bundles import gather as gathered
    from ipclab.gather.page import notebook, write
    from ipclab.paths import checkout
    from ipclab.render.report import check_names, check_out, check_words

    target = (out or checkout().reports / "gathered").resolve()
    check_names(langs, ["html"])
    check_words(langs)
    found = gathered(folder, size)
    damaged = [each for each in found if each.why]
    for each in damaged:
        click.echo(f"{each.file}: {each.why}", err=True)
    if len(damaged) == len(found):
        raise LabError(f"no bundle in {folder} can be taken", damaged[0].why, "see the lines above")
    check_out(target)
    for lang in langs:
        file = target / lang / "gathered.html"
        write(notebook(found, size, lang), file)
        click.echo(str(file))
    click.echo(f"{len(found) - len(damaged)} of {len(found)} bundles taken")
