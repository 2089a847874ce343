"""The command `gather`: all bundles below a folder as one page, or as tables for other programs."""

from pathlib import Path

import click

from ipclab.console import PATH, SIZE, Words, one_of, say, words
from ipclab.errors import LabError
from ipclab.paths import checkout
from ipclab.report.rendering import FORMATS as PAGES
from ipclab.report.rendering import Rendering, lang_option

TABLES = ("csv", "parquet")


@click.command()
@click.argument("folder", type=PATH)
@click.option("--size", type=SIZE, default=100, help="Of the round trip, such as 64KiB.")
@lang_option
@click.option(
    "--format", "formats", type=words, default="html", help="html, pdf, ipynb; csv, parquet.",
    callback=one_of("format", lambda: (*PAGES, *TABLES), needed=True),
)  # fmt: skip
@click.option("--out", type=PATH, help="Folder of all files [default: reports/gathered].")
def gather(folder: Path, size: int, langs: Words, formats: Words, out: Path | None) -> None:
    """Render all bundles below FOLDER as one page, or as tables.

    Nodes by mechanisms, over their limits, and by rank; nodes that differ from their equals.
    """
    from ipclab_more.gather import require_bundles

    require_bundles(folder)
    pages = tuple(name for name in formats if name in PAGES)
    to = Rendering("gathered", langs, pages, out, table_only=not pages)
    to.check()
    from ipclab_more.gather import equals, tables, trips
    from ipclab_more.gather.index import index

    every = index(folder)
    shown = trips.trips(every, size)
    damaged = shown.bundles[shown.bundles.why != ""]
    for bundle in damaged.itertuples():
        say([f"{bundle.file}: {bundle.why}"], err=True)
    total = len(shown.bundles)
    taken = total - len(damaged)
    if not taken:
        what = f"no bundle in {folder} can be taken"
        raise LabError(what, damaged.why.iloc[0], "see the lines above")
    apart = equals.differing(every)
    for form in formats:
        if form in TABLES:
            say(tables.written_tables(every, apart, to.folder, form))
    if pages:
        from ipclab.report.pages.report import notebooks_of
        from ipclab_more.gather.page import run_of_many

        asked = {"bundles": str(folder.resolve()), "size": size}
        notebooks = notebooks_of(checkout(), "bundles")
        say(to.render([run_of_many(shown)], notebooks, asked))
    machines = trips.machines(shown)
    say(tables.node_lines(machines, trips.ranked_trips(shown, machines)))
    say(tables.differing_nodes(apart))
    say([f"{taken} of {total} bundles taken, {every.read} of them new"])
