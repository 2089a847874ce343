"""What all commands share: how paths, sizes and words are read, and what is told."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ipclab.errors import LabError, UsageError, plain
from ipclab.plugins import chosen
from ipclab.stats.units import BYTES, NANOSECONDS

if TYPE_CHECKING:
    from ipclab.store.run import RunFolder

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


_AMOUNT = re.compile(r"\s*(-?[0-9]{1,18}(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*")


def _amount(text: str, units: Mapping[str, int], kind: str, fix: str) -> int:
    """Return how many of the unit that is 1 `text` is; raises `ValueError`, which says the fix."""
    parts = _AMOUNT.fullmatch(text)
    amount = Decimal(parts[1]) * units.get(parts[2], 0) if parts else Decimal(0)
    if not parts or parts[2] not in units or amount != int(amount):
        raise ValueError(f"{text!r} is no {kind}: write {fix}")
    if amount <= 0:
        raise ValueError(f"give a {kind} above 0")
    return int(amount)


def bytes_of(text: str) -> int:
    """Return a number of bytes, such as 65536 or 64KiB; raises `ValueError` for what is none."""
    return _amount(text, {"": 1, **BYTES}, "number of bytes", "65536 or 64KiB")


def nanoseconds_of(text: str) -> int:
    """Return the ns of a time with its unit, such as 50us; raises `ValueError` for what is none."""
    return _amount(text, NANOSECONDS, "time", "50us or 1ms")


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


def shown_path(path: Path) -> str:
    """Return `path` as it is told: from the present folder on where it lies in it."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def say(lines: Iterable[object], err: bool = False) -> None:
    """Print each of the lines, on standard error if `err`; what they name commands no terminal."""
    for line in lines:
        click.echo(plain(str(line)), err=err)


def aligned(rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the lines of a table whose columns begin below each other."""
    table = [list(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        yield "  ".join(map(str.ljust, row, widths)).rstrip()


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


def say_wrong(run: "RunFolder") -> None:
    """Say how many limits were beaten; `LabError` for points that failed, impossible results."""
    from ipclab.bounds import suspects

    say([f"{line} (the appendix lists them)" for line in suspects.limits_beaten(run)[:1]])
    if failed := run.about["failures"]:
        first, why = next(iter(failed.items()))
        raise LabError(
            f"{len(failed)} points failed",
            f"{first}: {why}",
            "the same command measures them again",
        )
    suspects.check_limits(run)
