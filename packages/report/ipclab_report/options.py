"""What the commands share: options, how words and paths are read and shown, and their end."""

import errno
import os
import re
import signal
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import wraps
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ipclab.errors import UsageError, blamed
from ipclab.words.catalogue import LANGUAGES
from ipclab.paths import checkout
from ipclab.plugins import chosen, names
from ipclab_answers.quantile import MEDIAN, check
from ipclab.stats.units import BYTES

if TYPE_CHECKING:
    import pandas as pd

    from ipclab.store.run import RunFolder

UNDER_MAKE = "IPCLAB_UNDER_MAKE"
FORMATS = ("html", "pdf", "ipynb")
Words = tuple[str, ...]


class _Path(click.Path):
    """A path that may be absent, but can be looked up: no loop of links, no closed folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = Path(str(super().convert(value, param, ctx)))
        try:
            path.stat()
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            self.fail(f"{path}: {error.strerror}", param, ctx)
        return path


PATH: Any = _Path(path_type=Path)


UNITS = {"": 1, **BYTES}
_BYTES = re.compile(r"\s*(-?[0-9]{1,18}(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*")


def bytes_of(text: str) -> int:
    """Return a number of bytes, such as 65536 or 64KiB; raises `ValueError` for what is none."""
    parts = _BYTES.fullmatch(text)
    size = Decimal(parts[1]) * UNITS.get(parts[2], 0) if parts else Decimal(0)
    if not parts or parts[2] not in UNITS or size != int(size):
        raise ValueError(f"{text!r} is no size: write 65536 or 64KiB")
    if size <= 0:
        raise ValueError(f"size {text} is not possible: give a number of bytes above 0")
    return int(size)


class _Size(click.ParamType[int]):
    name = "bytes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return bytes_of(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


SIZE = _Size()


def words(value: str) -> Words:
    """Return words that are separated by commas."""
    return tuple(word.strip() for word in value.split(",") if word.strip())


def shown(path: Path) -> str:
    """Return `path` as it is told: from the present folder on where it lies in it."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def say(lines: Iterable[object]) -> None:
    """Print each of the lines."""
    for line in lines:
        click.echo(line)


def one_of(noun: str, possible: Callable[[], Iterable[str]], needed: bool = False) -> Any:
    """Return what checks the words of an option when they are read, before anything else is loaded.

    Words that are none of the `possible` ones are refused; where one is `needed`, so is none.
    """

    def check(_ctx: click.Context, _param: click.Parameter, value: Any) -> Any:
        words = (value,) if isinstance(value, str) else value or ()
        if needed and not words:
            raise UsageError(f"no {noun} is given", "", f"there are {', '.join(possible())}")
        for word in words:
            chosen(noun, word, dict.fromkeys(possible()))
        return value

    return check


def _profiles() -> Iterable[str]:
    from ipclab_measure.studies.profile import PROFILES

    return PROFILES


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
profile_option = click.option(
    "--profile",
    help="smoke, quick (default), standard or full.",
    callback=one_of("profile", _profiles),
)
study_option = click.option(
    "--study",
    "studies",
    multiple=True,
    help="Study; all when not given.",
    callback=one_of("study", lambda: names("ipclab.studies")),
)
out_option = click.option("--out", type=PATH, help="Folder of the reports [default: reports].")
quantile_option = click.option(
    "--quantile",
    type=float,
    default=MEDIAN,
    callback=lambda _ctx, _param, quantile: check(quantile),
    help="Of each launch, such as 0.99 [the median].",
)


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


def die_with_make() -> None:
    """End with the make that started this command: a killed make must not leave it running."""
    from ipclab_measure.spawn.exits import die_with_parent

    if os.environ.get(UNDER_MAKE) and sys.platform == "linux":
        die_with_parent(os.getppid(), signal.SIGTERM)


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
            from ipclab_report.pages.report import check_words

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
        from ipclab_measure.session.progress import Progress
        from ipclab_report.pages.jobs import (
            Job,
            Target,
            refuse,
            run_jobs,
        )
        from ipclab_report.pages.report import DATA
        from ipclab_report.pages.staleness import write_manifest
        from ipclab.store.files import write_whole

        paths = checkout()
        out = self.folder
        date = max(run.about["begun"] for run in runs)
        about: dict[str, Any] = {"date": date, "run": " ".join(run.id for run in runs)}
        tables = []
        if table:
            name, rows = table
            tables.append(out / DATA / name)
            about["attachments"] = {name: f"../{DATA}/{name}"}
            text = rows.to_csv(index=False, lineterminator="\n", float_format="%.4g")
            write_whole(tables[0], text.encode())
        if self.table_only:
            return tables
        jobs = []
        for notebook, lang in product(notebooks, self.langs):
            executed = paths.executed / self.kind / lang / notebook.name
            jobs.append(Job(notebook, lang, executed, parameters, about))
        target = Target(self.formats, out, out / "figures")
        made, errors = run_jobs([jobs], target, Progress(shown=True))
        refuse(errors)
        if tables:
            write_manifest(paths, runs, out, [*made, *tables])
        return [*made, *tables]
