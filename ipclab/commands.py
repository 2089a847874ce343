"""What the commands share: options, how words and paths are read and shown, what is rendered, and their end."""

import os
import signal
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import pandas as pd

    from ipclab.store.run import RunFolder

UNDER_MAKE = "IPCLAB_UNDER_MAKE"
SEVERAL = MACHINES, HISTORY = "machines", "history"  # the reports of several runs
PATH: Any = click.Path(path_type=Path)
Words = tuple[str, ...]


def words(value: str) -> Words:
    """Return words that are separated by commas."""
    return tuple(word.strip() for word in value.split(",") if word.strip())


def shown(path: Path) -> str:
    """Return `path` as it is told: from the present folder on where it lies in it."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def say(lines: Iterable[object]) -> None:
    """Print each of the lines."""
    for line in lines:
        click.echo(line)


lang_option = click.option("--lang", "langs", type=words, default="ko,zh,en", help="Languages.")
format_option = click.option("--format", "formats", type=words, default="html,pdf", help="html, pdf, ipynb.")


def rendering(kind: str, table: bool = True) -> Callable[[Any], Any]:
    """Return what gives a command the options of the `Rendering` of a `kind`; with a `table` that may stand alone."""

    def given(command: Any) -> Any:
        alone = click.option("--table-only", is_flag=True, help="Write the table, and render no report.")
        place = click.option("--out", type=PATH, help=f"Folder of the report [default: reports/{kind}].")
        return lang_option(format_option(place(alone(command) if table else command)))

    return given


def die_with_make() -> None:
    """End with the make that started this command: a killed make must not leave a measurement running."""
    from ipclab.spawn.zygote import die_with_parent

    if os.environ.get(UNDER_MAKE) and sys.platform == "linux":
        die_with_parent(os.getppid(), signal.SIGTERM)


@dataclass(frozen=True)
class Rendering:
    """The report `kind` of a command: its languages, formats and folder (None: reports/`kind`), or its table alone."""

    kind: str
    langs: Words
    formats: Words
    out: Path | None = None
    table_only: bool = False

    def check(self) -> None:
        """Raise `UsageError` for an unknown language or format, and `LabError` for words that are not fit to print."""
        from ipclab.render.report import check_names, check_words

        check_names(self.langs, self.formats)
        if not self.table_only:
            check_words(self.langs)

    def render(
        self, runs: "Sequence[RunFolder]", notebooks: Sequence[Path], parameters: Mapping[str, Any],
        table: "tuple[str, pd.DataFrame] | None" = None,
    ) -> list[Path]:  # fmt: skip
        """Render `notebooks` with `parameters`, and the `table` beside them, and return the files.

        That is the name of a CSV file beside the pages, and its rows; with it the report has a manifest of its `runs`.
        The runs were checked before. Raises `UsageError` for a folder that cannot be written, and `LabError` when a
        notebook fails.
        """
        from ipclab.measure.progress import Bar
        from ipclab.paths import checkout
        from ipclab.render.report import DATA, Job, Target, check_out, run_jobs
        from ipclab.render.staleness import write_manifest
        from ipclab.store.files import write_whole

        paths, out = checkout(), (self.out or checkout().reports / self.kind).resolve()
        check_out(out)
        about: dict[str, Any] = {"date": max(run.about["begun"] for run in runs), "run": " ".join(r.id for r in runs)}
        tables = []
        if table:
            tables, about["attachments"] = [out / DATA / table[0]], {table[0]: f"../{DATA}/{table[0]}"}
            rows = table[1].to_csv(index=False, lineterminator="\n", float_format="%.4g")
            write_whole(tables[0], rows.encode())
        if self.table_only:
            return tables
        folder, told = paths.data / "executed" / self.kind, [(lang, {"lang": lang}) for lang in self.langs]
        jobs = [
            Job(notebook, lang, folder / lang / notebook.name, {**parameters, **named}, about | named)
            for notebook in notebooks
            for lang, named in told
        ]
        made = run_jobs([jobs], Target(self.formats, out, out / "figures"), Bar())
        if tables:
            write_manifest(paths, runs, out, [*made, *tables])
        return [*made, *tables]
