"""The command `gather`: all bundles below a folder as one page, or as tables for other programs."""

from pathlib import Path

import click

from ipclab.commands import PATH, SIZE, Rendering, Words, lang_option
from ipclab.errors import LabError
from ipclab.paths import checkout

FORMATS = ("html", "csv", "parquet")


@click.command()
@click.argument("folder", type=PATH)
@click.option("--size", type=SIZE, default=100, help="Of the round trip, such as 64KiB.")
@lang_option
@click.option("--format", "form", type=click.Choice(FORMATS), default="html")
@click.option("--out", type=PATH, help="Folder of all files [default: reports/gathered].")
def gather(folder: Path, size: int, langs: Words, form: str, out: Path | None) -> None:
    """Render all bundles below FOLDER as one page, or as tables.

    Nodes by mechanisms, over their limits, and by rank; nodes that differ from their equals.
    """
    from ipclab_answers.gather import files_in

    files_in(folder)  # or it is refused
    to = Rendering("gathered", langs, ("html",), out, table_only=form != "html")
    to.check()
    from ipclab_answers.gather import bundles, nodes, tables
    from ipclab_answers.gather.index import index, place
    from ipclab_answers.gather.page import notebook, write

    held = index(folder, place(checkout().data, folder, bundles.STUDY), bundles.STUDY)
    taken = bundles.gathered(held, size)
    damaged = [bundle for bundle in taken if bundle.why]
    for bundle in damaged:
        click.echo(f"{bundle.file}: {bundle.why}", err=True)
    if len(damaged) == len(taken):
        what = f"no bundle in {folder} can be taken"
        raise LabError(what, damaged[0].why, "see the lines above")
    apart = nodes.differing(held)
    if form != "html":
        for file in tables.written(held, apart, to.folder, form):
            click.echo(str(file))
    for lang in langs if form == "html" else ():
        page = to.folder / lang / "gathered.html"
        write(notebook(taken, size, lang, apart), page)
        click.echo(str(page))
    whole = [bundle for bundle in taken if not bundle.why]
    for line in (*tables.told(bundles.best(whole)), *tables.named(apart)):
        click.echo(line)
    click.echo(f"{len(whole)} of {len(taken)} bundles taken, {held.read} of them new")
