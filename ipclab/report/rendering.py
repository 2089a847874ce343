"""Options of commands that render reports, and what they have rendered."""

import errno
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ipclab.console import PATH, Words, one_of, words
from ipclab.errors import UsageError, blamed
from ipclab.paths import checkout
from ipclab.report.sheet import csv
from ipclab.words.catalogue import LANGUAGES

if TYPE_CHECKING:
    import pandas as pd

    from ipclab.store.run import RunFolder

FORMATS = ("html", "pdf", "ipynb")

lang_option = click.option(
    "--lang",
    "langs",
    type=words,
    default=",".join(LANGUAGES),
    help="Languages.",
    callback=one_of("language", lambda: LANGUAGES, needed=True),
)
format_option = click.option(
    "--format",
    "formats",
    type=words,
    default="html,pdf",
    help="html, pdf, ipynb.",
    callback=one_of("format", lambda: FORMATS, needed=True),
)
out_option = click.option("--out", type=PATH, help="Folder of the reports [default: reports].")


def rendering(kind: str, table: bool = True) -> Callable[[Any], Any]:
    """Return what adds the options of a `kind` of report, passed on as the `Rendering` `to`.

    With a `table` that may be written alone.
    """

    def given(command: Any) -> Any:
        @wraps(command)
        def called(
            langs: Words, formats: Words, out: Path | None, table_only: bool = False, **others: Any
        ) -> Any:
            return command(to=Rendering(kind, langs, formats, out, table_only), **others)

        alone = click.option(
            "--table-only", is_flag=True, help="Write the table, and render no report."
        )
        place = click.option(
            "--out", type=PATH, help=f"Folder of the report [default: reports/{kind}]."
        )
        return lang_option(format_option(place(alone(called) if table else called)))

    return given


def check_out(out: Path) -> None:
    """Raise `UsageError` when reports cannot be written into `out`: before anything is rendered."""
    with blamed(f"cannot write into {out}", "choose another --out", UsageError):
        out.mkdir(parents=True, exist_ok=True)
        if not os.access(out, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "permission denied")


@dataclass(frozen=True)
class Rendering:
    """The report `kind` of a command: its languages, formats and folder, or its table alone.

    Without a folder it is reports/`kind`.
    """

    kind: str
    langs: Words
    formats: Words
    out: Path | None = None
    table_only: bool = False

    @property
    def folder(self) -> Path:
        """Return where the report goes."""
        return (self.out or checkout().reports / self.kind).resolve()

    def check(self) -> None:
        """Raise `UsageError` for a folder that cannot be written, `LabError` for unfit words.

        That takes seconds: what else may be wrong is looked at before.
        """
        check_out(self.folder)
        if not self.table_only:
            from ipclab.report.pages.report import check_words

            check_words(self.langs)

    def render(
        self,
        runs: "Sequence[RunFolder]",
        notebooks: Sequence[Path],
        parameters: Mapping[str, Any],
        table: "tuple[str, pd.DataFrame] | None" = None,
    ) -> list[Path]:
        """Render `notebooks` with `parameters`, and the `table` beside them, and return the files.

        That is the name of a CSV file beside the pages, and its rows; with it the report has a
        manifest of its `runs`. All of it was checked before. Raises `LabError` when a notebook
        fails.
        """
        from ipclab.lab import head
        from ipclab.report.pages.jobs import Job, Target, refuse, run_jobs, spoken_in
        from ipclab.report.pages.report import DATA
        from ipclab.report.pages.staleness import write_manifest
        from ipclab.session.progress import Progress
        from ipclab.store.files import write_whole

        paths = checkout()
        out = self.folder
        about: dict[str, Any] = head.about(*runs)
        tables = []
        if table:
            name, rows = table
            tables = [out / DATA / name]
            about["attachments"] = {name: f"../{DATA}/{name}"}
            write_whole(tables[0], csv(rows, float_format="%.4g").encode())
        if self.table_only:
            return tables
        executed = paths.data / "executed" / self.kind / "-".join(spoken_in(self.langs))
        in_each = dict.fromkeys(self.langs, about)
        jobs = [Job(each, executed / each.name, parameters, in_each) for each in notebooks]
        target = Target(self.formats, out, out / "figures")
        made = run_jobs(jobs, target, Progress(shown=True))
        refuse(made.errors)
        files = [*made.files, *tables]
        if tables:
            write_manifest(paths, runs, out, files)
        return files
