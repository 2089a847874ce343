"""How far independent programs agreed with the native limits, when last asked on a machine.

`benchmarks/referees.py` writes it beside the machine's runs; a run keeps it, with its digest, as it
was when measured.
"""

from pathlib import Path

from msgspec import Struct

from ipclab.store.files import read_json
from ipclab.store.record import Record
from ipclab.store.run import RunFolder

FILE = "referees.json"
KEPT = f"raw/{FILE}"
SCHEMA = 1
MOST_BYTES = 4 << 20
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
    schema: int

    def __post_init__(self) -> None:
        """Raise `ValueError` for another schema."""
        if self.schema != SCHEMA:
            raise ValueError(f"its schema is {self.schema}, this ipclab knows {SCHEMA}")

    @property
    def differ(self) -> int:
        """Return how many were asked and do not agree."""
        return sum(not answer.agrees and not answer.skipped for answer in self.found)

    @property
    def skipped(self) -> int:
        """Return how many were not asked."""
        return sum(bool(answer.skipped) for answer in self.found)


def keep_referees(run: Record) -> None:
    """Keep in `run` what the referees last said on its machine, where they were asked."""
    beside = run.path.parent / FILE
    if beside.is_file():
        referees_told(beside)
        run.keep(FILE, beside.read_bytes())


def referees_kept(run: RunFolder) -> Referees | None:
    """Return what the referees said when `run` was measured, None where none was asked.

    Raises `LabError` for a file that was altered or that is none.
    """
    files = run.checked(KEPT)
    return referees_told(files[KEPT]) if KEPT in files else None


def referees_told(path: Path) -> Referees:
    """Return what the file `path` says that referees found; raises `LabError` when it is none."""
    return read_json(path, MOST_BYTES, Referees, FIX)
