"""How far independent programs agreed with the native limits, when they were last asked on a machine.

`benchmarks/referees.py` writes it beside the machine's runs; a run keeps it, with its digest, as it was when measured.
"""

from pathlib import Path

import msgspec
from msgspec import Struct

from ipclab.errors import LabError
from ipclab.store.run import RunFolder

FILE = "referees.json"
KEPT = f"raw/{FILE}"
SCHEMA = 1


class Found(Struct, frozen=True):
    """One comparison: the limit's time over the referee's, and how far from 1 it may be; or why it was skipped."""

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
    def agree(self) -> bool:
        """Tell whether every referee was asked and agrees: none skipped, none out of its bound."""
        return bool(self.found) and all(each.agrees for each in self.found)

    @property
    def differ(self) -> int:
        """Return how many were asked and do not agree."""
        return sum(not each.agrees and not each.skipped for each in self.found)

    @property
    def skipped(self) -> int:
        """Return how many were not asked."""
        return sum(bool(each.skipped) for each in self.found)


def file(runs: Path, machine: str) -> Path:
    """Return where the last agreement on `machine` (a digest) lies."""
    return runs / machine / FILE


def keep(run: RunFolder) -> None:
    """Keep in `run` what the referees last said on its machine, where they were asked."""
    beside = run.path.parent / FILE
    if beside.is_file():
        content = beside.read_bytes()
        _parsed(content, beside)
        run.keep(FILE, content)


def kept(run: RunFolder) -> Referees | None:
    """Return what the referees said when `run` was measured, None where none was asked.

    Raises `LabError` for a file that was altered or that is none.
    """
    found = run.checked(KEPT)
    return _parsed(found[KEPT].read_bytes(), found[KEPT]) if KEPT in found else None


def _parsed(content: bytes, path: Path) -> Referees:
    try:
        found = msgspec.json.decode(content, type=Referees)
        if found.schema != SCHEMA:
            raise ValueError(f"its schema is {found.schema}, this ipclab knows {SCHEMA}")
    except (ValueError, RecursionError) as error:
        raise LabError(f"{path} cannot be read", str(error), "ask again: python benchmarks/referees.py") from error
    return found
