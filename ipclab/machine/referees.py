"""How far independent programs agreed with the native limits, when last asked on a machine.

`benchmarks/referees.py` writes it beside the machine's runs; a run keeps it, with its digest, as it
was when measured.
"""

from pathlib import Path
from typing import Protocol, TypeVar

import msgspec
from msgspec import Struct

from ipclab.errors import LabError
from ipclab.store.record import Record
from ipclab.store.run import RunFolder

Versioned = TypeVar("Versioned", bound="_Versioned")

FILE = "referees.json"
KEPT = f"raw/{FILE}"
SCHEMA = 1
FIX = "ask again: python benchmarks/referees.py"


class Found(Struct, frozen=True):
    """One comparison: the limit's time over the referee's, and its tolerance, or why skipped."""

    name: str
    program: str
    placement: str
    bound: float
    ratio: float | None = None
    skipped: str = ""

    @property
    def agrees(self) -> bool:
        """Tell whether the two agree; one that was skipped does not."""
        return self.ratio is not None and abs(self.ratio - 1) <= self.bound


class Referees(Struct, frozen=True):
    """All comparisons of one time."""

    made: str
    found: list[Found]
    schema: int = SCHEMA

    @property
    def differ(self) -> int:
        """Return how many were asked and do not agree."""
        return sum(not answer.agrees and not answer.skipped for answer in self.found)

    @property
    def skipped(self) -> int:
        """Return how many were not asked."""
        return sum(bool(answer.skipped) for answer in self.found)


def file(runs: Path, machine: str) -> Path:
    """Return where the last agreement on `machine` (a digest) lies."""
    return runs / machine / FILE


def keep_referees(run: Record) -> None:
    """Keep in `run` what the referees last said on its machine, where they were asked."""
    beside = run.path.parent / FILE
    if beside.is_file():
        read_versioned(beside, Referees, SCHEMA, FIX)
        run.keep(FILE, beside.read_bytes())


def referees_kept(run: RunFolder) -> Referees | None:
    """Return what the referees said when `run` was measured, None where none was asked.

    Raises `LabError` for a file that was altered or that is none.
    """
    files = run.checked(KEPT)
    return read_versioned(files[KEPT], Referees, SCHEMA, FIX) if KEPT in files else None


class _Versioned(Protocol):
    @property
    def schema(self) -> int: ...


def read_versioned(path: Path, kind: type[Versioned], schema: int, fix: str) -> Versioned:
    """Return the JSON file `path` of a `kind` with a `schema` of its own.

    Raises `LabError` when it is not one.
    """
    try:
        content = msgspec.json.decode(path.read_bytes(), type=kind)
        if content.schema != schema:
            raise ValueError(f"its schema is {content.schema}, this ipclab knows {schema}")
    except (OSError, ValueError, RecursionError) as error:
        raise LabError(f"{path} cannot be read", str(error), fix) from error
    return content
