"""`ipclab compare`: runs of two or more machines, each with the first, and an exit code for what was found."""

from pathlib import Path

import click

from ipclab.commands import PATH, Words, die_with_make, format_option, lang_option, shown, words


@click.command()
@click.argument("runs", nargs=-1, type=PATH)
@lang_option
@format_option
@click.option("--out", type=PATH, help="Folder of the report [default: reports/machines].")
@click.option("--fail-on", type=words, default="", help="Exit code 1: slower, faster; 3: undecided, missing, limits.")
@click.option("--table-only", is_flag=True, help="Write the table and no report.")
def compare(
    runs: tuple[Path, ...], langs: Words, formats: Words, out: Path | None, fail_on: Words, table_only: bool
) -> None:
    """Compare runs of two or more machines, each with the first: RUN RUN ... (by default the two committed ones)."""
    from ipclab.compare import reporting, shared
    from ipclab.compare.held import chosen
    from ipclab.errors import LabError, UsageError
    from ipclab.measure.progress import Bar
    from ipclab.paths import checkout
    from ipclab.plugins import chosen as named
    from ipclab.render.report import check_names, check_words

    die_with_make()
    check_names(langs, formats)
    for word in fail_on:
        named("verdict to fail on", word, shared.FAIL_ON)
    compared = chosen(checkout(), [str(run) for run in runs])
    if not table_only:
        check_words(langs)
    target = (out or checkout().reports / reporting.FOLDER).resolve()
    try:
        found, files = reporting.report(checkout(), compared, () if table_only else langs, formats, target, Bar())
    except LabError as error:
        if fail_on and not isinstance(error, UsageError):
            error.exit_code = shared.UNKNOWN  # 1 is a verdict
        raise
    for line in (*shared.summary(found), shared.APART, *map(shown, files)):
        click.echo(line)
    shared.fail(found, fail_on)
